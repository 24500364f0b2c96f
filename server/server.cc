#include "server/server.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "engine/base/machine.h"
#include "engine/base/status.h"
#include "server/base/methods.h"
#include "server/compat/compat.h"
#include "server/compat/rpc.h"
#include "server/http/api.h"
#include "server/http/document_api.h"
#include "server/http/openapi.h"
#include "server/http/pages.h"
#include "server/http/site.h"
#include "server/http/stream_api.h"
#include "server/net/process_limits.h"
#include "server/observe/logging.h"
#include "server/observe/process_stats.h"
#include "server/send_traces.h"

namespace dragoman {
namespace {

constexpr int kStoreThreads = Database::kConnections;
constexpr absl::Duration kStorePatience = absl::Seconds(30);

// The API of the pages for probes and Prometheus, in the metrics.
constexpr char kProbes[] = "probes";

// For the server's own test of whether it accepts clients.
constexpr absl::Duration kProbeTimeout = absl::Seconds(2);

// gRPC answers calls that arrive while it shuts down with CANCELLED, which clients do not retry.
// So the gate keeps refusing calls with UNAVAILABLE after the last one has ended, until no client
// is connected, or for this long: by then clients have noticed that the server is going away.
constexpr absl::Duration kLastRefusals = absl::Milliseconds(200);

void AwaitLeave(const GrpcPort& port) {
  const absl::Time end = absl::Now() + kLastRefusals;
  while (port.Stats().open > 0 && absl::Now() < end) absl::SleepFor(absl::Milliseconds(2));
}

// The pool and the metrics must agree on the number of workers.
ServerOptions WithWorkers(ServerOptions options) {
  options.pool = WithDefaults(options.pool);
  // Two, so that nobody has all of them; more for more workers, which each wait for 50 times as
  // long.
  options.pool.preparing_threads = std::max(2, options.pool.workers / 16);
  return options;
}

// The options with the addresses of inherited sockets in the place of others, which are checked
// like those that somebody has set.
absl::StatusOr<ServerOptions> WithAddresses(const InheritedSockets& sockets,
                                            ServerOptions options) {
  if (sockets.empty()) return options;
  v1::ServerConfig given = options.given;
  for (const auto& [port, descriptors] : sockets) {
    const auto* const field = given.GetDescriptor()->FindFieldByName(port + "_address");
    const std::string address = Listener::AddressOf(descriptors.front());
    for (v1::ServerConfig* const config : {&given, &options.config}) {
      config->GetReflection()->SetString(config, field, address);
    }
    Log(LogLevel::kInfo, "inherited sockets", {{"port", port}, {"address", address}});
  }
  RETURN_IF_ERROR(Resolve(given).status());
  return options;
}

// How many calls a connection may have open.  Each costs 11 KiB, even before its message arrives
// and a token is checked, and more than the engine accepts are useless.
int MaxCallsPerConnection(const WorkerPoolOptions& pool) {
  constexpr int64_t kAtLeast = 1024;
  const int64_t taken =
      pool.max_waiting_requests + int64_t{pool.workers} * std::max(pool.max_batch_rows, 256);
  return static_cast<int>(
      std::min<int64_t>(std::max(kAtLeast, taken), std::numeric_limits<int>::max()));
}

// Plans the connections of all ports: as many as configured, or by default 10,000 (gRPC) and 1,024
// (HTTP), if there are enough descriptors; and a few of the ports for metrics and operators, if
// there are such.
absl::StatusOr<ConnectionPlan> PlanConnections(const v1::ServerConfig& config) {
  constexpr int kDefaultGrpc = 10'000, kDefaultHttp = 1024, kMetrics = 32, kAdmin = 16;
  const int grpc_wanted = config.max_connections(), http_wanted = config.max_http_connections();
  ASSIGN_OR_RETURN(DescriptorPlan plan, PlanDescriptors());
  if (!config.metrics_address().empty()) plan.connections -= kMetrics;
  if (!config.admin_address().empty()) plan.connections -= kAdmin;
  const int http = http_wanted > 0 ? http_wanted : std::min(kDefaultHttp, plan.connections / 4);
  const int room = plan.connections - http;
  const int grpc = grpc_wanted > 0 ? grpc_wanted : std::min(kDefaultGrpc, room);
  const auto too_many = [](const char* flag, int wanted, int most) {
    return InvalidArgumentError(flag, " is ", wanted,
                                ", but the limit of open files (ulimit -n) leaves room for ", most);
  };
  if (room < 1) return too_many("max-http-connections", http, plan.connections - 1);
  if (grpc > room) return too_many("max-connections", grpc, room);
  return ConnectionPlan{.grpc = {.first = plan.reserve, .most = grpc},
                        .http = {.first = plan.reserve + grpc, .most = http},
                        .metrics = {.first = plan.reserve + grpc + http, .most = kMetrics},
                        .admin = {.first = plan.reserve + grpc + http + kMetrics, .most = kAdmin}};
}

// Whether the server that is about to open its gRPC port can also serve: it has memory for all the
// keys and values that it may keep, mapped in large pieces by each worker, and for what the workers
// and the requests need besides; and gRPC can start its threads, now (two for each core, at most 32
// cores) and under load.  It must be so before: if gRPC lacks a thread, its end waits for it.
absl::Status CheckRoomForRequests(const WorkerPoolOptions& pool) {
  constexpr size_t kPerWorker = size_t{32} << 20, kForRequests = size_t{32} << 20;
  constexpr int kThreads = 16;
  return CheckHeadroom(pool.kv_capacity_bytes + pool.workers * kPerWorker + kForRequests,
                       kThreads + 2 * std::min(AvailableCores(), 32));
}

// Whether only this machine can reach an address, HOST:PORT.
bool IsLoopback(absl::string_view address) {
  const absl::string_view host = address.substr(0, address.rfind(':'));
  return host == "localhost" || host == "[::1]" || absl::StartsWith(host, "127.");
}

// Whether an address is that of a socket in the file system.
bool HasPath(absl::string_view address) { return absl::StartsWith(address, "unix:"); }

int HttpThreads(int wanted) { return wanted > 0 ? wanted : std::clamp(AvailableCores(), 1, 4); }

}  // namespace

Server::Server(const ServerOptions& options, InheritedSockets sockets)
    : options_(WithWorkers(options)),
      inherited_(std::move(sockets)),
      answers_(options_.answers),
      requests_("requests", options_.requests_memory),
      metrics_(options_.pool.workers, config_.metrics_principals()),
      load_(options_.pool.workers, AvailableCores()),
      indices_(options_.index_bytes),
      pool_(options_.pool, &metrics_),
      models_(options_.limits),
      documents_(options_.documents),
      store_threads_(kStoreThreads, "for the store"),
      load_service_(&parts_),
      admin_service_(&parts_, "dragoman.v1.AdminService", Methods(),
                     HasPath(config_.admin_address())) {
  for (const std::string& name : ApiServices()) {
    services_.push_back(std::make_unique<MethodService>(&parts_, name));
  }
  for (const std::string& name : CompatServices(options_.compat)) {
    services_.push_back(std::make_unique<MethodService>(&parts_, name, CompatMethods()));
  }
  metrics_.SetMemoryLimit(static_cast<double>(options_.memory));
  metrics_.Watch(&pool_);
  metrics_.Watch([this](MetricSources* to) { to->budgets = [this] { return Budgets(); }; });
}

std::vector<BudgetStats> Server::Budgets() const {
  std::vector<BudgetStats> budgets = {requests_.Stats(), answers_.Stats(), indices_.Stats(),
                                      kept_bytes_.Stats(options_.store_bytes)};
  for (const BudgetStats& budget : documents_.Stats()) budgets.push_back(budget);
  return budgets;
}

absl::Status Server::StartTracer() {
  if (config_.otlp_endpoint().empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(Tracer::Post post, PostTraces(config_.otlp_endpoint(), config_.otlp_headers()));
  tracer_ = std::make_unique<Tracer>(options_.traces, std::move(post));
  metrics_.Watch([this](MetricSources* to) { to->traces = [this] { return tracer_->Stats(); }; });
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                                      ReadOptions read_again,
                                                      std::function<void()> on_drain,
                                                      InheritedSockets sockets) {
  ASSIGN_OR_RETURN(ServerOptions with_sockets, WithAddresses(sockets, options));
  auto server = std::unique_ptr<Server>(new Server(with_sockets, std::move(sockets)));
  RETURN_IF_ERROR(server->ReadSecrets());
  RETURN_IF_ERROR(server->StartTracer());
  server->WarnOfOpenPorts();
  RETURN_IF_ERROR(server->OpenPorts());
  // Who connected before the start is not told that the models are loading.
  const bool http_waits = !server->inherited_["http"].empty();
  if (!http_waits) server->ServeHttp();
  RETURN_IF_ERROR(server->LoadModels(std::move(read_again)));
  RETURN_IF_ERROR(CheckRoomForRequests(server->options_.pool));
  RETURN_IF_ERROR(server->StartGrpc());
  if (http_waits) server->ServeHttp();
  RETURN_IF_ERROR(server->StartAdmin(std::move(on_drain)));
  server->SetServing(true);
  server->vitals_->Look();
  return server;
}

Server::~Server() {
  Drain();
  // Their pages report the outcome of all calls until the end.
  if (http_ != nullptr) http_->Stop();
  if (metrics_port_ != nullptr) metrics_port_->Stop();
}

absl::Status Server::ReadSecrets() {
  if (options_.tls.enabled()) {
    const auto on_read = [this](const absl::StatusOr<Validity>& validity) {
      metrics_.OnReload(Reloaded::kCertificates, validity.status());
      if (validity.ok()) metrics_.OnCertificates(validity->not_before, validity->not_after);
    };
    ASSIGN_OR_RETURN(certificates_, Certificates::Open(options_.tls, &watcher_, on_read));
  }
  const auto on_tokens = [this](const absl::Status& status) {
    metrics_.OnReload(Reloaded::kTokens, status);
  };
  ASSIGN_OR_RETURN(principals_, Principals::Create(options_.auth, &watcher_, on_tokens));
  RETURN_IF_ERROR(OpenStore());
  watcher_.Start();
  return absl::OkStatus();
}

absl::Status Server::OpenStore() {
  ASSIGN_OR_RETURN(database_, Database::Open(config_.store()));
  if (const absl::Status fault = database_->fault(); !fault.ok()) {
    Log(LogLevel::kWarning, "the store cannot be reached: what needs it is refused until it can",
        {{"store", database_->name()}, {"error", std::string(fault.message())}});
  }
  const StoreParts parts = {.database = database_.get(),
                            .limits = {.owner_bytes = options_.store_bytes / 4,
                                       .bytes = options_.store_bytes,
                                       .kept = &kept_bytes_},
                            .indices = &indices_};
  glossaries_ = std::make_unique<GlossaryStore>(parts);
  memories_ = std::make_unique<MemoryStore>(parts);
  stored_documents_ = std::make_unique<DocumentStore>(
      &parts_, database_.get(), DocumentStoreLimits{.bytes = options_.waiting_documents});
  metrics_.Watch([this](MetricSources* to) { to->store = [this] { return database_->Stats(); }; });
  RETURN_IF_ERROR(OpenFiles("glossaries", config_.glossary_files(), glossaries_.get()));
  return OpenFiles("translation memories", config_.memory_files(), memories_.get());
}

template <typename Store>
absl::Status Server::OpenFiles(const char* what, const std::string& directory, Store* store) {
  if (directory.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(auto files, Store::OpenFiles(directory));
  store->SetFiles(std::move(files));
  return watcher_.Add({.what = what,
                       .paths = {directory},
                       .read = [store] { return store->files()->Look(); },
                       .may_fail = true});
}

void Server::WarnOfOpenPorts() const {
  if (options_.tls.enabled()) return;
  if (!options_.auth.tokens.empty()) {
    Log(LogLevel::kWarning,
        "tokens without TLS: anybody on the network path can read and use them");
  } else if (!IsLoopback(config_.grpc_address()) || !IsLoopback(config_.http_address())) {
    Log(LogLevel::kWarning,
        "neither TLS nor tokens: anybody on the network can use this server, and read texts on "
        "their way to it",
        {{"grpc", config_.grpc_address()}, {"http", config_.http_address()}});
  }
}

absl::Status Server::OpenPorts() {
  ASSIGN_OR_RETURN(plan_, PlanConnections(config_));
  ASSIGN_OR_RETURN(grpc_, GrpcPort::Open(config_.grpc_address(), inherited_["grpc"]));
  vitals_ = std::make_unique<Vitals>(VitalsOptions{
      .tidy =
          [this] {
            free_heap_.GiveBack();
            const absl::Time now = absl::Now();
            LookAtStore(now);
            if (history_.Due(now)) history_.Add(now, metrics_.Samples());
            load_.Look(now, Load());
          },
      .silence = [this] { return pool_.Call(absl::Now()); },
      .port = [this] { return serving_ ? grpc_->Probe(kProbeTimeout) : absl::OkStatus(); },
      .on_alive =
          [this](bool alive) {
            if (grpc_->serves()) grpc_->SetAlive(alive);
          }});
  ASSIGN_OR_RETURN(http_, HttpPort::Open(config_.http_address(), inherited_["http"]));
  RETURN_IF_ERROR(OpenMetricsPort());
  if (!config_.admin_address().empty()) {
    ASSIGN_OR_RETURN(admin_, GrpcPort::Open(config_.admin_address(), inherited_["admin"]));
  }
  metrics_.Watch([this](MetricSources* to) {
    to->grpc = [this] { return grpc_->Stats(); };
    to->http = [this] { return http_->Stats(); };
  });
  return absl::OkStatus();
}

HttpPages Server::Pages() {
  return {.metrics = [this] { return metrics_.Text(); },
          .history = [this] { return history_.Json(absl::Now()); },
          .alive = [this] { return vitals_->alive(); },
          .ready = [this] { return Ready(); },
          .faults = [this] { return Faults(); }};
}

LoadSample Server::Load() const {
  const ProcessStats stats = ReadProcessStats();
  LoadSample sample = {.totals = metrics_.Totals(),
                       .memory = stats.resident_bytes / static_cast<double>(options_.memory),
                       .oldest_wait = pool_.StatsOf(Priority::kInteractive).oldest_wait};
  sample.totals.cpu_seconds = stats.cpu_seconds;
  return sample;
}

HttpCallbacks Server::CountedAnswers(const HttpRouter& router) {
  for (const HttpRoute& route : router.routes()) metrics_.AddHttpPath(route.api, route.path);
  return {.on_answer = [this](const HttpRoute* route, int code) {
    const HttpRoute none;
    const HttpRoute& counted = route == nullptr ? none : *route;
    metrics_.OnHttpAnswer(counted.api, counted.path, code);
  }};
}

// Without certificates: most scrapers and probes have none.
absl::Status Server::OpenMetricsPort() {
  if (config_.metrics_address().empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(metrics_port_, HttpPort::Open(config_.metrics_address(), inherited_["metrics"]));
  HttpRouter router;
  router.BeginApi(kProbes);
  AddPages(Pages(), &router);
  HttpCallbacks callbacks = CountedAnswers(router);
  metrics_port_->Serve({.threads = 1, .descriptors = plan_.metrics}, std::move(router),
                       std::move(callbacks));
  return absl::OkStatus();
}

void Server::ServeHttp() {
  HttpRouter router;
  router.BeginApi(kProbes);
  HttpPages pages = Pages();
  if (!config_.metrics_address().empty()) pages.metrics = nullptr;
  AddPages(std::move(pages), &router);
  const ApiContext context = {
      .parts = &parts_,
      .loaded =
          [this] {
            return loaded_ ? absl::OkStatus() : absl::UnavailableError("the models are loading");
          },
      .max_document_bytes = options_.documents.max_bytes};
  router.BeginApi("dragoman");
  AddApi(context, &router);
  AddStreamApi(context, &router);
  AddDocumentApi(context, &router);
  AddOpenApi(&router);
  router.BeginApi("page");
  AddSite([this] { return PageSettings(); }, &router);
  AddCompat(options_.compat, context, &router);
  router.AllowOrigins({config_.cors_origins().begin(), config_.cors_origins().end()});
  HttpCallbacks callbacks = CountedAnswers(router);
  metrics_.AddHttpPath("", "");
  if (certificates_ != nullptr) {
    router.WantTls();
    callbacks.certificates = [this] { return certificates_->served(); };
  }
  http_->Serve({.threads = HttpThreads(config_.http_threads()),
                .descriptors = plan_.http,
                .max_body_bytes = static_cast<size_t>(options_.max_message_bytes),
                .bodies = &requests_,
                .header_timeout = ToDuration(config_.http_header_timeout()),
                .body_timeout = ToDuration(config_.http_body_timeout()),
                .write_timeout = ToDuration(config_.http_write_timeout()),
                .idle_timeout = ToDuration(config_.http_idle_timeout()),
                .max_age = options_.connections.max_age},
               std::move(router), std::move(callbacks));
}

std::string Server::PageSettings() const {
  std::vector<std::string> suffixes;
  for (const DocumentFormat& format : DocumentFormats()) {
    suffixes.insert(suffixes.end(), format.suffixes.begin(), format.suffixes.end());
  }
  const std::string& address = grpc_address();  // "127.0.0.1:50051", "[::]:50051"
  return absl::StrCat("{\"maxCharacters\": ", models_.limits().max_characters, ", \"pivot\": \"",
                      models_.Models()->pivot(),
                      "\", \"version\": \"" DRAGOMAN_VERSION "\", \"grpcPort\": \"",
                      address.substr(address.rfind(':') + 1), "\", \"suffixes\": [\"",
                      absl::StrJoin(suffixes, "\", \""), "\"]}");
}

absl::Status Server::Ready() const {
  if (serving_) return vitals_->well();
  return absl::UnavailableError(grpc_->serves() ? "the server is draining"
                                                : "the models are loading");
}

// What cannot be used of what is kept.
std::string Server::Faults() const {
  std::vector<std::string> faults;
  const auto add = [&](const char* what, const absl::Status& fault) {
    if (!fault.ok()) faults.push_back(absl::StrCat(what, fault.message()));
  };
  add("", database_->fault());  // says so itself
  if (glossaries_->files() != nullptr) add("glossaries: ", glossaries_->files()->fault());
  if (memories_->files() != nullptr) add("translation memories: ", memories_->files()->fault());
  return absl::StrJoin(faults, "\n");
}

absl::Status Server::LoadModels(ReadOptions read_again) {
  ASSIGN_OR_RETURN(model_manager_, ModelManager::Start(options_, std::move(read_again), &pool_,
                                                       &metrics_, &models_));
  parts_ = {.models = &models_,
            .ready = [this] { return Ready(); },
            .pool = &pool_,
            .gate = &gate_,
            .principals = principals_.get(),
            .answers = &answers_,
            .requests = &requests_,
            .tracer = tracer_.get(),
            .load = &load_,
            .ticker = &ticker_,
            .documents = &documents_,
            .stored_documents = stored_documents_.get(),
            .store_threads = &store_threads_,
            .glossaries = glossaries_.get(),
            .memories = memories_.get(),
            .admin = &admin_actions_,
            .metrics = &metrics_,
            .config = &config_,
            .max_message_bytes = options_.max_message_bytes};
  loaded_ = true;
  return absl::OkStatus();
}

// Also asks a store that could not be reached whether it can be again.
void Server::LookAtStore(absl::Time now) {
  if (!loaded_ || looking_at_store_.exchange(true)) return;
  const absl::Status asked = store_threads_.Run("", [this, now] {
    stored_documents_->Look(now);
    kept_bytes_.Look(now + kStorePatience, database_.get()).IgnoreError();
    looking_at_store_ = false;
  });
  if (!asked.ok()) looking_at_store_ = false;
}

GrpcOptions Server::OptionsOfPort(bool plain, const ConnectionRange& descriptors) {
  return {.credentials = plain || certificates_ == nullptr ? grpc::InsecureServerCredentials()
                                                           : certificates_->credentials(),
          .connections = options_.connections,
          .descriptors = descriptors,
          .max_message_bytes = options_.max_message_bytes,
          .requests = &requests_,
          .reflection = options_.auth.tokens.empty() || config_.debug_services(),
          .channelz = config_.debug_services()};
}

absl::Status Server::StartGrpc() {
  constexpr size_t kPerConnection = 16 << 10;  // what an idle one takes, and more
  GrpcOptions grpc = OptionsOfPort(/*plain=*/false, plan_.grpc);
  grpc.max_calls_per_connection = MaxCallsPerConnection(options_.pool);
  grpc.memory = options_.requests_memory + static_cast<size_t>(plan_.grpc.most) * kPerConnection;
  grpc.channelz = grpc.channelz && admin_ == nullptr;
  std::vector<NamedService> services = {
      {&load_service_, xds::service::orca::v3::OpenRcaService::service_full_name()}};
  for (const auto& service : services_) {
    services.push_back({service.get(), service->name().c_str()});
  }
  return grpc_->Serve(grpc, services);
}

// The owner of a socket in the file system needs no certificate and sends no bytes over a network.
absl::Status Server::StartAdmin(std::function<void()> on_drain) {
  if (admin_ == nullptr) return absl::OkStatus();
  admin_actions_ = {.turn = [this](const std::string& model,
                                   ModelTurn turn) { model_manager_->Turn(model, turn); },
                    .drain =
                        [on_drain = std::move(on_drain)] {
                          if (on_drain != nullptr) on_drain();
                        }};
  GrpcOptions grpc = OptionsOfPort(HasPath(config_.admin_address()), plan_.admin);
  grpc.max_calls_per_connection = 16;
  return admin_->Serve(grpc, {{&admin_service_, admin_service_.name().c_str()}});
}

void Server::SetServing(bool serving) {
  grpc_->SetServing(serving);
  serving_ = serving;
}

void Server::Reload() {
  Log(LogLevel::kInfo, "reading the configuration, models, certificates and tokens again");
  model_manager_->ReadAgain();
  watcher_.ReadAgain();
}

void Server::Drain() {
  if (grpc_ == nullptr || !grpc_->serves() || std::exchange(drained_, true)) return;
  if (model_manager_ != nullptr) model_manager_->Close();
  const absl::Duration delay = ToDuration(config_.drain_delay());
  const absl::Duration timeout = ToDuration(config_.drain_timeout());
  if (serving_) {
    Log(LogLevel::kInfo, "draining",
        {{"delay_seconds", absl::ToDoubleSeconds(delay)},
         {"timeout_seconds", absl::ToDoubleSeconds(timeout)}});
    SetServing(false);
    http_->Drain();
    absl::SleepFor(delay);
  }
  gate_.Shut();
  const int cut = gate_.AwaitEmpty(timeout);
  if (cut > 0) {
    Log(LogLevel::kWarning, "drain timeout passed: cancelling the calls in flight",
        {{"calls", cut}});
  }
  AwaitLeave(*grpc_);
  vitals_->Stop();
  // Cancels what is left (health watches, and translations over the timeout) and waits for its end.
  http_->Cancel();
  grpc_->Stop();
  stored_documents_->Close();
  documents_.AwaitIdle();
  pool_.Drain();
  if (admin_ != nullptr) admin_->Stop();
  if (tracer_ != nullptr) tracer_->Stop();
  Log(LogLevel::kInfo, cut > 0 ? "ended" : "drained", {{"cancelled_calls", cut}});
}

}  // namespace dragoman
