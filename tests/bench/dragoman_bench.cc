// dragoman-bench measures how fast the engine alone translates a file, without a network.  It keeps
// a fixed number of sentences in flight, each a request of its own, until all are translated, and
// prints one JSON object.

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "engine/base/mutex_checks.h"
#include "engine/request/translator.h"
#include "nlohmann/json.hpp"

namespace dragoman {
namespace {

struct Flags {
  std::string model, input, precision = "auto", keys_values = "auto", matmul = "auto", shortlist;
  int workers = 1, threads_per_worker = 1, max_batch_rows = 0, in_flight = 64, repeat = 1;
  DecodingOptions options;
};

struct Usage {
  double cpu_seconds = 0;
  int64_t peak_rss_bytes = 0;
  int64_t page_faults = 0;
};

Usage ReadUsage() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return t.tv_sec + t.tv_usec * 1e-6; };
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), int64_t{usage.ru_maxrss} * 1024,
          usage.ru_minflt + usage.ru_majflt};
}

// A model with random weights repeats itself, and yet must write translations of the requested
// lengths.
DecodingOptions WithoutGuard(DecodingOptions options) {
  options.repetition_guard = false;
  return options;
}

// Translates all lines with `in_flight` of them in the engine at any time.
class Run {
 public:
  Run(const Translator& translator, const DecodingOptions& options, std::vector<std::string> lines)
      : translator_(translator),
        options_(WithoutGuard(options)),
        lines_(std::move(lines)),
        steady_(lines_.size() / 2),
        left_(static_cast<int>(lines_.size())) {}

  void Finish(int in_flight) {
    for (int i = 0; i < in_flight; ++i) StartNext();
    left_.Wait();
  }

  absl::Status status() {
    absl::MutexLock lock(&mutex_);
    return status_;
  }
  int64_t source_tokens = 0, target_tokens = 0;
  Usage at_half;                  // when half of the lines were translated
  std::vector<double> latencies;  // seconds

 private:
  void StartNext() {
    size_t line;
    {
      absl::MutexLock lock(&mutex_);
      if (next_ == lines_.size()) return;
      line = next_++;
    }
    const absl::Time start = absl::Now();
    translator_.Translate({.texts = {lines_[line]}, .options = options_}, absl::InfiniteFuture(),
                          [this, start](TranslateResponse response) {
                            Done(response, absl::ToDoubleSeconds(absl::Now() - start));
                          });
  }

  void Done(const TranslateResponse& response, double latency) {
    {
      absl::MutexLock lock(&mutex_);
      status_.Update(response.status);
      latencies.push_back(latency);
      if (latencies.size() == steady_) at_half = ReadUsage();
      for (const Translation& translation : response.translations) {
        source_tokens += translation.source_tokens;
        // Counts the best hypothesis, with its end of sentence unless it reached the maximum
        // length.
        const TranslatedHypothesis& best = translation.hypotheses[0];
        target_tokens += static_cast<int64_t>(best.token_ids.size());
        if (best.finish_reason == FinishReason::kEos) ++target_tokens;
      }
    }
    StartNext();
    left_.DecrementCount();
  }

