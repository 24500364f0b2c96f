// The gRPC side of the server: the port, what its connections may do, the services and their
// health.
//
//   ASSIGN_OR_RETURN(auto port, GrpcPort::Open("0.0.0.0:50051"));  // taken, nobody is served yet
//   port->Serve(options, {&translate_service, ...});
//   port->SetServing(true);
//   port->Stop();
//
// Connections are accepted by a Listener of ours and given to gRPC.

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
#include "server/config/config.h"
#include "server/net/listener.h"

namespace dragoman {

struct GrpcOptions {
  std::shared_ptr<grpc::ServerCredentials> credentials;
  ConnectionOptions connections;
  ConnectionRange descriptors;       // of the connections
  int max_message_bytes = 1 << 20;   // larger ones, but not much larger, reach the services, too
  int max_calls_per_connection = 0;  // at a time
  bool reflection = true;
};

// Thread-safe, but for Serve and Stop.
class GrpcPort {
 public:
  // Takes the port; whoever connects is hung up on until Serve.  An error names the address and
  // says why it cannot be had.
  static absl::StatusOr<std::unique_ptr<GrpcPort>> Open(const std::string& address);
  // Stops.
  ~GrpcPort();

  // HOST:PORT, with the port that was picked if it was 0.
  const std::string& address() const { return listener_->address(); }

  // Answers with these services, gRPC's health service ("liveness" serves, the others do not yet)
  // and, if asked for, reflection.  All must outlive the port.  REQUIRES: called once.
  absl::Status Serve(const GrpcOptions& options, const std::vector<grpc::Service*>& services);
  bool serves() const { return serves_; }

  // What the health service says of the server and its services, and of "liveness".
  void SetServing(bool serving);
  void SetAlive(bool alive);

  // Whether a new client would be served now: knocks at the port and asks the health service. Takes
  // no longer than `timeout` for each.
  absl::Status Probe(absl::Duration timeout);

  // Accepts nobody any more, cancels the calls that are left and waits for their end.  Idempotent.
  void Stop();

  ListenerStats Stats() const { return listener_->Stats(); }

  // A channel to this server that needs no socket.  REQUIRES: it serves.
  std::shared_ptr<grpc::Channel> InProcessChannel();

 private:
  explicit GrpcPort(std::unique_ptr<Listener> listener) : listener_(std::move(listener)) {}

  const std::unique_ptr<Listener> listener_;
  std::atomic<bool> serves_ = false;
  int most_connections_ = 0;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::health::v1::Health::Stub> health_;  // over a channel in process
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_GRPC_PORT_H_
