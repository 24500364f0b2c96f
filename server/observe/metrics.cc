#include "server/observe/metrics.h"

#include <prometheus/text_serializer.h>

#include <atomic>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/status.h"
#include "server/base/errors.h"
#include "server/observe/metric_families.h"
#include "server/observe/metric_samples.h"
#include "server/observe/metric_series.h"

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

const char* NameOf(Reloaded what) {
  return what == Reloaded::kCertificates ? "certificates" : "tokens";
}

// The class of a status code, such as "4xx".
std::string ClassOf(int http_code) { return std::to_string(http_code / 100) + "xx"; }

}  // namespace

struct Metrics::Impl {
  Impl(int workers, int named_principals) : series(workers, named_principals) {}

  void CountEnd(const CallRecord& record) {
    const std::string refusal = ReasonOfRefusal(record.status, record.draining);
    if (!refusal.empty()) series.rejected.Add({{"reason", refusal}}).Increment();
    const absl::Status& status = record.status;
    if (absl::IsInvalidArgument(status) || absl::IsNotFound(status)) {
      series.invalid.Add({{"reason", InvalidReason(status)}}).Increment();
    } else if (absl::IsDeadlineExceeded(status) && refusal.empty()) {
      series.cancelled.Add({{"cause", "deadline"}}).Increment();
    } else if (absl::IsCancelled(status)) {
      series.cancelled.Add({{"cause", record.draining ? "drain" : "client"}}).Increment();
    }
  }

  void Book(const CallRecord& record) {
    const CallSeries calls =
        series.CallsOf(std::string(record.method), std::string(record.model), record.status.code());
    calls.duration->Observe(absl::ToDoubleSeconds(record.duration));
    if (record.status.ok()) calls.ok_duration->Observe(absl::ToDoubleSeconds(record.duration));
    calls.by_code[static_cast<int>(record.status.code())]->Increment();
  }

  // The metrics that are read from others when somebody asks.
  std::vector<prometheus::MetricFamily> CollectOthers() const {
    const WorkerPool* const watched = pool.load();
    const WorkerPoolStats stats = watched == nullptr ? WorkerPoolStats() : watched->Stats();
    ListenerStats grpc, http;
    std::vector<BudgetStats> shares;
    TracerStats spans;
    DatabaseStats kept;
    {
      absl::MutexLock lock(&mutex);
      if (sources.grpc != nullptr) grpc = sources.grpc();
      if (sources.http != nullptr) http = sources.http();
      if (sources.budgets != nullptr) shares = sources.budgets();
      if (sources.traces != nullptr) spans = sources.traces();
      if (sources.store != nullptr) kept = sources.store();
    }
    std::vector<prometheus::MetricFamily> families;
    for (const auto& more :
         {PoolFamilies(stats), CacheFamilies(stats.cache),
          ConnectionFamilies("dragoman_connections", "gRPC", grpc),
          ConnectionFamilies("dragoman_http_connections", "HTTP", http), BudgetFamilies(shares),
          TraceFamilies(spans), StoreFamilies(kept), ProcessFamilies()}) {
      families.insert(families.end(), more.begin(), more.end());
    }
    return families;
  }

  std::vector<prometheus::MetricFamily> Collect() const {
    std::vector<prometheus::MetricFamily> families = series.registry.Collect();
    const std::vector<prometheus::MetricFamily> others = CollectOthers();
    families.insert(families.end(), others.begin(), others.end());
    return families;
  }

  MetricSeries series;
  std::atomic<int64_t> rows = 0, ended = 0, failed = 0;  // of LoadTotals
  std::atomic<const WorkerPool*> pool = nullptr;
  mutable absl::Mutex mutex;
  MetricSources sources ABSL_GUARDED_BY(mutex);
};

Metrics::Metrics(int workers, int named_principals)
    : impl_(std::make_unique<Impl>(workers, named_principals)) {}

Metrics::~Metrics() = default;

void Metrics::AddModel(const Model& model, absl::Duration load) {
  impl_->series.AddModel(model, load);
}

void Metrics::SetBatchRows(const std::string& model, int rows) {
  impl_->series.batch_rows_limit.Add({{"model", model}}).Set(rows);
}

void Metrics::Watch(const WorkerPool* pool) { impl_->pool = pool; }

void Metrics::Watch(absl::FunctionRef<void(MetricSources*)> add) {
  absl::MutexLock lock(&impl_->mutex);
  add(&impl_->sources);
}

void Metrics::AddHttpPath(const std::string& api, const std::string& path) {
  for (const int code : {200, 400, 500}) {
    impl_->series.http_responses.Add({{"api", api}, {"path", path}, {"code", ClassOf(code)}});
  }
}

