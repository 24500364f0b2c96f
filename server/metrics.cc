#include "server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "engine/base/machine.h"
#include "engine/base/status.h"
#include "engine/math/gemm.h"
#include "server/process_stats.h"

namespace dragoman {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

constexpr int kCodes = 17;  // of absl::StatusCode, OK to UNAUTHENTICATED
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
constexpr std::array<const char*, 4> kUnimplementedMethods = {"TranslateStream", "TranslateBulk",
                                                              "Score", "Tokenize"};

// Upper bounds in seconds: 1 ms to 60 s in steps of about 1.4, and finer ones for what is short.
const Histogram::BucketBoundaries kRequestSeconds = {
    .001, .002, .003, .005, .007, .01, .015, .02, .03, .05, .07, .1, .15, .2, .3,
    .5,   .7,   1,    1.5,  2,    3,   5,    7,   10,  15,  20,  30, 45,  60};
const Histogram::BucketBoundaries kStageSeconds = {
    .0001, .0002, .0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60};
const Histogram::BucketBoundaries kStepSeconds = {.0001, .0002, .0005, .001, .002, .003, .005, .007,
                                                  .01,   .015,  .02,   .03,  .05,  .1,   .2,   .5};
const Histogram::BucketBoundaries kBatchSizes = {
    1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048};

const char* InvalidReason(const absl::Status& status) {
  const std::string field = FieldOf(status);
  if (status.code() == absl::StatusCode::kNotFound || field == "model") return "model";
  if (absl::StartsWith(field, "contents")) return "contents";
  if (absl::StartsWith(field, "options")) return "options";
  if (absl::EndsWith(field, "_language")) return "language";
  return "other";
}

prometheus::MetricFamily GaugeNow(const char* name, const char* help, double value,
                                  prometheus::MetricType type = prometheus::MetricType::Gauge) {
  prometheus::ClientMetric metric;
  metric.gauge.value = value;
  metric.counter.value = value;
  return {name, help, type, {std::move(metric)}};
}

// The series of one method and model.
struct CallSeries {
  std::array<Counter*, kCodes> by_code{};  // null where the method never answers so
  Histogram* duration = nullptr;
};

// The series of one model, and what is needed to fill them.
struct ModelSeries {
  Histogram* tokenize = nullptr;
  Histogram* queue = nullptr;
  Histogram* encode = nullptr;
  Histogram* decode = nullptr;
  Histogram* detokenize = nullptr;
  int32_t unknown_id = -1;  // of the source vocabulary
};

// The series of one phase of the engine.
struct PhaseSeries {
  Histogram* seconds = nullptr;
  Histogram* rows = nullptr;
  Histogram* tokens = nullptr;

  void Observe(int row_count, int token_count, absl::Duration took) {
    seconds->Observe(absl::ToDoubleSeconds(took));
    rows->Observe(row_count);
    tokens->Observe(token_count);
  }
};

}  // namespace

struct Metrics::Impl {
  explicit Impl(int workers);

  Family<Counter>& Counters(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }
  Family<Gauge>& Gauges(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  }
  Family<Histogram>& Histograms(const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
  }
  void AddCalls(const char* method, const std::string& model,
                absl::Span<const absl::StatusCode> codes);
  PhaseSeries AddPhase(const char* phase);
  void CountEnd(const CallRecord& record);
  std::vector<prometheus::MetricFamily> CollectPool() const;
  std::vector<prometheus::MetricFamily> CollectProcess() const;

  prometheus::Registry registry;

  Family<Counter>& requests =
      Counters("dragoman_requests_total", "Calls that ended, by gRPC code.");
  Family<Histogram>& durations =
      Histograms("dragoman_request_duration_seconds", "From the arrival of a call to its answer.");
  Gauge& in_flight =
      Gauges("dragoman_requests_in_flight", "Calls that are being answered now.").Add({});
  Family<Counter>& rejected = Counters(
      "dragoman_rejected_total",
      "Translations refused unread: queue_full (RESOURCE_EXHAUSTED) or draining (UNAVAILABLE).");
  Family<Counter>& invalid =
      Counters("dragoman_invalid_total",
               "Calls refused as wrong (INVALID_ARGUMENT, NOT_FOUND), by what was wrong in them.");
  Family<Counter>& cancelled =
      Counters("dragoman_cancelled_total",
               "Translations given up: the client went away, the deadline passed, or the drain "
               "timeout did.");

