// What a message takes when it is parsed, told from its bytes: an entry of two bytes becomes an
// object.

#ifndef DRAGOMAN_SERVER_GRPC_MESSAGE_MEMORY_H_
#define DRAGOMAN_SERVER_GRPC_MESSAGE_MEMORY_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>

#include <cstddef>

namespace dragoman {

// At least the bytes of memory that parsing a message of this type takes, until its end or until
// something in it cannot be parsed.  Takes about 10 ns for each field; nothing is built.
size_t MemoryOfParsed(const google::protobuf::Descriptor& type,
                      google::protobuf::io::CodedInputStream* message);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_MESSAGE_MEMORY_H_
