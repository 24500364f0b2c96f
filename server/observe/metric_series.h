// The series that Metrics fills: their names, help texts, labels and buckets, in one place.  All
// are zero from the start, except those of models, principals and certificates, which appear with
// the first value: a server may have hundreds of models, of which few are used.  A model has at
// most 150 series.
//
// Any other combination of labels gets its series when it occurs, too, instead of ending the
// server.
//
// Thread-safe, except for the members that the constructor creates.

#ifndef DRAGOMAN_SERVER_OBSERVE_METRIC_SERIES_H_
#define DRAGOMAN_SERVER_OBSERVE_METRIC_SERIES_H_

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "engine/base/not_copyable.h"
#include "engine/model/model.h"
#include "engine/request/translator.h"

namespace dragoman {

inline constexpr int kCodes = 17;  // of absl::StatusCode, OK to UNAUTHENTICATED

// The series of one method and model.  Only Translate is timed for each model; the times of the
// other methods are those of all models together.
struct CallSeries {
  std::array<prometheus::Counter*, kCodes>
      by_code{};  // null if the method never answers with that code
  prometheus::Histogram* duration = nullptr;
  prometheus::Histogram* ok_duration = nullptr;
};

// The stages of a translation that are timed.
inline constexpr std::array<std::pair<const char*, absl::Duration TranslateTimes::*>, 5> kStages = {
    {{"tokenize", &TranslateTimes::tokenize},
     {"queue", &TranslateTimes::queue},
     {"encode", &TranslateTimes::encode},
     {"decode", &TranslateTimes::decode},
     {"detokenize", &TranslateTimes::detokenize}}};

// The series of one model, null until they are used, and what is needed to fill them.
struct ModelSeries {
  std::array<prometheus::Histogram*, kStages.size()> stages{};
  int32_t unknown_id = -1;  // of the source vocabulary
};

// The series of one phase of the engine.
struct PhaseSeries {
  prometheus::Histogram* seconds = nullptr;
  prometheus::Histogram* rows = nullptr;
  prometheus::Histogram* tokens = nullptr;

  void Observe(int row_count, int token_count, absl::Duration took) {
    seconds->Observe(absl::ToDoubleSeconds(took));
    rows->Observe(row_count);
    tokens->Observe(token_count);
  }
};

// Upper bounds in seconds for one step of the engine.
const prometheus::Histogram::BucketBoundaries& StepBuckets();
// And for the wait for a model.
const prometheus::Histogram::BucketBoundaries& ColdWaitBuckets();

// The series that OpenTelemetry has of the calls of a method of gRPC: of those that began, and of
// those that ended, by their code; null until they are used.
struct RpcSeries {
  struct Ended {
    prometheus::Histogram* seconds = nullptr;
    prometheus::Histogram* received = nullptr;
    prometheus::Histogram* sent = nullptr;
  };
  prometheus::Counter* started = nullptr;
  std::array<Ended, kCodes> by_code{};
};

// Neither copied nor moved: its members point into the registry.
struct MetricSeries : NotCopyable {
  using Counter = prometheus::Counter;
  using Gauge = prometheus::Gauge;
  using Histogram = prometheus::Histogram;
  using CounterFamily = prometheus::Family<Counter>;
  using GaugeFamily = prometheus::Family<Gauge>;
  using HistogramFamily = prometheus::Family<Histogram>;

  MetricSeries(int workers, int named_principals);

  CounterFamily& Counters(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }
  GaugeFamily& Gauges(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  }
  // One without labels.
  Counter& OneCounter(const char* name, const char* help) { return Counters(name, help).Add({}); }
  Gauge& OneGauge(const char* name, const char* help) { return Gauges(name, help).Add({}); }
  HistogramFamily& Histograms(const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
  }
  // A counter for each of these values of a label.
  template <size_t kCount>
  std::array<Counter*, kCount> CountersBy(const char* name, const char* help, const char* label,
                                          const char* const (&values)[kCount]) {
    std::array<Counter*, kCount> counters;
    auto& family = Counters(name, help);
    for (size_t i = 0; i < kCount; ++i) counters[i] = &family.Add({{label, values[i]}});
    return counters;
  }
  // May be called more than once for a method and model.
  void AddCalls(const std::string& method, const std::string& model,
                absl::Span<const absl::StatusCode> codes);
  // The series for a call with this outcome, created at the first one.
  CallSeries CallsOf(const std::string& method, const std::string& model, absl::StatusCode code);
  // The calls of a principal.  The first `named_principals` to call have a series each; all later
  // ones share the series "others", and "" is "anonymous".
  Counter& CallsOfPrincipal(const std::string& principal);
  // Of a method of gRPC, "Translate".
  Counter& RpcsStarted(std::string_view method);
  RpcSeries::Ended RpcsEnded(std::string_view method, absl::StatusCode code);
  PhaseSeries AddPhase(const char* phase);
  RpcSeries& RpcsOf(std::string_view method) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // Creates the series that describe a model that was loaded.
  void AddModel(const Model& model, absl::Duration load);
  // Removes a model that is no longer served, or is about to be replaced by another version.  Its
  // counters and histograms stay.
  void RemoveModel(const std::string& name);
  // The series of a model's stages, created at the first call.
  ModelSeries StagesOf(const Model& model);
  // The series of its streams, created at the first one.
  Histogram& FirstTextOf(const std::string& model);

