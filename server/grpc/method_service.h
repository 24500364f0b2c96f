// A service of the protos on gRPC's callback API, so that no thread waits for a translation.  Its
// methods are those of a table (server/api/methods.h), served from raw bytes (raw_message.h).
//
//   RPC thread     UnaryExchange::Start: admit -> parse -> find the model ->
//                  Translator::Translate, which returns at once
//   worker thread  the translation is done -> answer
//
// Methods that stream are in stream_calls.h.

#ifndef DRAGOMAN_SERVER_GRPC_METHOD_SERVICE_H_
#define DRAGOMAN_SERVER_GRPC_METHOD_SERVICE_H_

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>

#include <string>
#include <vector>

#include "server/api/methods.h"

namespace dragoman {

// Thread-safe.
class MethodService final : public grpc::Service {
 public:
  // `parts` and the table must outlive the service, which has this full name,
  // "dragoman.v1.ModelService".  `of_owner`: only the owner of the process reaches it.
  MethodService(const ServerParts* parts, std::string name,
                const std::vector<Method>& methods = Methods(), bool of_owner = false);

  const std::string& name() const { return name_; }

 private:
  void Add(const Method& method, const std::string& path);

  const ServerParts* const parts_;
  const std::string name_;
  const bool of_owner_;
  std::vector<std::string> paths_;  // of the methods
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_METHOD_SERVICE_H_
