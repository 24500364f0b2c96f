#include "server/capacity.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "engine/base/machine.h"
#include "engine/base/status.h"
#include "engine/request/translator.h"
#include "server/observe/process_stats.h"

namespace dragoman {
namespace {

// ---- The model: latency over load -----------------------------------------------------------

// At this share of what saturates a server, the 99th percentile is so many times that of an idle
// one: the worse of the two models of docs/load.md.
struct Point {
  double utilization;
  double stretch;
};
constexpr Point kCurve[] = {{.10, 1.9}, {.25, 2.0}, {.50, 2.1}, {.70, 5.1}, {.80, 5.4}};
constexpr double kUsual = .70;  // where nobody says how long it may take

// What a request costs the server beside the engine (docs/load.md: 0.1 to 0.2 ms).
constexpr double kSecondsOfARequest = .0002;

// The most that the cores may be used for this stretch; 0 if it is too little at any load.
double UtilizationFor(double stretch) {
  if (stretch < kCurve[0].stretch) return 0;
  for (size_t i = 1; i < std::size(kCurve); ++i) {
    const Point &a = kCurve[i - 1], &b = kCurve[i];
    if (stretch >= b.stretch) continue;
    return a.utilization +
           (b.utilization - a.utilization) * (stretch - a.stretch) / (b.stretch - a.stretch);
  }
  return std::rbegin(kCurve)->utilization;
}

// The same for the p99 of a load, if a sentence alone takes so long.
absl::StatusOr<double> UtilizationFor(const OfferedLoad& load, absl::Duration alone) {
  if (load.p99 == absl::InfiniteDuration()) return kUsual;
  const double utilization = UtilizationFor(absl::FDivDuration(load.p99, alone));
  if (utilization > 0) return utilization;
  return absl::FailedPreconditionError(absl::StrFormat(
      "plan: p99=%s cannot be had by more cores: a sentence alone takes up to %.1f ms, and under "
      "the least load 1 in 100 takes %.1f times that",
      absl::FormatDuration(load.p99), absl::ToDoubleMilliseconds(alone), kCurve[0].stretch));
}

// ---- The load -------------------------------------------------------------------------------

absl::Status Wrong(const std::string& part, const char* want) {
  return InvalidArgumentError("plan: \"", part, "\" is not ", want);
}

// "200sentences/s".
absl::Status ParseRate(const std::string& text, double* sentences, double* words) {
  constexpr char kWant[] =
      "a load, want for example 200sentences/s or 50000words/min, then ,words=25,p99=500ms";
  const size_t unit = text.find_first_not_of("0123456789.");
  const size_t slash = text.find('/');
  double number = 0;
  if (unit == text.npos || slash == text.npos || slash < unit ||
      !absl::SimpleAtod(text.substr(0, unit), &number) || !(number > 0)) {
    return Wrong(text, kWant);
  }
  const std::string what = text.substr(unit, slash - unit), time = text.substr(slash + 1);
  const double seconds = time == "s" ? 1 : time == "min" ? 60 : time == "h" ? 3600 : 0;
  if ((what != "sentences" && what != "words") || seconds == 0) return Wrong(text, kWant);
  (what == "words" ? *words : *sentences) = number / seconds;
  return absl::OkStatus();
}

absl::Status SetPart(const std::string& part, OfferedLoad* load) {
  const auto [key, value] =
      std::pair<std::string, std::string>(absl::StrSplit(part, absl::MaxSplits('=', 1)));
  if (key == "words") {
    if (absl::SimpleAtoi(value, &load->words) && load->words >= 1 && load->words <= 200) return {};
    return Wrong(part, "words=1 to words=200");
  }
  if (key == "beam") {
    if (absl::SimpleAtoi(value, &load->beam_size) && load->beam_size >= 1) return {};
    return Wrong(part, "a beam size");
  }
  if (key == "p99") {
    if (absl::ParseDuration(value, &load->p99) && load->p99 > absl::ZeroDuration()) return {};
    return Wrong(part, "a duration, want for example p99=500ms");
  }
  for (const auto& [name, field] :
       {std::pair("from", &load->source_language), std::pair("to", &load->target_language),
        std::pair("text", &load->text)}) {
    if (key != name) continue;
    *field = value;
    return absl::OkStatus();
  }
  return Wrong(part, "one of words=, p99=, beam=, from=, to=, text=");
}

// ---- The measurement ------------------------------------------------------------------------

// English of the usual kind: its words in a row, from anywhere on, make sentences of any length.
constexpr char kEnglish[] =
    "the new bridge over the river will be opened next week by the mayor of the city because the "
    "old one was damaged in the storm last winter and many people who live on the other side had "
    "to take a long way to their work every morning until the engineers found that most of its "
    "stones could be used again";

int CountWords(const std::string& text) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipWhitespace());
  return static_cast<int>(words.size());
}