  const size_t named_principals;
  prometheus::Registry registry;

  CounterFamily& requests = Counters("dragoman_requests_total", "Calls that ended, by gRPC code.");
  HistogramFamily& durations =
      Histograms("dragoman_request_duration_seconds",
                 "Time from the arrival of a call to its end; by model for Translate.");
  HistogramFamily& ok_durations =
      Histograms("dragoman_ok_duration_seconds",
                 "The same for calls that ended with OK; goodput is the rate of a bucket.");
  CounterFamily& principal_requests = Counters(
      "dragoman_principal_requests_total",
      "Calls by the principal that made them; the first --metrics-principals have a series each.");
  Gauge& in_flight = OneGauge("dragoman_requests_in_flight", "Calls in flight.");
  CounterFamily& rejected =
      Counters("dragoman_rejected_total",
               "Calls refused before they began: queue_full, principal_limit, quota or "
               "message_size (RESOURCE_EXHAUSTED), cannot_be_met (DEADLINE_EXCEEDED before the "
               "deadline), draining, not_loaded or store (UNAVAILABLE: the server, the model), "
               "unauthenticated or missing_right.");
  CounterFamily& invalid = Counters(
      "dragoman_invalid_total", "Invalid calls (INVALID_ARGUMENT, NOT_FOUND), by what was wrong.");
  CounterFamily& cancelled = Counters("dragoman_cancelled_total",
                                      "Translations abandoned because the client went away, the "
                                      "deadline passed, or the drain timed out.");

  CounterFamily& http_responses = Counters(
      "dragoman_http_responses_total",
      "Responses of the HTTP port, by API, path (both empty: none matched) and class of code.");

  CounterFamily& reload_failures =
      Counters("dragoman_reload_failures_total",
               "Failed attempts to reload changed certificates or tokens, one per second until one "
               "succeeds; the old ones stay in use.");
  Gauge& config_stale =
      OneGauge("dragoman_config_stale",
               "1 while the newest configuration is invalid; the old one stays in use.");
  CounterFamily& model_loads =
      Counters("dragoman_model_loads_total",
               "Versions of models by the result of loading them: loaded, no memory, broken, or "
               "golden (a golden sentence was translated differently).");
  GaugeFamily& model_stale = Gauges("dragoman_model_stale",
                                    "1 while the wanted version of a model could not be loaded; "
                                    "the one before it, if there is one, stays in use.");
  GaugeFamily& model_versions = Gauges("dragoman_model_version_info",
                                       "1 for each version of a model that is in memory; two while "
                                       "the old one finishes its last sentences.");
  GaugeFamily& model_loaded =
      Gauges("dragoman_model_loaded_timestamp_seconds",
             "When a version of a model that is in memory was loaded, since the Unix epoch.");
  CounterFamily& model_evictions =
      Counters("dragoman_model_evictions_total",
               "Times that a model was taken out of memory to make room for another one.");
  Histogram& cold_wait = Histograms("dragoman_model_cold_wait_seconds",
                                    "How long requests waited for a model that was not in memory.")
                             .Add({}, ColdWaitBuckets());
  Gauge& memory_limit =
      OneGauge("dragoman_memory_limit_bytes",
               "Memory that the process may use: --memory-limit, or what the control group or the "
               "machine has.");
  // Both are 0 without --model-memory.
  Gauge& model_memory = OneGauge("dragoman_model_memory_bytes",
                                 "What the models in memory take of --model-memory, as estimated.");
  Gauge& model_memory_limit = OneGauge("dragoman_model_memory_limit_bytes", "--model-memory.");
  // These three exist only if there are such files.
  GaugeFamily& reload_times =
      Gauges("dragoman_last_reload_success_timestamp_seconds",
             "When the certificates or tokens in use were read, since the Unix epoch.");
  GaugeFamily& certificate_not_before =
      Gauges("dragoman_certificate_not_before_timestamp_seconds",
             "When the served certificates become valid: the latest time of the chain.");
  GaugeFamily& certificate_not_after =
      Gauges("dragoman_certificate_not_after_timestamp_seconds",
             "When the served certificates expire: the earliest time of the chain.");

