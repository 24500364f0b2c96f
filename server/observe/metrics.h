// All metrics of the server for Prometheus: its own, with the prefix `dragoman_`, and the usual
// process_*.  Only the files of metrics here use prometheus-cpp: metrics, metric_series (what is
// counted), metric_families (what is read from others when Prometheus asks) and metric_samples
// (what is kept for an hour).
//
// Labels come from the configuration and never from a request.  Series exist, at zero, before the
// first request, but those of a model or a principal start with its first call; the number of both
// is limited.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_OBSERVE_METRICS_H_
#define DRAGOMAN_SERVER_OBSERVE_METRICS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/decode/observer.h"
#include "engine/decode/worker_pool.h"
#include "engine/request/translator.h"
#include "server/base/load_failure.h"
#include "server/base/shared_budget.h"
#include "server/observe/history.h"
#include "server/observe/listener_stats.h"
#include "server/observe/load_meter.h"
#include "server/observe/tracer.h"
#include "store/database.h"

namespace dragoman {

// A call that ended.
struct CallRecord {
  std::string_view method;  // "Translate"
  std::string_view model;   // the name of a served model; "" if none was found for the call
  absl::Status status;
  absl::Duration duration;
  bool draining = false;  // whether the server was
  bool over_grpc = false;
  std::optional<std::string_view> principal;  // who called, if known
};

// Who is asked at every scrape, as soon as they are there.
struct MetricSources {
  std::function<ListenerStats()> grpc, http;          // the connections of the ports
  std::function<std::vector<BudgetStats>()> budgets;  // memory, and places for documents
  std::function<TracerStats()> traces;                // the spans that were sent and dropped
  std::function<DatabaseStats()> store;
};

// What is read again when its files change.
enum class Reloaded { kCertificates, kTokens };

class Metrics : public Observer {
 public:
  // `workers` is the number of workers in the pool; so many principals have a series of their own.
  explicit Metrics(int workers, int named_principals = 100);
  ~Metrics() override;

  void AddModel(const Model& model, absl::Duration load);

  // Sets how many rows of a model make a turn.
  void SetBatchRows(const std::string& model, int rows);

  // Reads the gauges of the queue and the KV memory from `pool` at every scrape, unless it is null.
  void Watch(const WorkerPool* pool);
  // Calls `add`, which adds sources.
  void Watch(absl::FunctionRef<void(MetricSources* sources)> add);

  // Creates the series of a path that the HTTP port serves for an API; "" and "" for all others.
  void AddHttpPath(const std::string& api, const std::string& path);
  // The HTTP port answered on a path.  REQUIRES: AddHttpPath was called.
  void OnHttpAnswer(const std::string& api, const std::string& path, int code);

  // Files were read, initially or again, or could not be read.
  void OnReload(Reloaded what, const absl::Status& status);
  // The configuration was read again, or could not be used.
  void OnConfigRead(const absl::Status& status);
  // A version of a model is being served.
  void OnModelLoaded(const std::string& model, const std::string& version);
  // A version could not be loaded; the one before it, if any, stays.
  void OnModelFailed(const std::string& model, LoadFailure failure);
  // A version has finished its last sentence.
  void OnModelLeft(const std::string& model, const std::string& version);
  // A version that could not be loaded is no longer wanted.
  void OnModelSettled(const std::string& model);
  // A version was taken out of memory to make room for another model.
  void OnModelEvicted(const std::string& model);
  // A request waited so long for a model that was not in memory.
  void OnColdWait(absl::Duration took);
  // What all models take of the memory for them.
  void SetMemoryLimit(double bytes);
  void SetModelMemory(double bytes, double limit);
  // The whole model is no longer wanted.
  void OnModelRemoved(const std::string& model);
  // The certificates of the gRPC port are valid from `not_before` to `not_after`.
  void OnCertificates(absl::Time not_before, absl::Time not_after);

  // Every call is started once and ended once.  A call over gRPC says its method.
  void OnCallStarted(std::string_view grpc_method = "");
  void OnCallEnded(const CallRecord& record);
  // What the messages of a call over gRPC were in bytes, once it has ended.
  void OnRpcMessages(std::string_view method, absl::StatusCode code, size_t received, size_t sent);

  // A translation memory had something for a sentence.
  void OnMemoryMatch(MemoryMatch::Kind kind);
  // A text had terms of glossaries.
  void OnTerms(int said, int unmet);
  // A Translate was OK; `characters` is the number of code points of its source.
  void OnTranslated(const Model& model, int characters, const TranslateTimes& times);

  // The first text of a TranslateStream was found, this long after its arrival.
  void OnFirstText(const Model& model, absl::Duration took);

  // A request of a bulk call has ended.  Counted as a call of method "TranslateBulkItem".
  void OnBulkItemEnded(const CallRecord& record);

  // The Observer's methods, called by the workers.
  void OnEncode(const Model& model, int sentences, int tokens, absl::Duration took) override;
  void OnDecodeStep(const Model& model, int sentences, int rows, absl::Duration took) override;
  void OnBusy(int worker, absl::Duration took, absl::Duration interactive) override;
  void OnJobDone(const Job& job, const JobResult& result) override;

  // The Prometheus text format, version 0.0.4.
  std::string Text() const;
  // What the load is computed from, without the CPU time.
  LoadTotals Totals() const;
  // What is kept of it for an hour.
  MetricSamples Samples() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_OBSERVE_METRICS_H_