// Translates sentences, a number of them at a time.
class Measurement {
 public:
  Measurement(const Translator* translator, const OfferedLoad& load,
              std::vector<std::string> sentences)
      : translator_(*translator), load_(load), sentences_(std::move(sentences)) {}
  ~Measurement() { AwaitAtMost(0).IgnoreError(); }

  // One after the other; returns the longest time.
  absl::StatusOr<absl::Duration> Alone(int sentences) {
    absl::Duration longest;
    for (int i = 0; i < sentences; ++i) {
      const absl::Time start = absl::Now();
      RETURN_IF_ERROR(Add(1));
      RETURN_IF_ERROR(AwaitAtMost(0));
      longest = std::max(longest, absl::Now() - start);
    }
    return longest;
  }

  // Keeps so many in flight for that long; returns the CPU time of a sentence.
  absl::StatusOr<double> Busy(int in_flight, absl::Duration time) {
    const double before = ReadProcessStats().cpu_seconds;
    const absl::Time end = absl::Now() + time;
    int sentences = 0;
    for (; absl::Now() < end; ++sentences) RETURN_IF_ERROR(Add(in_flight));
    RETURN_IF_ERROR(AwaitAtMost(0));
    return (ReadProcessStats().cpu_seconds - before) / sentences;
  }

 private:
  // Starts a sentence, once fewer than `most` are in flight.
  absl::Status Add(int most) {
    RETURN_IF_ERROR(AwaitAtMost(most - 1));
    TranslateRequest request = {.texts = {sentences_[next_++ % sentences_.size()]},
                                .source_language = load_.source_language,
                                .target_language = load_.target_language};
    if (load_.beam_size > 0) request.options.beam_size = load_.beam_size;
    {
      absl::MutexLock lock(&mutex_);
      ++open_;
    }
    translator_.Translate(std::move(request), absl::InfiniteFuture(),
                          [this](TranslateResponse response) {
                            absl::MutexLock lock(&mutex_);
                            --open_;
                            first_error_.Update(response.status);
                          });
    return absl::OkStatus();
  }

  // Returns the first error.
  absl::Status AwaitAtMost(int most) {
    absl::MutexLock lock(&mutex_);
    const auto few = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return open_ <= most; };
    mutex_.Await(absl::Condition(&few));
    return first_error_;
  }

  const Translator& translator_;
  const OfferedLoad& load_;
  const std::vector<std::string> sentences_;
  size_t next_ = 0;
  absl::Mutex mutex_;
  int open_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status first_error_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<MeasuredWorker> MeasureWorker(const ServerOptions& options,
                                             const ModelSource& source, const OfferedLoad& load,
                                             std::vector<std::string> sentences) {
  constexpr int kAlone = 40, kInFlight = 32;
  constexpr absl::Duration kWarmUp = absl::Seconds(1), kTime = absl::Seconds(4);
  ASSIGN_OR_RETURN(std::shared_ptr<const Model> model,
                   Model::Load(source.name, source.directory,
                               {.precision = options.precision,
                                .matmul = options.matmul,
                                .keys_values = options.keys_values,
                                .shortlist = source.shortlist,
                                .lora = source.lora}));
  WorkerPoolOptions pool_options = options.pool;
  pool_options.workers = 1;
  pool_options.cache_bytes = 0;
  MeasuredWorker worker;
  const double loaded = ReadProcessStats().resident_bytes;
  Observer nobody;
  WorkerPool pool(pool_options, &nobody);
  const Translator translator(std::move(model), &pool, options.limits);
  Measurement measurement(&translator, load, std::move(sentences));
  RETURN_IF_ERROR(measurement.Busy(kInFlight, kWarmUp).status());
  ASSIGN_OR_RETURN(worker.alone, measurement.Alone(kAlone));
  RETURN_IF_ERROR(UtilizationFor(load, worker.alone).status());  // before it takes longer
  ASSIGN_OR_RETURN(worker.cpu_seconds, measurement.Busy(kInFlight, kTime));
  worker.model_bytes = ReadProcessStats().resident_bytes;
  worker.worker_bytes = std::max(0.0, worker.model_bytes - loaded);
  return worker;
}

