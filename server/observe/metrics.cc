#include "server/observe/metrics.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <atomic>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/machine.h"
#include "engine/base/status.h"
#include "server/base/errors.h"
#include "server/observe/logging.h"
#include "server/observe/metric_series.h"
#include "server/observe/process_stats.h"

namespace dragoman {
namespace {

const char* InvalidReason(const absl::Status& status) {
  const std::string field = FieldOf(status);
  if (status.code() == absl::StatusCode::kNotFound || field == "model") return "model";
  if (absl::StartsWith(field, "contents")) return "contents";
  if (absl::StartsWith(field, "options")) return "options";
  if (absl::EndsWith(field, "_language")) return "language";
  return "other";
}

const char* ExhaustedReason(const absl::Status& status) {
  if (IsPrincipalLimit(status)) return "principal_limit";
  if (IsMessageTooLarge(status)) return "message_size";
  return RetryAfterOf(status).has_value() ? "quota" : "queue_full";
}

const char* NameOf(Reloaded what) {
  return what == Reloaded::kCertificates ? "certificates" : "tokens";
}

prometheus::MetricFamily GaugeNow(const char* name, const char* help, double value,
                                  prometheus::MetricType type = prometheus::MetricType::Gauge) {
  prometheus::ClientMetric metric;
  metric.gauge.value = value;
  metric.counter.value = value;
  return {name, help, type, {std::move(metric)}};
}

// A gauge with a value for each priority of requests.
prometheus::MetricFamily GaugeOfQueues(const char* name, const char* help,
                                       const WorkerPoolStats& stats,
                                       absl::FunctionRef<double(const QueueStats&)> value) {
  prometheus::MetricFamily family = {name, help, prometheus::MetricType::Gauge, {}};
  for (const auto& [priority, label] :
       {std::pair(Priority::kInteractive, "interactive"), std::pair(Priority::kBatch, "batch")}) {
    prometheus::ClientMetric& metric = family.metric.emplace_back();
    metric.label = {{"priority", label}};
    metric.gauge.value = value(stats.queues[priority]);
  }
  return family;
}

// The gauge NAME of a port's connections, and the counters NAME_accepted_total and
// NAME_refused_total.  All are zero while `ask` is null.
void AddConnections(const std::string& name, const std::string& port,
                    const std::function<ListenerStats()>& ask,
                    std::vector<prometheus::MetricFamily>* families) {
  const ListenerStats stats = ask == nullptr ? ListenerStats() : ask();
  families->push_back(GaugeNow((name + "_limit").c_str(),
                               "Connections that may be open; more are closed at once.",
                               stats.limit));
  families->push_back(
      GaugeNow(name.c_str(), ("Connections of the " + port + " port.").c_str(), stats.open));
  families->push_back(GaugeNow((name + "_accepted_total").c_str(),
                               ("Connections of the " + port + " port that were served.").c_str(),
                               static_cast<double>(stats.accepted),
                               prometheus::MetricType::Counter));
  prometheus::MetricFamily refused = GaugeNow(
      (name + "_refused_total").c_str(),
      "Connections closed at once, because the limit was reached or there was no descriptor.",
      static_cast<double>(stats.over_limit), prometheus::MetricType::Counter);
  refused.metric.front().label = {{"reason", "limit"}};
  refused.metric.push_back(refused.metric.front());
  refused.metric.back().label = {{"reason", "descriptors"}};
  refused.metric.back().counter.value = static_cast<double>(stats.no_descriptors);
  families->push_back(std::move(refused));
}

// The class of a status code, such as "4xx".
std::string ClassOf(int http_code) { return std::to_string(http_code / 100) + "xx"; }

}  // namespace

struct Metrics::Impl {
  explicit Impl(int workers) : series(workers) {}

  void CountEnd(const CallRecord& record);
  void Book(const CallRecord& record);
  std::vector<prometheus::MetricFamily> CollectPool() const;
  std::vector<prometheus::MetricFamily> CollectCache() const;
  std::vector<prometheus::MetricFamily> CollectProcess() const;
  std::vector<prometheus::MetricFamily> CollectConnections() const;

