// batching-bench measures what continuous batching is worth.  The same engine serves the same
// arrivals twice:
//
//   continuous   as the server does: a sentence joins the running batch at any step
//   static       a worker takes up to --batch waiting sentences, runs them to the end and takes the
//                next ones; all sentences of a batch are answered when the batch ends.
//                `static_early` answers each of them as soon as it is translated.
//
// Short and long sentences arrive at random at a fixed rate.  A latency starts at the time when the
// sentence was due.  Prints one JSON object.

#include <algorithm>
#include <cmath>
#include <deque>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "engine/base/mutex_checks.h"
#include "engine/decode/decode_batch.h"
#include "engine/request/plan.h"
#include "engine/request/translator.h"
#include "nlohmann/json.hpp"

namespace dragoman {
namespace {

struct Flags {
  std::string model, short_input, long_input, precision = "auto";
  int workers = 2, batch = 32, beam_size = 1, seed = 1;
  double rate = 20, seconds = 20, long_share = 0.1;
};

struct Arrival {
  absl::Duration due;  // since the start
  bool is_long = false;
  std::string text;
};

// An answered sentence.
struct Answer {
  bool is_long = false;
  double seconds = 0;        // since it was due
  double early_seconds = 0;  // without waiting for the rest of its batch
};

absl::StatusOr<std::vector<std::string>> ReadLines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (lines.empty()) return absl::NotFoundError(path + " has no lines");
  return lines;
}

std::vector<Arrival> Arrivals(const Flags& flags, const std::vector<std::string>& short_texts,
                              const std::vector<std::string>& long_texts) {
  std::mt19937_64 random(flags.seed);
  std::exponential_distribution<double> pause(flags.rate);
  std::bernoulli_distribution is_long(flags.long_share);
  std::vector<Arrival> arrivals;
  for (double at = pause(random); at < flags.seconds; at += pause(random)) {
    Arrival arrival{absl::Seconds(at), is_long(random), ""};
    const std::vector<std::string>& texts = arrival.is_long ? long_texts : short_texts;
    arrival.text = texts[random() % texts.size()];
    arrivals.push_back(std::move(arrival));
  }
  return arrivals;
}

// Calls `serve` with each arrival when it is due.
template <typename Serve>
absl::Time Play(const std::vector<Arrival>& arrivals, const Serve& serve) {
  const absl::Time start = absl::Now();
  for (size_t i = 0; i < arrivals.size(); ++i) {
    // Until it arrives.
    absl::SleepFor(start + arrivals[i].due - absl::Now());
    serve(i, start + arrivals[i].due);
  }
  return start;
}

absl::StatusOr<std::vector<Answer>> RunContinuous(const std::shared_ptr<const Model>& model,
                                                  const Flags& flags,
                                                  const std::vector<Arrival>& arrivals) {
  Observer observer;
  WorkerPool pool(
      {.workers = flags.workers, .max_waiting_requests = 1 << 30, .max_waiting_tokens = 1 << 30},
      &observer);
  const Translator translator(model, &pool, Limits());
  std::vector<Answer> answers(arrivals.size());
  std::vector<absl::Status> failures(arrivals.size());
  absl::BlockingCounter left(static_cast<int>(arrivals.size()));
  Play(arrivals, [&](size_t i, absl::Time due) {
    translator.Translate({.texts = {arrivals[i].text}, .options = {.beam_size = flags.beam_size}},
                         absl::InfiniteFuture(), [&, i, due](TranslateResponse response) {
                           const double took = absl::ToDoubleSeconds(absl::Now() - due);
                           answers[i] = {arrivals[i].is_long, took, took};
                           failures[i] = response.status;
                           left.DecrementCount();
                         });
  });
  left.Wait();
  for (const absl::Status& status : failures) {
    if (!status.ok()) return status;
  }
  return answers;
}

// Workers that take batches from one queue.
class StaticServer {
 public:
  StaticServer(std::shared_ptr<const Model> model, const Flags& flags,
               const std::vector<Arrival>& arrivals)
      : model_(std::move(model)), flags_(flags), arrivals_(arrivals), answers_(arrivals.size()) {
    for (int i = 0; i < flags.workers; ++i) workers_.emplace_back([this] { Work(); });
  }

  void Enter(size_t index, absl::Time due) {
    absl::MutexLock lock(&mutex_);
    line_.push_back({index, due});
  }

  std::vector<Answer> Finish() {
    {
      absl::MutexLock lock(&mutex_);
      ending_ = true;
    }
    for (std::thread& worker : workers_) worker.join();
    return std::move(answers_);
  }

 private:
  struct Waiting {
    size_t index;
    absl::Time due;
  };

  void Work() {
    DecodeScratch scratch;
    while (true) {
      std::vector<Waiting> taken;
      {
        const auto called = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
          return !line_.empty() || ending_;
        };
        absl::MutexLock lock(&mutex_, absl::Condition(&called));
        if (line_.empty()) return;
        while (!line_.empty() && static_cast<int>(taken.size()) < flags_.batch) {
          taken.push_back(line_.front());
          line_.pop_front();
        }
      }
      RunBatch(taken, &scratch);
    }
  }