  Family<Histogram>& stages = Histograms(
      "dragoman_stage_duration_seconds",
      "Where the time of a translation went; queue, encode and decode of its slowest sentence.");
  Histogram& token_seconds = Histograms("dragoman_time_per_output_token_seconds",
                                        "Decoding time of a sentence divided by the steps it took.")
                                 .Add({}, kStepSeconds);
  Family<Histogram>& step_seconds =
      Histograms("dragoman_engine_step_seconds", "One run of the encoder or one decoder step.");
  Family<Histogram>& batch_rows =
      Histograms("dragoman_batch_rows",
                 "Rows of one engine step: source tokens (encode) or live hypotheses (decode).");
  Family<Histogram>& batch_tokens =
      Histograms("dragoman_batch_tokens",
                 "Tokens that one engine step advances by: source tokens (encode) or one for each "
                 "sentence in the batch (decode).");
  Family<Counter>& busy =
      Counters("dragoman_engine_busy_seconds_total", "Time that a worker was not idle.");

  Counter& source_tokens =
      Counters("dragoman_source_tokens_total", "Source tokens of the sentences translated.")
          .Add({});
  Counter& target_tokens = Counters("dragoman_target_tokens_total",
                                    "Tokens of the best hypotheses of the sentences translated.")
                               .Add({});
  Counter& sentences = Counters("dragoman_sentences_total", "Sentences translated.").Add({});
  Counter& characters = Counters("dragoman_source_characters_total",
                                 "Code points of the texts of successful translations.")
                            .Add({});
  Counter& unknown_tokens = Counters("dragoman_unknown_tokens_total",
                                     "Source tokens translated that the vocabulary does not have.")
                                .Add({});
  Family<Counter>& finish =
      Counters("dragoman_finish_total",
               "Sentences translated, by what ended the best hypothesis: the model or the limit.");
  Counter& finish_eos = finish.Add({{"reason", "eos"}});
  Counter& finish_max_length = finish.Add({{"reason", "max_length"}});

  Family<Gauge>& model_info = Gauges("dragoman_model_info", "1 for each model that is loaded.");
  Family<Gauge>& load_seconds =
      Gauges("dragoman_model_load_seconds", "How long the model took to load.");

  PhaseSeries encode = AddPhase("encode");
  PhaseSeries decode = AddPhase("decode");
  std::vector<Counter*> busy_by_worker;
  std::map<std::pair<std::string, std::string>, CallSeries, std::less<>> calls;  // method, model
  std::map<const Model*, ModelSeries> models;
  std::atomic<const WorkerPool*> pool = nullptr;
};

Metrics::Impl::Impl(int workers) {
  Gauges("dragoman_build_info", "1; the version that runs.")
      .Add({{"version", DRAGOMAN_VERSION}})
      .Set(1);
  for (int worker = 0; worker < workers; ++worker) {
    busy_by_worker.push_back(&busy.Add({{"worker", std::to_string(worker)}}));
  }
  for (const char* reason : {"queue_full", "draining"}) rejected.Add({{"reason", reason}});
  for (const char* reason : {"contents", "options", "language", "model", "other"}) {
    invalid.Add({{"reason", reason}});
  }
  for (const char* cause : {"client", "deadline", "drain"}) cancelled.Add({{"cause", cause}});
  AddCalls("Translate", "", kTranslateCodes);
  AddCalls("ListModels", "", {absl::StatusCode::kOk});
  AddCalls("GetModel", "", {absl::StatusCode::kNotFound});
  for (const char* method : kUnimplementedMethods) {
    AddCalls(method, "", {absl::StatusCode::kUnimplemented});
  }
}

