// grpc.reflection.v1, and v1alpha, whose messages are the same: tells clients without the protos,
// such as grpcurl, what the services and their messages are.  gRPC's own plugin has a thread for
// each stream, and takes messages of any size.
//
//   list_services            "dragoman.v1.TranslationService", ...
//   file_containing_symbol   the file that defines it, and all that this one imports

#ifndef DRAGOMAN_SERVER_GRPC_REFLECTION_SERVICE_H_
#define DRAGOMAN_SERVER_GRPC_REFLECTION_SERVICE_H_

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>

#include <string>
#include <utility>
#include <vector>

#include "grpc/reflection/v1/reflection.grpc.pb.h"
#include "server/grpc/first_message.h"

namespace dragoman {

// Thread-safe.
class ReflectionService final : public grpc::Service {
 public:
  using Request = grpc::reflection::v1::ServerReflectionRequest;
  using Response = grpc::reflection::v1::ServerReflectionResponse;

  // The names of all services that the server has.
  ReflectionService(std::vector<std::string> services, RoomForAnybody room);

  // The answer to one message of a stream.  What does not exist is an error_response in it.
  Response Answer(const Request& request) const;

 private:
  const std::vector<std::string> services_;
  const RoomForAnybody room_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_REFLECTION_SERVICE_H_
