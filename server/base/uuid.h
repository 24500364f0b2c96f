#ifndef DRAGOMAN_SERVER_BASE_UUID_H_
#define DRAGOMAN_SERVER_BASE_UUID_H_

#include <string>

namespace dragoman {

// A UUID of version 4.
std::string NewUuid();

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_BASE_UUID_H_