  MetricSeries series;
  std::atomic<const WorkerPool*> pool = nullptr;
  mutable absl::Mutex mutex;
  std::function<ListenerStats()> grpc_connections ABSL_GUARDED_BY(mutex);
  std::function<ListenerStats()> http_connections ABSL_GUARDED_BY(mutex);
};

void Metrics::Impl::CountEnd(const CallRecord& record) {
  switch (record.status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
      series.invalid.Add({{"reason", InvalidReason(record.status)}}).Increment();
      break;
    case absl::StatusCode::kResourceExhausted:
      series.rejected.Add({{"reason", ExhaustedReason(record.status)}}).Increment();
      break;
    case absl::StatusCode::kUnavailable:
      series.rejected.Add({{"reason", "draining"}}).Increment();
      break;
    case absl::StatusCode::kUnauthenticated:
      series.rejected.Add({{"reason", "unauthenticated"}}).Increment();
      break;
    case absl::StatusCode::kDeadlineExceeded:
      if (IsCannotBeMet(record.status)) {
        series.rejected.Add({{"reason", "cannot_be_met"}}).Increment();
      } else {
        series.cancelled.Add({{"cause", "deadline"}}).Increment();
      }
      break;
    case absl::StatusCode::kCancelled:
      series.cancelled.Add({{"cause", record.draining ? "drain" : "client"}}).Increment();
      break;
    default:
      break;
  }
}

void Metrics::Impl::Book(const CallRecord& record) {
  const CallSeries calls =
      series.CallsOf(std::string(record.method), std::string(record.model), record.status.code());
  calls.duration->Observe(absl::ToDoubleSeconds(record.duration));
  if (record.status.ok()) calls.ok_duration->Observe(absl::ToDoubleSeconds(record.duration));
  calls.by_code[static_cast<int>(record.status.code())]->Increment();
}

std::vector<prometheus::MetricFamily> Metrics::Impl::CollectPool() const {
  const WorkerPool* const watched = pool.load();
  const WorkerPoolStats stats = watched == nullptr ? WorkerPoolStats() : watched->Stats();
  return {
      GaugeOfQueues("dragoman_queue_requests", "Requests with a sentence that waits for a batch.",
                    stats, [](const QueueStats& queue) { return queue.requests; }),
      GaugeOfQueues("dragoman_queue_tokens",
                    "Source tokens of the sentences that wait for a batch.", stats,
                    [](const QueueStats& queue) { return queue.tokens; }),
      GaugeNow("dragoman_queue_requests_limit",
               "Requests of one priority that may wait; more are refused.",
               stats.max_waiting_requests),
      GaugeNow("dragoman_queue_tokens_limit",
               "Source tokens of one priority that may wait; more are refused.",
               stats.max_waiting_tokens),
      GaugeOfQueues(
          "dragoman_queue_oldest_age_seconds", "How long the oldest waiting request has waited.",
          stats, [](const QueueStats& queue) { return absl::ToDoubleSeconds(queue.oldest_wait); }),
      GaugeNow("dragoman_kv_cache_bytes", "KV memory reserved by the sentences in the batches.",
               static_cast<double>(stats.kv_reserved_bytes)),
      GaugeNow("dragoman_kv_cache_capacity_bytes", "KV memory that sentences may reserve.",
               static_cast<double>(stats.kv_capacity_bytes)),
      GaugeNow("dragoman_kv_cache_resident_bytes",
               "KV memory that is resident: taken from the system and not yet returned.",
               static_cast<double>(stats.kv_resident_bytes)),
  };
}

std::vector<prometheus::MetricFamily> Metrics::Impl::CollectCache() const {
  const WorkerPool* const watched = pool.load();
  const CacheStats stats = watched == nullptr ? CacheStats() : watched->Stats().cache;
  prometheus::MetricFamily lookups = GaugeNow(
      "dragoman_cache_lookups_total",
      "Sentences looked up in the cache: found (hit), being translated for another request "
      "(shared), or left to the workers (miss).",
      0, prometheus::MetricType::Counter);
  lookups.metric.clear();
  for (const auto& [result, count] :
       {std::pair("hit", stats.hits), {"shared", stats.shared}, {"miss", stats.misses}}) {
    prometheus::ClientMetric metric;
    metric.label = {{"result", result}};
    metric.counter.value = static_cast<double>(count);
    lookups.metric.push_back(std::move(metric));
  }
  return {lookups,
          GaugeNow("dragoman_cache_evictions_total",
                   "Translations evicted from the cache to make room for others.",
                   static_cast<double>(stats.evictions), prometheus::MetricType::Counter),
          GaugeNow("dragoman_cache_entries", "Translations in the cache.",
                   static_cast<double>(stats.entries)),
          GaugeNow("dragoman_cache_bytes", "Memory of the translations in the cache.",
                   static_cast<double>(stats.bytes)),
          GaugeNow("dragoman_cache_capacity_bytes", "Memory that the cache may take; 0: no cache.",
                   static_cast<double>(stats.capacity_bytes))};
}

std::vector<prometheus::MetricFamily> Metrics::Impl::CollectProcess() const {
  const ProcessStats stats = ReadProcessStats();
  return {
      GaugeNow("process_cpu_seconds_total", "User and system CPU time.", stats.cpu_seconds,
               prometheus::MetricType::Counter),
      GaugeNow("dragoman_cpu_throttled_seconds_total",
               "Time for which the CPU quota of the control group throttled the process.",
               CpuThrottledSeconds(), prometheus::MetricType::Counter),
      GaugeNow("process_resident_memory_bytes", "Resident memory.", stats.resident_bytes),
      GaugeNow("dragoman_memory_limit_bytes",
               "Memory that the process may use: of the machine, or of its control group.",
               static_cast<double>(AvailableMemory())),
      GaugeNow("dragoman_log_lines_dropped_total",
               "Log lines that were dropped because the reader of the log stalled or went away.",
               static_cast<double>(LogLinesDropped()), prometheus::MetricType::Counter),
      GaugeNow("process_virtual_memory_bytes", "Virtual memory.", stats.virtual_bytes),
      GaugeNow("process_open_fds", "Open file descriptors.", stats.open_fds),
      GaugeNow("process_max_fds", "File descriptors that may be open.", stats.max_fds),
      GaugeNow("process_threads", "Threads.", stats.threads),
      GaugeNow("process_start_time_seconds", "When the process started, since the Unix epoch.",
               stats.start_time_seconds),
  };
}

std::vector<prometheus::MetricFamily> Metrics::Impl::CollectConnections() const {
  std::vector<prometheus::MetricFamily> families;
  absl::MutexLock lock(&mutex);
  AddConnections("dragoman_connections", "gRPC", grpc_connections, &families);
  AddConnections("dragoman_http_connections", "HTTP", http_connections, &families);
  return families;
}

Metrics::Metrics(int workers) : impl_(std::make_unique<Impl>(workers)) {}

Metrics::~Metrics() = default;

void Metrics::AddModel(const Model& model, absl::Duration load) {
  impl_->series.AddModel(model, load);
}

void Metrics::SetBatchRows(const std::string& model, int rows) {
  impl_->series.batch_rows_limit.Add({{"model", model}}).Set(rows);
}

void Metrics::Watch(const WorkerPool* pool) { impl_->pool = pool; }

void Metrics::WatchGrpc(std::function<ListenerStats()> connections) {
  absl::MutexLock lock(&impl_->mutex);
  impl_->grpc_connections = std::move(connections);
}

void Metrics::WatchHttp(std::function<ListenerStats()> connections) {
  absl::MutexLock lock(&impl_->mutex);
  impl_->http_connections = std::move(connections);
}

void Metrics::AddHttpPath(const std::string& path) {
  for (const int code : {200, 400, 500}) {
    impl_->series.http_responses.Add({{"path", path}, {"code", ClassOf(code)}});
  }
}

void Metrics::OnHttpAnswer(const std::string& path, int code) {
  impl_->series.http_responses.Add({{"path", path}, {"code", ClassOf(code)}}).Increment();
}

void Metrics::OnReload(Reloaded what, const absl::Status& status) {
  const prometheus::Labels labels = {{"what", NameOf(what)}};
  if (status.ok()) {
    impl_->series.reload_times.Add(labels).SetToCurrentTime();
  } else {
    impl_->series.reload_failures.Add(labels).Increment();
  }
}

void Metrics::OnConfigRead(const absl::Status& status) {
  impl_->series.config_stale.Set(status.ok() ? 0 : 1);
}

void Metrics::OnModelLoaded(const std::string& model, const std::string& version) {
  impl_->series.model_loads.Add({{"model", model}, {"result", "loaded"}}).Increment();
  impl_->series.model_stale.Add({{"model", model}}).Set(0);
  impl_->series.model_versions.Add({{"model", model}, {"version", version}}).Set(1);
}

void Metrics::OnModelFailed(const std::string& model, const std::string& failure) {
  impl_->series.model_loads.Add({{"model", model}, {"result", failure}}).Increment();
  impl_->series.model_stale.Add({{"model", model}}).Set(1);
}

void Metrics::OnModelLeft(const std::string& model, const std::string& version) {
  prometheus::Family<prometheus::Gauge>& versions = impl_->series.model_versions;
  versions.Remove(&versions.Add({{"model", model}, {"version", version}}));
}

void Metrics::OnModelSettled(const std::string& model) {
  impl_->series.model_stale.Add({{"model", model}}).Set(0);
}

void Metrics::OnModelRemoved(const std::string& model) {
  prometheus::Family<prometheus::Gauge>& stale = impl_->series.model_stale;
  stale.Remove(&stale.Add({{"model", model}}));
  impl_->series.RemoveModel(model);
}

void Metrics::OnCertificates(absl::Time not_before, absl::Time not_after) {
  impl_->series.certificate_not_before.Add({}).Set(
      static_cast<double>(absl::ToUnixSeconds(not_before)));
  impl_->series.certificate_not_after.Add({}).Set(
      static_cast<double>(absl::ToUnixSeconds(not_after)));
}

void Metrics::OnCallStarted() { impl_->series.in_flight.Increment(); }

void Metrics::OnCallEnded(const CallRecord& record) {
  impl_->series.in_flight.Decrement();
  if (record.principal.has_value()) {
    impl_->series.CallsOfPrincipal(std::string(*record.principal)).Increment();
  }
  impl_->CountEnd(record);
  impl_->Book(record);
}

void Metrics::OnBulkItemEnded(const CallRecord& record) {
  impl_->CountEnd(record);
  impl_->Book(record);
}

void Metrics::OnFirstText(const Model& model, absl::Duration took) {
  impl_->series.StagesOf(model).first_text->Observe(absl::ToDoubleSeconds(took));
}

void Metrics::OnTranslated(const Model& model, int characters, const TranslateTimes& times) {
  const ModelSeries series = impl_->series.StagesOf(model);
  series.tokenize->Observe(absl::ToDoubleSeconds(times.tokenize));
  series.queue->Observe(absl::ToDoubleSeconds(times.queue));
  series.encode->Observe(absl::ToDoubleSeconds(times.encode));
  series.decode->Observe(absl::ToDoubleSeconds(times.decode));
  series.detokenize->Observe(absl::ToDoubleSeconds(times.detokenize));
  impl_->series.characters.Increment(characters);
}

void Metrics::OnEncode(const Model& model, int sentences, int tokens, absl::Duration took) {
  impl_->series.encode.Observe(tokens, tokens, took);
}

void Metrics::OnDecodeStep(const Model& model, int sentences, int rows, absl::Duration took) {
  impl_->series.decode.Observe(rows, sentences, took);
}

void Metrics::OnBusy(int worker, absl::Duration took, absl::Duration interactive) {
  const auto add = [worker](auto& known, auto& family, absl::Duration more) {
    const auto index = static_cast<size_t>(worker);
    prometheus::Counter& counter =
        index < known.size() ? *known[index] : family.Add({{"worker", std::to_string(worker)}});
    counter.Increment(absl::ToDoubleSeconds(more));
  };
  MetricSeries& series = impl_->series;
  add(series.busy_by_worker, series.busy, took);
  add(series.interactive_by_worker, series.interactive, interactive);
}

void Metrics::OnJobDone(const Job& job, const JobResult& result) {
  if (!result.status.ok() || job.score_prefix) return;
  const Hypothesis& best = result.hypotheses.front();
  impl_->series.sentences.Increment();
  impl_->series.source_tokens.Increment(static_cast<double>(job.source.size()));
  impl_->series.target_tokens.Increment(static_cast<double>(best.tokens.size()));
  const int32_t unknown = impl_->series.StagesOf(*job.model).unknown_id;
  impl_->series.unknown_tokens.Increment(
      static_cast<double>(std::count(job.source.begin(), job.source.end(), unknown)));
  switch (best.finish_reason) {
    case FinishReason::kEos:
      impl_->series.finish_eos.Increment();
      break;
    case FinishReason::kMaxLength:
      impl_->series.finish_max_length.Increment();
      break;
    case FinishReason::kRepetition:
      impl_->series.finish_repetition.Increment();
      break;
  }
  if (result.times.steps > 0) {
    impl_->series.token_seconds.Observe(absl::ToDoubleSeconds(result.times.decode) /
                                        result.times.steps);
  }
}

std::string Metrics::Text() const {
  std::vector<prometheus::MetricFamily> families = impl_->series.registry.Collect();
  for (const auto& more : {impl_->CollectPool(), impl_->CollectCache(), impl_->CollectConnections(),
                           impl_->CollectProcess()}) {
    families.insert(families.end(), more.begin(), more.end());
  }
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return text.str();
}

}  // namespace dragoman
