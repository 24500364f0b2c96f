// The compiled descriptors of the API (a google.protobuf.FileDescriptorSet) with the comments of
// the proto files, which the descriptors in the C++ classes lack.  Made by embed.cmake.

#ifndef DRAGOMAN_SERVER_HTTP_API_DESCRIPTORS_H_
#define DRAGOMAN_SERVER_HTTP_API_DESCRIPTORS_H_

#include <cstddef>

namespace dragoman {

extern const unsigned char kApiDescriptors[];
extern const size_t kApiDescriptorsSize;

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_API_DESCRIPTORS_H_