void Metrics::Impl::AddCalls(const char* method, const std::string& model,
                             absl::Span<const absl::StatusCode> codes) {
  CallSeries& series = calls[{method, model}];
  for (const absl::StatusCode code : codes) {
    series.by_code[static_cast<int>(code)] = &requests.Add(
        {{"method", method}, {"model", model}, {"code", absl::StatusCodeToString(code)}});
  }
  series.duration = &durations.Add({{"method", method}, {"model", model}}, kRequestSeconds);
}

PhaseSeries Metrics::Impl::AddPhase(const char* phase) {
  return {.seconds = &step_seconds.Add({{"phase", phase}}, kStepSeconds),
          .rows = &batch_rows.Add({{"phase", phase}}, kBatchSizes),
          .tokens = &batch_tokens.Add({{"phase", phase}}, kBatchSizes)};
}

void Metrics::Impl::CountEnd(const CallRecord& record) {
  switch (record.status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
      invalid.Add({{"reason", InvalidReason(record.status)}}).Increment();
      break;
    case absl::StatusCode::kResourceExhausted:
      rejected.Add({{"reason", "queue_full"}}).Increment();
      break;
    case absl::StatusCode::kUnavailable:
      rejected.Add({{"reason", "draining"}}).Increment();
      break;
    case absl::StatusCode::kDeadlineExceeded:
      cancelled.Add({{"cause", "deadline"}}).Increment();
      break;
    case absl::StatusCode::kCancelled:
      cancelled.Add({{"cause", record.draining ? "drain" : "client"}}).Increment();
      break;
    default:
      break;
  }
}

std::vector<prometheus::MetricFamily> Metrics::Impl::CollectPool() const {
  const WorkerPool* const watched = pool.load();
  const WorkerPoolStats stats = watched == nullptr ? WorkerPoolStats() : watched->Stats();
  return {
      GaugeNow("dragoman_queue_requests", "Requests with a sentence that waits for a batch.",
               stats.waiting_requests),
      GaugeNow("dragoman_queue_tokens", "Source tokens of the sentences that wait for a batch.",
               stats.waiting_tokens),
      GaugeNow("dragoman_queue_oldest_age_seconds", "How long the first in line has waited.",
               absl::ToDoubleSeconds(stats.oldest_wait)),
      GaugeNow("dragoman_kv_cache_bytes", "KV memory reserved by the sentences in the batches.",
               static_cast<double>(stats.kv_reserved_bytes)),
      GaugeNow("dragoman_kv_cache_capacity_bytes", "KV memory that sentences may reserve.",
               static_cast<double>(stats.kv_capacity_bytes)),
  };
}

std::vector<prometheus::MetricFamily> Metrics::Impl::CollectProcess() const {
  const ProcessStats stats = ReadProcessStats();
  return {
      GaugeNow("process_cpu_seconds_total", "User and system CPU time.", stats.cpu_seconds,
               prometheus::MetricType::Counter),
      GaugeNow("process_resident_memory_bytes", "Resident memory.", stats.resident_bytes),
      GaugeNow("dragoman_memory_limit_bytes",
               "Memory that the process may use: of the machine, or of its control group.",
               static_cast<double>(AvailableMemory())),
      GaugeNow("process_virtual_memory_bytes", "Virtual memory.", stats.virtual_bytes),
      GaugeNow("process_open_fds", "Open file descriptors.", stats.open_fds),
      GaugeNow("process_max_fds", "File descriptors that may be open.", stats.max_fds),
      GaugeNow("process_threads", "Threads.", stats.threads),
      GaugeNow("process_start_time_seconds", "When the process started, since the Unix epoch.",
               stats.start_time_seconds),
  };
}

Metrics::Metrics(int workers) : impl_(std::make_unique<Impl>(workers)) {}

Metrics::~Metrics() = default;

