#include "server/server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/base/machine.h"
#include "engine/base/status.h"
#include "server/logging.h"

namespace dragoman {
namespace {

constexpr const char* kHealthServices[] = {"", "dragoman.v1.TranslationService",
                                           "dragoman.v1.ModelService"};
// Serves as long as gRPC answers: a server that drains is not to be killed for it.
constexpr char kLivenessService[] = "liveness";

// gRPC answers calls that come in while it shuts down with CANCELLED, which clients do not try
// again. Until they have heard of the end, those who ask at once for the next translation are
// refused by the gate, with UNAVAILABLE.
constexpr absl::Duration kLastRefusals = absl::Milliseconds(200);

// The pool and the metrics must agree on the number of workers.
ServerOptions WithWorkers(ServerOptions options) {
  options.pool = WithDefaults(options.pool);
  return options;
}

// What gRPC wants to be told once in a process, before the first server.
void InitGrpc() {
  static const bool done = [] {
    LogLibraries();
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    return true;
  }();
  static_cast<void>(done);
}

// gRPC's own reflection service knows nothing of tokens: a server that wants them goes without.
class NoReflection : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    std::erase_if(*plugins, [](const auto& p) { return p->name() == "proto_server_reflection"; });
  }
};

int Milliseconds(absl::Duration duration) {
  return static_cast<int>(
      std::min<int64_t>(absl::ToInt64Milliseconds(duration), std::numeric_limits<int>::max()));
}

// How many calls a connection may have open: they cost 11 KiB each, even if the message never comes
// and before anybody is asked for a token, and more than the engine takes are of no use.
int MaxCallsPerConnection(const WorkerPoolOptions& pool) {
  constexpr int64_t kAtLeast = 1024;
  const int64_t taken =
      pool.max_waiting_requests + int64_t{pool.workers} * std::max(pool.max_batch_rows, 256);
  return static_cast<int>(
      std::min<int64_t>(std::max(kAtLeast, taken), std::numeric_limits<int>::max()));
}

// gRPC compares a message's size with the limit when it has unpacked it, and a MiB of gzip may hold
// a GiB.  Compressed messages are refused as UNIMPLEMENTED, unread; the size of a text needs none.
void RefuseCompressed(grpc::ServerBuilder* builder) {
  builder->SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder->SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder->AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
}

void SetConnections(const ConnectionOptions& options, grpc::ServerBuilder* builder) {
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, Milliseconds(options.keepalive_time));
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                              Milliseconds(options.keepalive_timeout));
  // Clients that have no call and send nothing are asked as well, again and again; and who connects
  // has as long to say hello.
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                              Milliseconds(options.keepalive_timeout));
  // Clients may ping, too, but not without end.
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, Milliseconds(options.max_age));
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                              Milliseconds(options.max_age_grace));
}

}  // namespace

Server::Server(const ServerOptions& options)
    : options_(WithWorkers(options)),
      metrics_(options_.pool.workers),
      pool_(options_.pool, &metrics_),
      translate_service_(&parts_),
      model_service_(&parts_) {
  metrics_.Watch(&pool_);
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  auto server = std::unique_ptr<Server>(new Server(options));
  RETURN_IF_ERROR(server->ReadSecrets());
  server->WarnOfPlainText();
  RETURN_IF_ERROR(server->StartHttp());
  RETURN_IF_ERROR(server->LoadModels());
  RETURN_IF_ERROR(server->StartGrpc());
  server->SetServing(true);
  return server;
}

Server::~Server() { Drain(); }

absl::Status Server::ReadSecrets() {
  if (options_.tls.enabled()) {
    const auto on_read = [this](const absl::StatusOr<Validity>& validity) {
      metrics_.OnReload(Reloaded::kCertificates, validity.status());
      if (validity.ok()) metrics_.OnCertificates(validity->not_before, validity->not_after);
    };
    ASSIGN_OR_RETURN(certificates_, Certificates::Open(options_.tls, on_read));
  }
  const WatchOptions watch = {.on_read = [this](const absl::Status& status) {
    metrics_.OnReload(Reloaded::kTokens, status);
  }};
  ASSIGN_OR_RETURN(principals_, Principals::Create(options_.auth, watch));
  return absl::OkStatus();
}

void Server::WarnOfPlainText() const {
  if (options_.auth.tokens.empty() || options_.tls.enabled()) return;
  Log(LogLevel::kWarning, "tokens without TLS: whoever is on the way can read and use them");
}

absl::Status Server::StartHttp() {
  HttpPages pages = {.metrics = [this] { return metrics_.Text(); },
                     .ready = [this] { return serving_.load(); }};
  ASSIGN_OR_RETURN(http_, HttpEndpoints::Start(options_.http_address, std::move(pages)));
  return absl::OkStatus();
}

absl::Status Server::LoadModels() {
  ASSIGN_OR_RETURN(models_, ModelRegistry::Load(options_, &pool_, &metrics_));
  parts_ = {.models = models_.get(),
            .pool = &pool_,
            .gate = &gate_,
            .principals = principals_.get(),
            .metrics = &metrics_};
  return absl::OkStatus();
}

absl::Status Server::StartGrpc() {
  InitGrpc();
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(
      options_.grpc_address,
      certificates_ == nullptr ? grpc::InsecureServerCredentials() : certificates_->credentials(),
      &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a port in use is an error
  builder.SetMaxReceiveMessageSize(options_.max_message_bytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, MaxCallsPerConnection(options_.pool));
  RefuseCompressed(&builder);
  SetConnections(options_.connections, &builder);
  if (!options_.auth.tokens.empty()) builder.SetOption(std::make_unique<NoReflection>());
  builder.RegisterService(&translate_service_);
  builder.RegisterService(&model_service_);
  grpc_ = builder.BuildAndStart();
  if (grpc_ == nullptr) {
    return absl::UnavailableError("cannot listen on " + options_.grpc_address +
                                  " for gRPC: the port is in use or the address is not ours");
  }
  grpc_address_ =
      options_.grpc_address.substr(0, options_.grpc_address.rfind(':') + 1) + std::to_string(port);
  return absl::OkStatus();
}

void Server::SetServing(bool serving) {
  for (const char* service : kHealthServices) {
    grpc_->GetHealthCheckService()->SetServingStatus(service, serving);
  }
  grpc_->GetHealthCheckService()->SetServingStatus(kLivenessService, true);
  serving_ = serving;
}

void Server::Drain() {
  if (grpc_ == nullptr) return;
  if (serving_) {
    Log(LogLevel::kInfo, "draining",
        {{"timeout_seconds", absl::ToDoubleSeconds(options_.drain_timeout)}});
    SetServing(false);
  }
  gate_.Shut();
  if (!gate_.AwaitEmpty(options_.drain_timeout)) {
    Log(LogLevel::kWarning, "drain timeout passed: cancelling the calls in flight");
  }
  absl::SleepFor(kLastRefusals);
  // Cancels what is left (health watches, and translations over the timeout) and waits for its end.
  grpc_->Shutdown(std::chrono::system_clock::now());
  pool_.Drain();
  grpc_ = nullptr;
  Log(LogLevel::kInfo, "drained");
}

std::shared_ptr<grpc::Channel> Server::InProcessChannel() {
  return grpc_->InProcessChannel(grpc::ChannelArguments());
}

}  // namespace dragoman