  void RunBatch(const std::vector<Waiting>& taken, DecodeScratch* scratch) {
    std::vector<JobPtr> jobs;
    for (const Waiting& waiting : taken) {
      absl::StatusOr<TranslationPlan> plan = MakePlan(
          context_,
          {{.texts = {arrivals_[waiting.index].text}, .options = {.beam_size = flags_.beam_size}}},
          std::make_shared<RequestState>(absl::InfiniteFuture()));
      DRAGOMAN_CHECK(plan.ok() && plan->jobs.size() == 1);
      Price(1.25, nullptr, plan->jobs[0].get());
      plan->jobs[0]->on_done = [this, waiting](const JobResult& result) {
        DRAGOMAN_CHECK(result.status.ok());
        answers_[waiting.index].early_seconds = absl::ToDoubleSeconds(absl::Now() - waiting.due);
      };
      jobs.push_back(std::move(plan->jobs[0]));
    }
    DecodeBatch batch(model_, absl::Now, &observer_, scratch);
    batch.Join(std::move(jobs));
    while (!batch.empty()) batch.Step();
    for (const Waiting& waiting : taken) {
      answers_[waiting.index].is_long = arrivals_[waiting.index].is_long;
      answers_[waiting.index].seconds = absl::ToDoubleSeconds(absl::Now() - waiting.due);
    }
  }

  const std::shared_ptr<const Model> model_;
  const Flags flags_;
  const std::vector<Arrival>& arrivals_;
  const PlanContext context_ = {
      model_, Limits(),
      MakeRules(model_->generation(), model_->spec(), model_->tokenizer().target_unknown_id()),
      std::make_shared<LazyPieces>()};
  Observer observer_;
  std::vector<Answer> answers_;  // each written by one worker
  absl::Mutex mutex_;
  std::deque<Waiting> line_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> workers_;
};

nlohmann::ordered_json Percentiles(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  nlohmann::ordered_json report = {{"sentences", seconds.size()}};
  for (const auto& [name, p] : {std::pair("p50", 0.5), {"p99", 0.99}, {"max", 1.0}}) {
    const size_t rank = static_cast<size_t>(std::ceil(p * static_cast<double>(seconds.size())));
    report[name] = seconds.empty() ? 0.0 : seconds[std::max<size_t>(1, rank) - 1];
  }
  return report;
}

nlohmann::ordered_json Summary(const std::vector<Answer>& answers, double Answer::*seconds) {
  std::vector<double> of_kind[2];
  for (const Answer& answer : answers) of_kind[answer.is_long].push_back(answer.*seconds);
  return {{"short", Percentiles(of_kind[0])}, {"long", Percentiles(of_kind[1])}};
}

absl::Status Bench(const Flags& flags) {
  ASSIGN_OR_RETURN(const auto short_texts, ReadLines(flags.short_input));
  ASSIGN_OR_RETURN(const auto long_texts, ReadLines(flags.long_input));
  ModelOptions options;
  ASSIGN_OR_RETURN(options.precision, ParsePrecision(flags.precision));
  ASSIGN_OR_RETURN(const auto model, Model::Load("bench", flags.model, options));
  const std::vector<Arrival> arrivals = Arrivals(flags, short_texts, long_texts);
  ASSIGN_OR_RETURN(const std::vector<Answer> continuous, RunContinuous(model, flags, arrivals));
  StaticServer server(model, flags, arrivals);
  Play(arrivals, [&](size_t i, absl::Time due) { server.Enter(i, due); });
  const std::vector<Answer> in_batches = server.Finish();
  const nlohmann::ordered_json report = {
      {"rate", flags.rate},
      {"long_share", flags.long_share},
      {"workers", flags.workers},
      {"batch", flags.batch},
      {"beam_size", flags.beam_size},
      {"continuous", Summary(continuous, &Answer::seconds)},
      {"static", Summary(in_batches, &Answer::seconds)},
      {"static_early", Summary(in_batches, &Answer::early_seconds)},
  };
  std::cout << report.dump() << std::endl;
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app("Serves the same arrivals by continuous and by static batching.");
  Flags flags;
  app.add_option("--model", flags.model, "Model directory")->required();
  app.add_option("--short", flags.short_input, "File of short sentences")->required();
  app.add_option("--long", flags.long_input, "File of long sentences")->required();
  app.add_option("--long-share", flags.long_share, "Of the arrivals")->capture_default_str();
  app.add_option("--rate", flags.rate, "Sentences a second")->capture_default_str();
  app.add_option("--seconds", flags.seconds, "Of each of the two runs")->capture_default_str();
  app.add_option("--workers", flags.workers, "Workers")->capture_default_str();
  app.add_option("--batch", flags.batch, "The most sentences of a static batch")
      ->capture_default_str();
  app.add_option("--beam-size", flags.beam_size, "1 is greedy")->capture_default_str();
  app.add_option("--precision", flags.precision, "auto, float32, bfloat16 or int8")
      ->capture_default_str();
  app.add_option("--seed", flags.seed, "Of the arrivals")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (const absl::Status status = Bench(flags); !status.ok()) {
    std::cerr << "batching-bench: " << std::string(status.message()) << std::endl;
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