void Metrics::OnHttpAnswer(const std::string& api, const std::string& path, int code) {
  impl_->series.http_responses.Add({{"api", api}, {"path", path}, {"code", ClassOf(code)}})
      .Increment();
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
  const prometheus::Labels labels = {{"model", model}, {"version", version}};
  impl_->series.model_versions.Add(labels).Set(1);
  impl_->series.model_loaded.Add(labels).SetToCurrentTime();
}

void Metrics::OnModelFailed(const std::string& model, LoadFailure failure) {
  impl_->series.model_loads.Add({{"model", model}, {"result", NameOf(failure)}}).Increment();
  impl_->series.model_stale.Add({{"model", model}}).Set(1);
}

void Metrics::OnModelLeft(const std::string& model, const std::string& version) {
  for (auto* family : {&impl_->series.model_versions, &impl_->series.model_loaded}) {
    family->Remove(&family->Add({{"model", model}, {"version", version}}));
  }
}

void Metrics::OnModelEvicted(const std::string& model) {
  impl_->series.model_evictions.Add({{"model", model}}).Increment();
  impl_->series.RemoveModel(model);
}

void Metrics::OnColdWait(absl::Duration took) {
  impl_->series.cold_wait.Observe(absl::ToDoubleSeconds(took));
}

void Metrics::SetMemoryLimit(double bytes) { impl_->series.memory_limit.Set(bytes); }

void Metrics::SetModelMemory(double bytes, double limit) {
  impl_->series.model_memory.Set(bytes);
  impl_->series.model_memory_limit.Set(limit);
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

void Metrics::OnCallStarted(std::string_view grpc_method) {
  impl_->series.in_flight.Increment();
  if (!grpc_method.empty()) impl_->series.RpcsStarted(grpc_method).Increment();
}

void Metrics::OnCallEnded(const CallRecord& record) {
  impl_->series.in_flight.Decrement();
  if (record.principal.has_value()) {
    impl_->series.CallsOfPrincipal(std::string(*record.principal)).Increment();
  }
  if (record.over_grpc) {
    impl_->series.RpcsEnded(record.method, record.status.code())
        .seconds->Observe(absl::ToDoubleSeconds(record.duration));
  }
  ++impl_->ended;
  if (IsServersError(record.status.code())) ++impl_->failed;
  impl_->CountEnd(record);
  impl_->Book(record);
}

void Metrics::OnRpcMessages(std::string_view method, absl::StatusCode code, size_t received,
                            size_t sent) {
  const RpcSeries::Ended ended = impl_->series.RpcsEnded(method, code);
  ended.received->Observe(static_cast<double>(received));
  ended.sent->Observe(static_cast<double>(sent));
}

LoadTotals Metrics::Totals() const {
  LoadTotals totals = {.rows = impl_->rows, .calls = impl_->ended, .errors = impl_->failed};
  for (const prometheus::Counter* counter : impl_->series.busy_by_worker) {
    totals.busy_seconds += counter->Value();
  }
  return totals;
}

void Metrics::OnBulkItemEnded(const CallRecord& record) {
  impl_->CountEnd(record);
  impl_->Book(record);
}

void Metrics::OnFirstText(const Model& model, absl::Duration took) {
  impl_->series.FirstTextOf(model.name()).Observe(absl::ToDoubleSeconds(took));
}

void Metrics::OnMemoryMatch(MemoryMatch::Kind kind) {
  impl_->series.memory_matches[static_cast<size_t>(kind)]->Increment();
}

void Metrics::OnTerms(int said, int unmet) {
  impl_->series.glossary_terms[0]->Increment(said);
  impl_->series.glossary_terms[1]->Increment(unmet);
}

void Metrics::OnTranslated(const Model& model, int characters, const TranslateTimes& times) {
  const ModelSeries series = impl_->series.StagesOf(model);
  for (size_t i = 0; i < kStages.size(); ++i) {
    series.stages[i]->Observe(absl::ToDoubleSeconds(times.*kStages[i].second));
  }
  impl_->series.characters.Increment(characters);
}

void Metrics::OnEncode(const Model& model, int sentences, int tokens, absl::Duration took) {
  impl_->rows.fetch_add(tokens, std::memory_order_relaxed);
  impl_->series.encode.Observe(tokens, tokens, took);
}

void Metrics::OnDecodeStep(const Model& model, int sentences, int rows, absl::Duration took) {
  impl_->rows.fetch_add(rows, std::memory_order_relaxed);
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
  impl_->series.unknown_tokens.Increment(static_cast<double>(absl::c_count(job.source, unknown)));
  impl_->series.finish[static_cast<size_t>(best.finish_reason)]->Increment();
  if (result.times.steps > 0) {
    impl_->series.token_seconds.Observe(absl::ToDoubleSeconds(result.times.decode) /
                                        result.times.steps);
  }
}

std::string Metrics::Text() const {
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, impl_->Collect());
  return text.str();
}

MetricSamples Metrics::Samples() const { return SamplesOf(impl_->Collect()); }

}  // namespace dragoman