const ModelSource& DefaultModel(const ServerOptions& options) {
  for (const ModelSource& model : options.models) {
    if (model.name == options.default_model) return model;
  }
  return options.models.front();
}

}  // namespace

absl::StatusOr<OfferedLoad> ParseLoad(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  OfferedLoad load;
  double words = 0;
  RETURN_IF_ERROR(ParseRate(parts.front(), &load.sentences_per_second, &words));
  for (size_t i = 1; i < parts.size(); ++i) RETURN_IF_ERROR(SetPart(parts[i], &load));
  if (!load.text.empty()) {
    ASSIGN_OR_RETURN(const std::vector<std::string> sentences, SampleSentences(load));
    const double mean =
        CountWords(absl::StrJoin(sentences, " ")) / static_cast<double>(sentences.size());
    load.words = std::max(1, static_cast<int>(std::lround(mean)));
  }
  if (words > 0) load.sentences_per_second = words / load.words;
  return load;
}

absl::StatusOr<std::vector<std::string>> SampleSentences(const OfferedLoad& load) {
  std::vector<std::string> sentences;
  if (load.text.empty()) {
    const std::vector<std::string> words = absl::StrSplit(kEnglish, ' ');
    for (size_t first = 0; first < words.size(); ++first) {
      std::string& sentence = sentences.emplace_back();
      for (int i = 0; i < load.words; ++i) {
        absl::StrAppend(&sentence, i == 0 ? "" : " ", words[(first + i) % words.size()]);
      }
      sentence += ".";
    }
    return sentences;
  }
  std::ifstream file(load.text);
  if (!file) return NotFoundError("plan: cannot read ", load.text);
  for (std::string line; std::getline(file, line);) {
    if (CountWords(line) > 0) sentences.push_back(line);
  }
  if (sentences.empty()) return InvalidArgumentError("plan: no sentence is in ", load.text);
  return sentences;
}

absl::StatusOr<CapacityPlan> PlanCapacity(const OfferedLoad& load, const MeasuredWorker& worker,
                                          int machine_cores) {
  CapacityPlan plan;
  ASSIGN_OR_RETURN(plan.utilization, UtilizationFor(load, worker.alone));
  plan.busy_cores = load.sentences_per_second * (worker.cpu_seconds + kSecondsOfARequest);
  const double cores = std::max(1.0, std::ceil(plan.busy_cores / plan.utilization));
  if (cores > 1e6) return absl::InvalidArgumentError("plan: the load needs over a million cores");
  plan.cores = static_cast<int>(cores);
  plan.replicas = (plan.cores + machine_cores - 1) / machine_cores;
  plan.cores_each = (plan.cores + plan.replicas - 1) / plan.replicas;
  plan.bytes_each = worker.model_bytes + (plan.cores_each - 1) * worker.worker_bytes;
  return plan;
}

absl::Status PrintPlan(const ServerOptions& options, const std::string& text, std::ostream* out) {
  ASSIGN_OR_RETURN(const OfferedLoad load, ParseLoad(text));
  ASSIGN_OR_RETURN(std::vector<std::string> sentences, SampleSentences(load));
  const ModelSource& source = DefaultModel(options);
  ASSIGN_OR_RETURN(const MeasuredWorker worker,
                   MeasureWorker(options, source, load, std::move(sentences)));
  ASSIGN_OR_RETURN(const CapacityPlan plan, PlanCapacity(load, worker, AvailableCores()));
  *out << absl::StrFormat(
      "load         %.4g sentences/s of %d words\n"
      "model        %s: %.0f sentences a CPU second; one alone takes up to %.1f ms\n"
      "utilization  %.0f %% of the cores%s\n"
      "cores        %d, of which %.1f are busy\n"
      "replicas     %d of %d cores each, and one more that may fail\n"
      "memory       %.0f MB each\n",
      load.sentences_per_second, load.words, source.name, 1 / worker.cpu_seconds,
      absl::ToDoubleMilliseconds(worker.alone), 100 * plan.utilization,
      load.p99 < absl::InfiniteDuration()
          ? absl::StrCat(", for a p99 of ", absl::FormatDuration(load.p99))
          : "",
      plan.cores, plan.busy_cores, plan.replicas, plan.cores_each, plan.bytes_each / 1e6);
  return absl::OkStatus();
}

}  // namespace dragoman
