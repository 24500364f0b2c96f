// The server as a whole: the engine, the models, gRPC and HTTP.
//
//   ASSIGN_OR_RETURN(std::unique_ptr<Server> server, Server::Start(options));
//   ... serves on gRPC's and the HTTP port's threads ...
//   server->Drain();

#ifndef DRAGOMAN_SERVER_SERVER_H_
#define DRAGOMAN_SERVER_SERVER_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/work_threads.h"
#include "engine/decode/worker_pool.h"
#include "server/api/admin.h"
#include "server/api/answer_budget.h"
#include "server/api/call.h"
#include "server/api/document_desk.h"
#include "server/api/document_store.h"
#include "server/api/gate.h"
#include "server/auth/file_watcher.h"
#include "server/auth/principals.h"
#include "server/auth/tls.h"
#include "server/base/free_heap.h"
#include "server/base/shared_budget.h"
#include "server/config/config.h"
#include "server/glossaries/glossary_store.h"
#include "server/grpc/grpc_port.h"
#include "server/grpc/load_service.h"
#include "server/grpc/method_service.h"
#include "server/http/pages.h"
#include "server/http/port.h"
#include "server/memories/memory_store.h"
#include "server/models/model_manager.h"
#include "server/models/model_registry.h"
#include "server/net/inherited_sockets.h"
#include "server/observe/history.h"
#include "server/observe/load_meter.h"
#include "server/observe/metrics.h"
#include "server/observe/tracer.h"
#include "server/observe/vitals.h"
#include "server/store/index_cache.h"
#include "store/database.h"

namespace dragoman {

// The connections of each port.
struct ConnectionPlan {
  ConnectionRange grpc, http, metrics, admin;
};

class Server {
 public:
  // First reads certificates and tokens and takes its ports: HTTP answers, with 503 on /readyz,
  // and gRPC connections are closed.  Then loads the models.  Then gRPC serves, the health service
  // reports SERVING (for "liveness" until the end), and /readyz answers 200.  After an error
  // nothing is left running.
  //
  // `read_again` reads the options again when models are reloaded; null: they stay as they are.
  // `on_drain` is called, and must not block, when an operator asks for the end of the process.
  // `sockets` take the places of addresses; HTTP that is inherited answers once the models are
  // loaded.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                                       ReadOptions read_again = nullptr,
                                                       std::function<void()> on_drain = nullptr,
                                                       InheritedSockets sockets = {});

  // Calls Drain.
  ~Server();

  // HOST:PORT, with the port that was chosen if it was 0.
  const std::string& grpc_address() const { return grpc_->address(); }
  const std::string& http_address() const { return http_->address(); }
  // "" without --metrics-address.
  std::string metrics_address() const {
    return metrics_port_ == nullptr ? "" : metrics_port_->address();
  }

  // "" without --admin-address.
  std::string admin_address() const { return admin_ == nullptr ? "" : admin_->address(); }

  // Reads the configuration, models, certificates and tokens again, on other threads.
  void Reload();

  // Reports NOT_SERVING, and 503 on /readyz; keeps serving for the drain delay; then refuses new
  // translations with UNAVAILABLE, waits for those in flight up to the drain timeout, cancels the
  // rest, and ends all calls.  Idempotent.
  void Drain();

  // The translated files that wait to be fetched; for tests.
  DocumentStore& stored_documents() { return *stored_documents_; }
  // Where files are translated, and who looks after those that wait; for tests.
  DocumentDesk& documents() { return documents_; }
  Ticker& ticker() { return ticker_; }

  // A channel to this server that needs no socket; the request fuzzer uses it.
  std::shared_ptr<grpc::Channel> InProcessChannel() { return grpc_->InProcessChannel(); }

 private:
  Server(const ServerOptions& options, InheritedSockets sockets);
  absl::Status ReadSecrets();
  std::vector<BudgetStats> Budgets() const;
  absl::Status StartTracer();
  absl::Status OpenStore();
  template <typename Store>
  absl::Status OpenFiles(const char* what, const std::string& directory, Store* store);
  void LookAtStore(absl::Time now);
  void WarnOfOpenPorts() const;
  absl::Status OpenPorts();
  void ServeHttp();
  absl::Status OpenMetricsPort();
  HttpPages Pages();
  LoadSample Load() const;
  // Creates the series of all routes; the callbacks count their answers.
  HttpCallbacks CountedAnswers(const HttpRouter& router);
  absl::Status LoadModels(ReadOptions read_again);
  // What the ports for gRPC have in common; one that is `plain` needs no certificate.
  GrpcOptions OptionsOfPort(bool plain, const ConnectionRange& descriptors);
  absl::Status StartGrpc();
  absl::Status StartAdmin(std::function<void()> on_drain);
  void SetServing(bool serving);
  std::string PageSettings() const;
  absl::Status Ready() const;
  std::string Faults() const;

  const ServerOptions options_;
  const v1::ServerConfig& config_ = options_.config;
  InheritedSockets inherited_;
  // Ordered by dependency; they are destroyed in reverse.
  Gate gate_;
  Ticker ticker_;
  AnswerBudget answers_;
  SharedBudget requests_;
  FreeHeap free_heap_;
  std::unique_ptr<Tracer> tracer_;  // null: nothing is traced
  Metrics metrics_;
  History history_;
  LoadMeter load_;
  IndexCache indices_;
  WorkerPool pool_;
  ModelRegistry models_;
  std::unique_ptr<Principals> principals_;
  std::unique_ptr<Certificates> certificates_;  // null: plain text
  std::unique_ptr<Database> database_;
  KeptBytes kept_bytes_;
  std::unique_ptr<GlossaryStore> glossaries_;
  std::unique_ptr<MemoryStore> memories_;
  FileWatcher watcher_;  // of the files of those above
  ServerParts parts_;
  DocumentDesk documents_;
  std::unique_ptr<DocumentStore> stored_documents_;
  std::atomic<bool> looking_at_store_ = false;
  WorkThreads store_threads_;
  LoadService load_service_;
  std::vector<std::unique_ptr<MethodService>> services_;
  ConnectionPlan plan_;
  std::unique_ptr<GrpcPort> grpc_;
  std::atomic<bool> loaded_ = false;  // whether parts_ is complete
  std::atomic<bool> serving_ = false;
  bool drained_ = false;
  std::unique_ptr<Vitals> vitals_;
  std::unique_ptr<HttpPort> http_;
  std::unique_ptr<HttpPort> metrics_port_;  // null: /metrics is on the HTTP port
  std::unique_ptr<ModelManager> model_manager_;
  AdminActions admin_actions_;
  MethodService admin_service_;
  std::unique_ptr<GrpcPort> admin_;  // null: nobody administers
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_SERVER_H_