void Metrics::AddModel(const Model& model, absl::Duration load) {
  const std::string& name = model.name();
  impl_->AddCalls("Translate", name, kTranslateCodes);
  impl_->AddCalls("GetModel", name, {absl::StatusCode::kOk});
  impl_->model_info
      .Add({{"model", name},
            {"precision", NameOf(model.precision())},
            {"isa", GemmIsa(model.precision())}})
      .Set(1);
  impl_->load_seconds.Add({{"model", name}}).Set(absl::ToDoubleSeconds(load));
  const auto stage = [&](const char* stage_name) {
    return &impl_->stages.Add({{"stage", stage_name}, {"model", name}}, kStageSeconds);
  };
  ModelSeries& series = impl_->models[&model];
  series = {.tokenize = stage("tokenize"),
            .queue = stage("queue"),
            .encode = stage("encode"),
            .decode = stage("decode"),
            .detokenize = stage("detokenize")};
  const Tokenizer& tokenizer = model.tokenizer();
  for (int32_t id = 0; id < tokenizer.source_vocabulary_size(); ++id) {
    if (tokenizer.SourcePiece(id) == "<unk>") {
      series.unknown_id = id;
      break;
    }
  }
}

void Metrics::Watch(const WorkerPool* pool) { impl_->pool = pool; }

void Metrics::OnCallStarted() { impl_->in_flight.Increment(); }

void Metrics::OnCallEnded(const CallRecord& record) {
  impl_->in_flight.Decrement();
  impl_->CountEnd(record);
  const auto found =
      impl_->calls.find(std::pair<std::string, std::string>(record.method, record.model));
  DRAGOMAN_CHECK(found != impl_->calls.end());
  found->second.duration->Observe(absl::ToDoubleSeconds(record.duration));
  Counter* const counter = found->second.by_code[static_cast<int>(record.status.code())];
  DRAGOMAN_CHECK(counter != nullptr);
  counter->Increment();
}

void Metrics::OnTranslated(const Model& model, int characters, const TranslateTimes& times) {
  const ModelSeries& series = impl_->models.at(&model);
  series.tokenize->Observe(absl::ToDoubleSeconds(times.tokenize));
  series.queue->Observe(absl::ToDoubleSeconds(times.queue));
  series.encode->Observe(absl::ToDoubleSeconds(times.encode));
  series.decode->Observe(absl::ToDoubleSeconds(times.decode));
  series.detokenize->Observe(absl::ToDoubleSeconds(times.detokenize));
  impl_->characters.Increment(characters);
}

void Metrics::OnEncode(const Model& model, int sentences, int tokens, absl::Duration took) {
  impl_->encode.Observe(tokens, tokens, took);
}

void Metrics::OnDecodeStep(const Model& model, int sentences, int rows, absl::Duration took) {
  impl_->decode.Observe(rows, sentences, took);
}

void Metrics::OnBusy(int worker, absl::Duration took) {
  impl_->busy_by_worker.at(worker)->Increment(absl::ToDoubleSeconds(took));
}

void Metrics::OnJobDone(const Job& job, const JobResult& result) {
  if (!result.status.ok()) return;
  const Hypothesis& best = result.hypotheses.front();
  impl_->sentences.Increment();
  impl_->source_tokens.Increment(static_cast<double>(job.source.size()));
  impl_->target_tokens.Increment(static_cast<double>(best.tokens.size()));
  const int32_t unknown = impl_->models.at(job.model.get()).unknown_id;
  impl_->unknown_tokens.Increment(
      static_cast<double>(std::count(job.source.begin(), job.source.end(), unknown)));
  (best.finish_reason == FinishReason::kEos ? impl_->finish_eos : impl_->finish_max_length)
      .Increment();
  if (result.times.steps > 0) {
    impl_->token_seconds.Observe(absl::ToDoubleSeconds(result.times.decode) / result.times.steps);
  }
}

std::string Metrics::Text() const {
  std::vector<prometheus::MetricFamily> families = impl_->registry.Collect();
  for (const auto& more : {impl_->CollectPool(), impl_->CollectProcess()}) {
    families.insert(families.end(), more.begin(), more.end());
  }
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return text.str();
}

}  // namespace dragoman
