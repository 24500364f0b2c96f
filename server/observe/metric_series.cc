#include "server/observe/metric_series.h"

#include <array>
#include <utility>

#include "engine/base/status.h"
#include "engine/math/gemm.h"

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
                                                absl::StatusCode::kResourceExhausted};
constexpr const char* kMethods[] = {"Translate", "TranslateStream", "TranslateBulk", "Score",
                                    "Tokenize",  "ListModels",      "GetModel"};
// The methods that use a model's engine, and the requests within a bulk call.
constexpr const char* kModelMethods[] = {"Translate",         "TranslateStream", "TranslateBulk",
                                         "TranslateBulkItem", "Score",           "Tokenize"};

// Upper bounds in seconds: 1 ms to 60 s in steps of about 1.4; for the stages, finer ones.
const Histogram::BucketBoundaries kRequestSeconds = {
    .001, .002, .003, .005, .007, .01, .015, .02, .03, .05, .075, .1, .15, .2, .3,
    .5,   .7,   1,    1.5,  2,    3,   5,    7,   10,  15,  20,   30, 45,  60};
const Histogram::BucketBoundaries kStageSeconds = {
    .0001, .0002, .0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60};
const Histogram::BucketBoundaries kBatchSizes = {
    1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048};

}  // namespace

const Histogram::BucketBoundaries& StepBuckets() {
  static const auto& buckets = *new Histogram::BucketBoundaries{
      .0001, .0002, .0005, .001, .002, .003, .005, .007, .01, .015, .02, .03, .05, .1, .2, .5};
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
  for (const char* reason : {"queue_full", "principal_limit", "quota", "message_size",
                             "cannot_be_met", "draining", "not_loaded", "unauthenticated"}) {
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
  for (const char* method : kMethods) AddCalls(method, "", kAdmissionCodes);
}

void MetricSeries::AddCalls(const std::string& method, const std::string& model,
                            absl::Span<const absl::StatusCode> codes) {
  absl::MutexLock lock(&mutex);
  CallSeries& series = calls[{method, model}];
  for (const absl::StatusCode code : codes) {
    series.by_code.at(static_cast<int>(code)) = &requests.Add(
        {{"method", method}, {"model", model}, {"code", absl::StatusCodeToString(code)}});
  }
  const prometheus::Labels labels = {{"method", method}, {"model", model}};
  series.duration = &durations.Add(labels, kRequestSeconds);
  series.ok_duration = &ok_durations.Add(labels, kRequestSeconds);
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

PhaseSeries MetricSeries::AddPhase(const char* phase) {
  return {.seconds = &step_seconds.Add({{"phase", phase}}, StepBuckets()),
          .rows = &batch_rows.Add({{"phase", phase}}, kBatchSizes),
          .tokens = &batch_tokens.Add({{"phase", phase}}, kBatchSizes)};
}

void MetricSeries::AddModel(const Model& model, absl::Duration load) {
  const std::string& name = model.name();
  for (const char* method : kModelMethods) AddCalls(method, name, kTranslateCodes);
  AddCalls("GetModel", name, {absl::StatusCode::kOk});
  RemoveModel(name);
  prometheus::Gauge& info = model_info.Add({{"model", name},
                                            {"precision", NameOf(model.precision())},
                                            {"matmul", GemmMatmul(model.arithmetic())},
                                            {"isa", GemmIsa(model.arithmetic())}});
  info.Set(1);
  load_seconds.Add({{"model", name}}).Set(absl::ToDoubleSeconds(load));
  for (const char* result : {"loaded", "memory", "broken", "golden"}) {
    model_loads.Add({{"model", name}, {"result", result}});
  }
  StagesOf(model);
  absl::MutexLock lock(&mutex);
  info_by_model[name] = &info;
}

void MetricSeries::RemoveModel(const std::string& name) {
  absl::MutexLock lock(&mutex);
  models.erase(name);
  const auto info = info_by_model.find(name);
  if (info == info_by_model.end()) return;
  model_info.Remove(info->second);
  info_by_model.erase(info);
}

ModelSeries MetricSeries::StagesOf(const Model& model) {
  const std::string& name = model.name();
  {
    absl::ReaderMutexLock lock(&mutex);
    if (const auto found = models.find(name); found != models.end()) return found->second;
  }
  const auto stage = [&](const char* stage_name) {
    return &stages.Add({{"stage", stage_name}, {"model", name}}, kStageSeconds);
  };
  ModelSeries series = {.tokenize = stage("tokenize"),
                        .queue = stage("queue"),
                        .encode = stage("encode"),
                        .decode = stage("decode"),
                        .detokenize = stage("detokenize"),
                        .first_text = &first_text.Add({{"model", name}}, kRequestSeconds)};
  const Tokenizer& tokenizer = model.tokenizer();
  for (int32_t id = 0; id < tokenizer.source_vocabulary_size(); ++id) {
    if (tokenizer.SourcePiece(id) == "<unk>") {
      series.unknown_id = id;
      break;
    }
  }
  absl::MutexLock lock(&mutex);
  return models.emplace(name, series).first->second;
}

}  // namespace dragoman
