// stub
#pragma once
namespace dragoman {
class Decoder {};
}  // namespace dragoman
