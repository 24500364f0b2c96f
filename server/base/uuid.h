#ifndef DRAGOMAN_SERVER_BASE_UUID_H_
#define DRAGOMAN_SERVER_BASE_UUID_H_

#include <string>

namespace dragoman {

// 128 bits that nobody guesses, in hexadecimal.
std::string NewSecret();

// A UUID of version 4.
std::string NewUuid();

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_BASE_UUID_H_
