// stub
#pragma once
namespace dragoman {
class Encoder {};
}  // namespace dragoman