  const Translator& translator_;
  const DecodingOptions options_;
  const std::vector<std::string> lines_;
  const size_t steady_;
  absl::BlockingCounter left_;
  absl::Mutex mutex_;
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

double Percentile(const std::vector<double>& sorted, double p) {
  const size_t rank = static_cast<size_t>(std::ceil(p * static_cast<double>(sorted.size())));
  return sorted[std::clamp<size_t>(rank, 1, sorted.size()) - 1];
}

absl::StatusOr<std::vector<std::string>> ReadLines(const Flags& flags) {
  std::ifstream file(flags.input);
  if (!file) return absl::NotFoundError("cannot read " + flags.input);
  std::vector<std::string> once, lines;
  for (std::string line; std::getline(file, line);) once.push_back(line);
  if (once.empty()) return absl::InvalidArgumentError(flags.input + " has no lines");
  for (int i = 0; i < flags.repeat; ++i) lines.insert(lines.end(), once.begin(), once.end());
  return lines;
}

absl::StatusOr<ModelOptions> ModelOptionsOf(const Flags& flags) {
  ModelOptions options;
  ASSIGN_OR_RETURN(options.precision, ParsePrecision(flags.precision));
  ASSIGN_OR_RETURN(options.matmul, ParseMatmul(flags.matmul));
  ASSIGN_OR_RETURN(options.keys_values, ParsePrecision(flags.keys_values));
  if (!flags.shortlist.empty()) {
    ASSIGN_OR_RETURN(options.shortlist, ParseShortlistSource(flags.shortlist));
  }
  return options;
}

nlohmann::ordered_json Percentiles(std::vector<double> latencies) {
  std::sort(latencies.begin(), latencies.end());
  nlohmann::ordered_json percentiles;
  for (const auto& [name, p] : {std::pair("p50", 0.5), {"p90", 0.9}, {"p99", 0.99}, {"max", 1.0}}) {
    percentiles[name] = Percentile(latencies, p);
  }
  return percentiles;
}

absl::Status Bench(const Flags& flags) {
  ASSIGN_OR_RETURN(std::vector<std::string> lines, ReadLines(flags));
  ASSIGN_OR_RETURN(const ModelOptions options, ModelOptionsOf(flags));
  const absl::Time load_start = absl::Now();
  ASSIGN_OR_RETURN(const auto model, Model::Load("bench", flags.model, options));
  const double load_seconds = absl::ToDoubleSeconds(absl::Now() - load_start);

  Observer observer;
  WorkerPool pool({.workers = flags.workers,
                   .threads_per_worker = flags.threads_per_worker,
                   .max_waiting_requests = std::max(256, flags.in_flight),
                   .max_waiting_tokens = 1 << 30,
                   .max_batch_rows = flags.max_batch_rows},
                  &observer);
  const Translator translator(model, &pool, Limits());
  const auto sentences = lines.size();
  Run run(translator, flags.options, std::move(lines));
  const Usage before = ReadUsage();
  const absl::Time start = absl::Now();
  run.Finish(flags.in_flight);
  const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
  const Usage after = ReadUsage();
  RETURN_IF_ERROR(run.status());

  const double cpu_seconds = after.cpu_seconds - before.cpu_seconds;
  const nlohmann::ordered_json report = {
      {"sentences", sentences},
      {"source_tokens", run.source_tokens},
      {"target_tokens", run.target_tokens},
      {"seconds", seconds},
      {"cpu_seconds", cpu_seconds},
      {"target_tokens_per_cpu_second", static_cast<double>(run.target_tokens) / cpu_seconds},
      {"load_seconds", load_seconds},
      {"peak_rss_bytes", after.peak_rss_bytes},
      {"page_faults", after.page_faults - before.page_faults},
      {"page_faults_of_second_half", after.page_faults - run.at_half.page_faults},
      {"latency_seconds", Percentiles(std::move(run.latencies))},
      {"precision", NameOf(model->precision())},
      {"matmul", model->matmul()},
      {"isa", model->matmul_isa()},
      {"workers", pool.workers()},
      {"threads_per_worker", flags.threads_per_worker},
      {"in_flight", flags.in_flight},
      {"batch_rows", pool.max_batch_rows()},
  };
  std::cout << report.dump() << std::endl;
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app("Translates a file with the engine alone and prints how fast, as one JSON object.");
  Flags flags;
  app.add_option("--model", flags.model, "Model directory")->required();
  app.add_option("--input", flags.input, "File of sentences, one on each line")->required();
  app.add_option("--precision", flags.precision, "auto, float32, bfloat16 or int8")
      ->capture_default_str();
  app.add_option("--matmul", flags.matmul, "auto, onednn or native")->capture_default_str();
  app.add_option("--kv-cache-precision", flags.keys_values, "auto, float32, bfloat16 or int8")
      ->capture_default_str();
  app.add_option("--shortlist", flags.shortlist,
                 "A vocabulary shortlist, FILE[:FIRST,BEST]; default: the whole vocabulary");
  app.add_option("--workers", flags.workers, "Workers; 0: the cores / --threads-per-worker")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  app.add_option("--threads-per-worker", flags.threads_per_worker, "That share a worker's steps")
      ->capture_default_str()
      ->check(CLI::Range(1, ThreadTeam::kMaxSize));
  app.add_option("--max-batch-rows", flags.max_batch_rows,
                 "Hypotheses that a worker decodes in one turn; 0: 128")
      ->capture_default_str()
      ->check(CLI::Range(0, 65536));
  app.add_option("--in-flight", flags.in_flight, "Sentences in the engine at any time")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  app.add_option("--repeat", flags.repeat, "How often to translate the file")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  app.add_option("--beam-size", flags.options.beam_size, "1 is greedy; default: the model's own");
  app.add_option("--min-length", flags.options.min_length, "Tokens without eos");
  app.add_option("--max-length", flags.options.max_length, "Tokens with eos");
  CLI11_PARSE(app, argc, argv);
  if (const absl::Status status = Bench(flags); !status.ok()) {
    std::cerr << "dragoman-bench: " << std::string(status.message()) << std::endl;
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace dragoman

int main(int argc, char** argv) {
  dragoman::DisableMutexChecks();
  return dragoman::Main(argc, argv);
}
