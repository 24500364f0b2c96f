#include "server/observe/metric_series.h"

#include <array>
#include <utility>

#include "engine/base/status.h"
#include "server/base/load_failure.h"
#include "server/base/methods.h"

namespace dragoman {
namespace {

using prometheus::Histogram;

constexpr absl::StatusCode kTranslateCodes[] = {
    absl::StatusCode::kOk,
    absl::StatusCode::kCancelled,
    absl::StatusCode::kNotFound,
    absl::StatusCode::kInvalidArgument,
    absl::StatusCode::kInternal,
    absl::StatusCode::kDeadlineExceeded,
    absl::StatusCode::kUnavailable,
    absl::StatusCode::kResourceExhausted,
    absl::StatusCode::kUnimplemented,
    absl::StatusCode::kFailedPrecondition,
};
// The codes of calls that are refused by Call::Admit, when no model is known yet.
constexpr absl::StatusCode kAdmissionCodes[] = {absl::StatusCode::kUnauthenticated,
                                                absl::StatusCode::kPermissionDenied,
                                                absl::StatusCode::kResourceExhausted};
constexpr char kTimedByModel[] = "Translate";
// The methods that use a model's engine, and the requests within a bulk call.
constexpr const char* kModelMethods[] = {"Translate",         "TranslateStream", "TranslateBulk",
                                         "TranslateBulkItem", "Score",           "Tokenize"};

// Upper bounds in seconds.  Calls have that of docs/slo.md, 1.  With few of them, and the codes of
// all methods, a model has no more than 150 series.
const Histogram::BucketBoundaries kRequestSeconds = {.005, .01, .025, .05, .1, .25,
                                                     .5,   1,   2.5,  5,   10, 30};
const Histogram::BucketBoundaries kGoodSeconds = {.1, .25, .5, 1, 2.5, 5, 10};
const Histogram::BucketBoundaries kFirstTextSeconds = {.01, .025, .05, .1, .25, .5, 1, 5};
const Histogram::BucketBoundaries kStageSeconds = {.001, .005, .025, .1, .5, 2.5, 10};
const Histogram::BucketBoundaries kBatchSizes = {
    1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048};

// Those that OpenTelemetry recommends, up to what a call can have.
const Histogram::BucketBoundaries kMessageBytes = {
    0, 1 << 10, 1 << 11, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26};

constexpr int32_t kNotKnownYet = -2;

// Of the source vocabulary; -1 if it has no such token.
int32_t UnknownId(const Tokenizer& tokenizer) {
  for (int32_t id = 0; id < tokenizer.source_vocabulary_size(); ++id) {
    if (tokenizer.SourcePiece(id) == "<unk>") return id;
  }
  return -1;
}

}  // namespace

const Histogram::BucketBoundaries& StepBuckets() {
  static const auto& buckets = *new Histogram::BucketBoundaries{
      .0001, .0002, .0005, .001, .002, .003, .005, .007, .01, .015, .02, .03, .05, .1, .2, .5};
  return buckets;
}

const Histogram::BucketBoundaries& ColdWaitBuckets() {
  static const auto& buckets =
      *new Histogram::BucketBoundaries{.05, .1, .2, .3, .5, .75, 1, 2, 5, 10, 30};
  return buckets;
}

MetricSeries::MetricSeries(int workers, int named) : named_principals(static_cast<size_t>(named)) {
  Gauges("dragoman_build_info", "1; the version that runs.")
      .Add({{"version", DRAGOMAN_VERSION}})
      .Set(1);
  for (int worker = 0; worker < workers; ++worker) {
    busy_by_worker.push_back(&busy.Add({{"worker", std::to_string(worker)}}));
    interactive_by_worker.push_back(&interactive.Add({{"worker", std::to_string(worker)}}));
  }
  for (const char* reason :
       {"queue_full", "principal_limit", "quota", "message_size", "cannot_be_met", "draining",
        "not_loaded", "store", "unauthenticated", "missing_right"}) {
    rejected.Add({{"reason", reason}});
  }
  for (const char* reason : {"contents", "options", "language", "model", "other"}) {
    invalid.Add({{"reason", reason}});
  }
  for (const char* what : {"certificates", "tokens"}) reload_failures.Add({{"what", what}});
  for (const char* cause : {"client", "deadline", "drain"}) cancelled.Add({{"cause", cause}});
  for (const char* name : {"anonymous", "others"}) CallsOfPrincipal(name);
  for (const char* method : kModelMethods) AddCalls(method, "", kTranslateCodes);
  AddCalls("ListModels", "", {absl::StatusCode::kOk});
  AddCalls("GetModel", "", {absl::StatusCode::kNotFound});
  for (const std::string& method : ApiMethods()) {
    AddCalls(method, "", kAdmissionCodes);
    RpcsStarted(method);
  }
}

void MetricSeries::AddCalls(const std::string& method, const std::string& model,
                            absl::Span<const absl::StatusCode> codes) {
  absl::MutexLock lock(&mutex);
  CallSeries& series = calls[{method, model}];
  for (const absl::StatusCode code : codes) {
    series.by_code.at(static_cast<int>(code)) = &requests.Add(
        {{"method", method}, {"model", model}, {"code", absl::StatusCodeToString(code)}});
  }
  const prometheus::Labels labels = {{"method", method},
                                     {"model", method == kTimedByModel ? model : ""}};
  series.duration = &durations.Add(labels, kRequestSeconds);
  series.ok_duration = &ok_durations.Add(labels, kGoodSeconds);
}

CallSeries MetricSeries::CallsOf(const std::string& method, const std::string& model,
                                 absl::StatusCode code) {
  for (bool added = false;; added = true) {
    {
      absl::ReaderMutexLock lock(&mutex);
      const auto found = calls.find({method, model});
      if (found != calls.end() && found->second.by_code.at(static_cast<int>(code)) != nullptr) {
        return found->second;
      }
    }
    DRAGOMAN_CHECK(!added);
    AddCalls(method, model, {code});
  }
}

prometheus::Counter& MetricSeries::CallsOfPrincipal(const std::string& principal) {
  std::string name = principal.empty() ? "anonymous" : principal;
  absl::MutexLock lock(&mutex);
  if (const auto found = principals.find(name); found != principals.end()) return *found->second;
  if (principals.size() >= named_principals + 2) return *principals.at("others");
  prometheus::Counter& counter = principal_requests.Add({{"principal", name}});
  principals.emplace(std::move(name), &counter);
  return counter;
}

// To look a series up by its labels would take a call of one sentence a hundredth of its time.
RpcSeries& MetricSeries::RpcsOf(std::string_view method) {
  if (const auto found = rpcs.find(method); found != rpcs.end()) return found->second;
  RpcSeries& series = rpcs[std::string(method)];
  series.started = &rpcs_started.Add({{"grpc_method", FullNameOf(method)}});
  return series;
}

prometheus::Counter& MetricSeries::RpcsStarted(std::string_view method) {
  absl::MutexLock lock(&mutex);
  return *RpcsOf(method).started;
}

RpcSeries::Ended MetricSeries::RpcsEnded(std::string_view method, absl::StatusCode code) {
  absl::MutexLock lock(&mutex);
  RpcSeries::Ended& ended = RpcsOf(method).by_code.at(static_cast<int>(code));
  if (ended.seconds == nullptr) {
    const prometheus::Labels labels = {{"grpc_method", FullNameOf(method)},
                                       {"grpc_status", absl::StatusCodeToString(code)}};
    ended = {.seconds = &rpc_seconds.Add(labels, kRequestSeconds),
             .received = &rpc_received.Add(labels, kMessageBytes),
             .sent = &rpc_sent.Add(labels, kMessageBytes)};
  }
  return ended;
}

PhaseSeries MetricSeries::AddPhase(const char* phase) {
  return {.seconds = &step_seconds.Add({{"phase", phase}}, StepBuckets()),
          .rows = &batch_rows.Add({{"phase", phase}}, kBatchSizes),
          .tokens = &batch_tokens.Add({{"phase", phase}}, kBatchSizes)};
}

void MetricSeries::AddModel(const Model& model, absl::Duration load) {
  const std::string& name = model.name();
  RemoveModel(name);
  prometheus::Gauge& info = model_info.Add({{"model", name},
                                            {"precision", NameOf(model.precision())},
                                            {"matmul", model.matmul()},
                                            {"isa", model.matmul_isa()}});
  info.Set(1);
  load_seconds.Add({{"model", name}}).Set(absl::ToDoubleSeconds(load));
  for (const char* result : {"loaded", NameOf(LoadFailure::kMemory), NameOf(LoadFailure::kBroken),
                             NameOf(LoadFailure::kGolden)}) {
    model_loads.Add({{"model", name}, {"result", result}});
  }
  const int32_t unknown_id = UnknownId(model.tokenizer());
  absl::MutexLock lock(&mutex);
  info_by_model[name] = &info;
  models[name].unknown_id = unknown_id;
}

void MetricSeries::RemoveModel(const std::string& name) {
  absl::MutexLock lock(&mutex);
  models.erase(name);
  const auto info = info_by_model.find(name);
  if (info == info_by_model.end()) return;
  model_info.Remove(info->second);
  info_by_model.erase(info);
}

prometheus::Histogram& MetricSeries::FirstTextOf(const std::string& model) {
  return first_text.Add({{"model", model}}, kFirstTextSeconds);
}

ModelSeries MetricSeries::StagesOf(const Model& model) {
  const std::string& name = model.name();
  ModelSeries series{.unknown_id = kNotKnownYet};
  {
    absl::ReaderMutexLock lock(&mutex);
    if (const auto found = models.find(name); found != models.end()) series = found->second;
  }
  if (series.stages[0] != nullptr) return series;
  if (series.unknown_id == kNotKnownYet) series.unknown_id = UnknownId(model.tokenizer());
  for (size_t i = 0; i < kStages.size(); ++i) {
    series.stages[i] = &stages.Add({{"stage", kStages[i].first}, {"model", name}}, kStageSeconds);
  }
  absl::MutexLock lock(&mutex);
  return models[name] = series;
}

}  // namespace dragoman
