// The gRPC side of the server: the port, the limits of its connections, the services and their
// health.
//
//   ASSIGN_OR_RETURN(auto port, GrpcPort::Open("0.0.0.0:50051"));  // taken, but not serving yet
//   port->Serve(options, {&translate_service, ...});
//   port->SetServing(true);
//   port->Stop();
//
// Our own Listener accepts connections and passes them to gRPC.

#ifndef DRAGOMAN_SERVER_GRPC_GRPC_PORT_H_
#define DRAGOMAN_SERVER_GRPC_GRPC_PORT_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "server/base/shared_budget.h"
#include "server/config/config.h"
#include "server/grpc/health_service.h"
#include "server/grpc/reflection_service.h"
#include "server/net/listener.h"

namespace dragoman {

struct GrpcOptions {
  std::shared_ptr<grpc::ServerCredentials> credentials;
  ConnectionOptions connections;
  ConnectionRange descriptors;       // of the connections
  int max_message_bytes = 1 << 20;   // slightly larger ones reach the services, too
  int max_calls_per_connection = 0;  // at a time
  SharedBudget* requests = nullptr;  // of which messages that arrive take room
  size_t memory = 0;                 // of gRPC, for what arrives; 0: any
  bool reflection = true;            // of versions v1 and v1alpha
  bool channelz = false;
};

// A service and its full name, "dragoman.v1.TranslationService".
struct NamedService {
  grpc::Service* service = nullptr;
  const char* name = "";
};

// Thread-safe, except for Serve and Stop.
class GrpcPort {
 public:
  // Takes the port; connections are closed until Serve.  An error names the address and says why it
  // is not available.  Inherited sockets, if there are any, take the place of the address; those
  // who connect to them wait until Serve.
  static absl::StatusOr<std::unique_ptr<GrpcPort>> Open(const std::string& address,
                                                        const std::vector<int>& inherited = {});
  // Calls Stop.
  ~GrpcPort();

  // HOST:PORT, with the port that was chosen if it was 0.
  const std::string& address() const { return listener_->address(); }

  // Serves these services, the health service ("liveness" is serving, the others are not yet) and,
  // if enabled, reflection and channelz.  All must outlive the port.  REQUIRES: called once.
  absl::Status Serve(const GrpcOptions& options, const std::vector<NamedService>& services);
  bool serves() const { return serves_; }

  // Sets the health of the server and its services, and of "liveness".
  void SetServing(bool serving);
  void SetAlive(bool alive);

  // Whether a new client would be served now: connects to the port and asks the health service.
  // Takes no longer than `timeout` for each.
  absl::Status Probe(absl::Duration timeout);

  // Accepts no more connections, cancels the remaining calls and waits for their end.  Idempotent.
  void Stop();

  ListenerStats Stats() const { return listener_->Stats(); }

  // A channel to this server that needs no socket.  REQUIRES: it serves.
  std::shared_ptr<grpc::Channel> InProcessChannel();

 private:
  explicit GrpcPort(std::unique_ptr<Listener> listener) : listener_(std::move(listener)) {}

  const std::unique_ptr<Listener> listener_;
  std::atomic<bool> serves_ = false;
  int most_connections_ = 0;
  std::vector<NamedService> services_;  // set by Serve
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<HealthService> health_;
  std::unique_ptr<ReflectionService> reflection_;  // null: there is none
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::health::v1::Health::Stub> probe_;  // over an in-process channel
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_GRPC_PORT_H_
