#include "server/grpc/grpc_port.h"

#include <grpcpp/ext/channelz_service_plugin.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "engine/base/status.h"
#include "server/auth/caller.h"
#include "server/grpc/call_guard.h"
#include "server/observe/logging.h"

namespace dragoman {
namespace {

// Serves for as long as the process works: a draining server must not be killed for draining.
constexpr char kLivenessService[] = "liveness";

// Initialization that gRPC needs once per process, before the first server.
void InitGrpc() {
  static const bool done = [] {
    LogLibraries();
    grpc::channelz::experimental::InitChannelzService();
    return true;
  }();
  static_cast<void>(done);
}

// Leaves out services of gRPC's own that every server would have.  They know nothing about tokens.
class Without : public grpc::ServerBuilderOption {
 public:
  explicit Without(std::string plugin) : plugin_(std::move(plugin)) {}
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    std::erase_if(*plugins, [this](const auto& p) { return p->name() == plugin_; });
  }

 private:
  const std::string plugin_;
};

int Milliseconds(absl::Duration duration) {
  return static_cast<int>(
      std::min<int64_t>(absl::ToInt64Milliseconds(duration), std::numeric_limits<int>::max()));
}

// When gRPC itself refuses a message for being too large or compressed, there is no log line, no
// count and no request id.  So it lets pass messages that exceed our limit by up to 15 MiB, and
// compressed ones as they are: nothing is unpacked, because a MiB of gzip may expand to a GiB. The
// services refuse both.
void LetServicesRefuse(int max_message_bytes, grpc::ServerBuilder* builder) {
  constexpr int64_t kMore = 15 << 20;
  builder->SetMaxReceiveMessageSize(static_cast<int>(
      std::min<int64_t>(max_message_bytes + kMore, std::numeric_limits<int>::max())));
  builder->AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
}

// A stream whose message nobody reads has HTTP/2's window of 64 KiB.  When it is not told
// otherwise, gRPC lets each have 4 MiB, or as much as it takes its round trips for.
void LimitWindows(grpc::ServerBuilder* builder) {
  builder->AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
}

// What is read at a time is worked off before anybody can intervene (call_guard.h).
void LimitReads(grpc::ServerBuilder* builder) {
  builder->AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, 16 << 10);
}

// Likewise: gRPC reads all that a connection has sent, and then what others have.  The kernel
// doubles it for its own needs, so that a window of HTTP/2 has room.
void LimitUnread(int connection) {
  constexpr int kUnread = 64 << 10;
  setsockopt(connection, SOL_SOCKET, SO_RCVBUF, &kUnread, sizeof(kUnread));
}

void SetConnections(const ConnectionOptions& options, grpc::ServerBuilder* builder) {
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, Milliseconds(options.keepalive_time));
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                              Milliseconds(options.keepalive_timeout));
  // Connections without calls are pinged too, repeatedly; and a new connection has the same time to
  // complete its handshake.
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                              Milliseconds(options.keepalive_timeout));
  // Clients may ping, too, but not without limit.
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, Milliseconds(options.max_age));
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                              Milliseconds(options.max_age_grace));
}

// The names of these services and of those of gRPC's protos.
std::vector<std::string> NamesOf(const std::vector<NamedService>& services, bool channelz) {
  std::vector<std::string> names = {
      grpc::health::v1::Health::service_full_name(),
      grpc::reflection::v1::ServerReflection::service_full_name(),
      "grpc.reflection.v1alpha.ServerReflection",
  };
  if (channelz) names.push_back("grpc.channelz.v1.Channelz");
  for (const NamedService& named : services) names.push_back(named.name);
  absl::c_sort(names);
  return names;
}

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcPort>> GrpcPort::Open(const std::string& address,
                                                         const std::vector<int>& inherited) {
  ASSIGN_OR_RETURN(std::unique_ptr<Listener> listener,
                   Listener::OpenFor("gRPC", address, inherited));
  return std::unique_ptr<GrpcPort>(new GrpcPort(std::move(listener)));
}

GrpcPort::~GrpcPort() { Stop(); }

absl::Status GrpcPort::Serve(const GrpcOptions& options,
                             const std::vector<NamedService>& services) {
  InitGrpc();
  services_ = services;
  most_connections_ = options.descriptors.most;
  grpc::ServerBuilder builder;
  using Kind = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  acceptor_ =
      builder.experimental().AddExternalConnectionAcceptor(Kind::FROM_FD, options.credentials);
  LetServicesRefuse(options.max_message_bytes, &builder);
  LimitWindows(&builder);
  LimitReads(&builder);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, options.max_calls_per_connection);
  SetConnections(options.connections, &builder);
  if (options.memory > 0) {
    builder.SetResourceQuota(grpc::ResourceQuota("messages").Resize(options.memory));
  }
  if (!options.channelz) builder.SetOption(std::make_unique<Without>("channelz_service"));
  for (const NamedService& named : services) builder.RegisterService(named.service);
  const RoomForAnybody room = [budget = options.requests,
                               bytes = options.max_message_bytes](const std::string& peer) {
    return budget->Take(HolderOf("", peer), bytes);
  };
  health_ = std::make_unique<HealthService>(room);
  builder.RegisterService(health_.get());
  if (options.reflection) {
    reflection_ = std::make_unique<ReflectionService>(NamesOf(services, options.channelz), room);
    builder.RegisterService(reflection_.get());
  }
  auto guard = std::make_unique<CallGuard>(listener_.get(), options.max_calls_per_connection,
                                           options.memory);
  CallGuard* const started = guard.get();
  builder.SetContextAllocator(std::move(guard));
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) return absl::InternalError("gRPC failed to start");
  started->Start();
  probe_ = grpc::health::v1::Health::NewStub(InProcessChannel());
  SetServing(false);
  SetAlive(true);
  listener_->Serve(options.descriptors, [this](int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = fd;
    LimitUnread(fd);
    acceptor_->HandleNewConnection(&connection);
  });
  serves_ = true;
  return absl::OkStatus();
}

void GrpcPort::SetServing(bool serving) {
  health_->Set("", serving);
  for (const NamedService& service : services_) health_->Set(service.name, serving);
}

void GrpcPort::SetAlive(bool alive) { health_->Set(kLivenessService, alive); }

absl::Status GrpcPort::Probe(absl::Duration timeout) {
  if (const absl::Status status = listener_->Probe(timeout); !status.ok()) return status;
  if (Stats().open >= most_connections_) {
    return absl::ResourceExhaustedError("the limit of connections is reached");
  }
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(timeout));
  grpc::health::v1::HealthCheckRequest request;
  grpc::health::v1::HealthCheckResponse response;
  const grpc::Status answer = probe_->Check(&context, request, &response);
  if (!answer.ok()) {
    return UnavailableError("the health service does not answer: ", answer.error_message());
  }
  return absl::OkStatus();
}

void GrpcPort::Stop() {
  listener_->Stop();
  if (!serves_.exchange(false)) return;
  probe_ = nullptr;
  server_->Shutdown(std::chrono::system_clock::now());
  server_ = nullptr;
}

std::shared_ptr<grpc::Channel> GrpcPort::InProcessChannel() {
  return server_->InProcessChannel(grpc::ChannelArguments());
}

}  // namespace dragoman
