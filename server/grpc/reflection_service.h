// grpc.reflection.v1: tells clients without the protos, such as grpcurl, what the services and
// their messages are.  gRPC's own plugin answers the predecessor, v1alpha, which newer clients no
// longer ask for.
//
//   list_services            "dragoman.v1.TranslationService", ...
//   file_containing_symbol   the file that defines it, and all that this one imports

#ifndef DRAGOMAN_SERVER_GRPC_REFLECTION_SERVICE_H_
#define DRAGOMAN_SERVER_GRPC_REFLECTION_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include <string>
#include <utility>
#include <vector>

#include "grpc/reflection/v1/reflection.grpc.pb.h"

namespace dragoman {

// Thread-safe.
class ReflectionService final
    : public grpc::reflection::v1::ServerReflection::WithCallbackMethod_ServerReflectionInfo<
          grpc::reflection::v1::ServerReflection::Service> {
 public:
  using Request = grpc::reflection::v1::ServerReflectionRequest;
  using Response = grpc::reflection::v1::ServerReflectionResponse;

  // The names of all services that the server has.
  explicit ReflectionService(std::vector<std::string> services) : services_(std::move(services)) {}

  grpc::ServerBidiReactor<Request, Response>* ServerReflectionInfo(
      grpc::CallbackServerContext* context) override;

  // The answer to one message of a stream.  What does not exist is an error_response in it.
  Response Answer(const Request& request) const;

 private:
  const std::vector<std::string> services_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_REFLECTION_SERVICE_H_