  CounterFamily& rpcs_started =
      Counters("grpc_server_call_started_total", "Calls over gRPC that began.");
  HistogramFamily& rpc_seconds = Histograms(
      "grpc_server_call_duration_seconds", "Time from the arrival of a call over gRPC to its end.");
  HistogramFamily& rpc_received =
      Histograms("grpc_server_call_rcvd_total_compressed_message_size_bytes",
                 "Bytes of all messages of a call over gRPC that its client sent.");
  HistogramFamily& rpc_sent =
      Histograms("grpc_server_call_sent_total_compressed_message_size_bytes",
                 "Bytes of all messages of a call over gRPC that were sent to its client.");
  HistogramFamily& stages = Histograms("dragoman_stage_duration_seconds",
                                       "Time by stage of a translation; queue, encode and decode "
                                       "are those of its slowest sentence.");
  HistogramFamily& first_text =
      Histograms("dragoman_time_to_first_text_seconds",
                 "Time from the arrival of a TranslateStream to the first text that it can send.");
  Histogram& token_seconds =
      Histograms("dragoman_time_per_output_token_seconds",
                 "Decoding time of a sentence divided by its number of steps.")
          .Add({}, StepBuckets());
  HistogramFamily& step_seconds =
      Histograms("dragoman_engine_step_seconds", "Time of one encoder run or one decoder step.");
  HistogramFamily& batch_rows =
      Histograms("dragoman_batch_rows",
                 "Rows of one engine step: source tokens (encode) or live hypotheses (decode).");
  HistogramFamily& batch_tokens = Histograms("dragoman_batch_tokens",
                                             "Tokens processed by one engine step: source tokens "
                                             "(encode) or one per sentence in the batch (decode).");
  CounterFamily& busy =
      Counters("dragoman_engine_busy_seconds_total", "Time in which a worker was not idle.");
  CounterFamily& interactive =
      Counters("dragoman_engine_interactive_seconds_total",
               "The part of its busy time that a worker spent on interactive requests.");

  Counter& source_tokens =
      OneCounter("dragoman_source_tokens_total", "Source tokens of the sentences translated.");
  Counter& target_tokens = OneCounter("dragoman_target_tokens_total",
                                      "Tokens of the best hypotheses of the sentences translated.");
  Counter& sentences = OneCounter("dragoman_sentences_total", "Sentences translated.");
  // By MemoryMatch::Kind.
  const std::array<Counter*, 4> memory_matches =
      CountersBy("dragoman_memory_matches_total",
                 "Sentences that a translation memory had, alone or much like them: answered by it "
                 "(context, exact), repaired, or translated.",
                 "kind", {"context", "exact", "repaired", "translated"});
  const std::array<Counter*, 2> glossary_terms =
      CountersBy("dragoman_glossary_terms_total",
                 "Terms of glossaries in the texts that were translated, by whether their "
                 "translations say what the glossary wants.",
                 "outcome", {"said", "unmet"});
  Counter& characters = OneCounter("dragoman_source_characters_total",
                                   "Code points of the texts of successful translations.");
  Counter& unknown_tokens = OneCounter("dragoman_unknown_tokens_total",
                                       "Translated source tokens that are not in the vocabulary.");
  // By FinishReason.
  const std::array<Counter*, 3> finish =
      CountersBy("dragoman_finish_total",
                 "Sentences translated, by what ended the best hypothesis: the model, the limit or "
                 "the guard against repetition.",
                 "reason", {"eos", "max_length", "repetition"});

  GaugeFamily& model_info = Gauges("dragoman_model_info", "1 for each model that is loaded.");
  GaugeFamily& batch_rows_limit = Gauges(
      "dragoman_batch_rows_limit", "Hypotheses of a model that a worker may decode in one turn.");
  GaugeFamily& load_seconds =
      Gauges("dragoman_model_load_seconds", "How long the model took to load.");

  PhaseSeries encode = AddPhase("encode");
  PhaseSeries decode = AddPhase("decode");
  std::vector<Counter*> busy_by_worker, interactive_by_worker;

  absl::Mutex mutex;
  absl::flat_hash_map<std::pair<std::string, std::string>, CallSeries> calls ABSL_GUARDED_BY(mutex);
  std::map<std::string, RpcSeries, std::less<>> rpcs ABSL_GUARDED_BY(mutex);
  std::map<std::string, Counter*> principals ABSL_GUARDED_BY(mutex);
  std::map<std::string, ModelSeries> models ABSL_GUARDED_BY(mutex);  // that are loaded
  std::map<std::string, Gauge*> info_by_model ABSL_GUARDED_BY(mutex);
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_OBSERVE_METRIC_SERIES_H_
