// The server, put together: the engine, the models, gRPC and HTTP.
//
//   ASSIGN_OR_RETURN(std::unique_ptr<Server> server, Server::Start(options));
//   ... serves on gRPC's and the HTTP port's threads ...
//   server->Drain();

#ifndef DRAGOMAN_SERVER_SERVER_H_
#define DRAGOMAN_SERVER_SERVER_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/decode/worker_pool.h"
#include "server/api/call.h"
#include "server/api/gate.h"
#include "server/auth/principals.h"
#include "server/auth/tls.h"
#include "server/config/config.h"
#include "server/grpc/grpc_port.h"
#include "server/grpc/model_service.h"
#include "server/grpc/translate_service.h"
#include "server/http/port.h"
#include "server/models/model_manager.h"
#include "server/models/model_registry.h"
#include "server/observe/metrics.h"
#include "server/observe/vitals.h"

namespace dragoman {

class Server {
 public:
  // Certificates and tokens are read first of all.  Both ports are taken: HTTP answers, with
  // /readyz 503, and gRPC's clients are hung up on; then the models load; then gRPC serves, the
  // health service says SERVING (for "liveness" until the end) and /readyz 200.  On an error
  // nothing is left running.
  //
  // `read_again` reads the options anew when models are reloaded; null: they stay as they are.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                                       ReadOptions read_again = nullptr);

  // Drains.
  ~Server();

  // HOST:PORT, with the port that was picked if it was 0.
  const std::string& grpc_address() const { return grpc_->address(); }
  const std::string& http_address() const { return http_->address(); }

  // Reads the configuration, models, certificates and tokens again, on other threads.
  void Reload();

  // Says NOT_SERVING and /readyz 503, serves on for the drain delay, then refuses new translations
  // as UNAVAILABLE, waits for those in flight up to the drain timeout, cancels the rest, and ends
  // all calls.  Idempotent.
  void Drain();

  // A channel to this server that needs no socket.
  std::shared_ptr<grpc::Channel> InProcessChannel() { return grpc_->InProcessChannel(); }

 private:
  explicit Server(const ServerOptions& options);
  absl::Status ReadSecrets();
  void WarnOfPlainText() const;
  absl::Status OpenPorts();
  void ServeHttp(const ConnectionRange& descriptors);
  absl::Status LoadModels(ReadOptions read_again);
  absl::Status StartGrpc();
  void SetServing(bool serving);
  absl::Status Ready() const;

  const ServerOptions options_;
  // In the order of who needs whom; they end in the reverse.
  Gate gate_;
  Metrics metrics_;
  WorkerPool pool_;
  ModelRegistry models_;
  std::unique_ptr<Principals> principals_;
  std::unique_ptr<Certificates> certificates_;  // null: plain text
  ServerParts parts_;
  TranslateService translate_service_;
  ModelService model_service_;
  ConnectionRange connections_;
  std::unique_ptr<GrpcPort> grpc_;
  std::atomic<bool> loaded_ = false;  // parts_ is complete
  std::atomic<bool> serving_ = false;
  bool drained_ = false;
  std::unique_ptr<Vitals> vitals_;
  std::unique_ptr<HttpPort> http_;
  std::unique_ptr<ModelManager> model_manager_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_SERVER_H_
