// For the embedded model on one core of a 3.8 GHz Cascade Lake, see tests/bench/README.md.  Small
// models keep their weights in the cache and are as fast with few rows as with many, or faster,
// because the keys and values of many sentences do not stay in the cache.  A large model reads all
// its weights from memory in every step, so more rows cost next to nothing.

#include "engine/decode/turn_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/decode/decode_batch.h"

namespace dragoman {
namespace {

constexpr int kLeastRows = 8, kFirstRows = 64, kMostRows = 256;
constexpr int kBeamSize = 4;
constexpr int kSourceTokens = 16;
constexpr int kSteps = 16;  // per sentence
// A window of turns is timed as a whole.  The fastest of several counts; the others were disturbed.
// Windows hold the same work for any number of rows, or a busy machine would favour few rows, whose
// windows would be shorter and so more often undisturbed.
constexpr int kWarmUp = 2, kWindowRows = 256, kWindows = 4;

// A batch that is always full: a sentence that ends is replaced, as under load.
class FullBatch {
 public:
  FullBatch(const std::shared_ptr<const Model>& model, int sentences, const Clock& clock,
            DecodeScratch* scratch)
      : model_(model), batch_(model, clock, &observer_, scratch) {
    for (int i = 0; i < sentences; ++i) Add(1 + i * kSteps / sentences);
  }
  ~FullBatch() {
    for (const JobPtr& job : joining_) job->on_done = nullptr;
    request_->Cancel(absl::UnixEpoch());
    batch_.DropUnwanted();
  }

  void Turn() {
    batch_.Join(std::exchange(joining_, {}));
    batch_.Step();
  }

 private:
  // Adds a sentence that takes exactly this many steps.
  void Add(int steps) {
    const ModelSpec& spec = model_->spec();
    auto job = std::make_unique<Job>();
    job->model = model_;
    job->request = request_;
    const int tokens = std::min(kSourceTokens, spec.max_positions);
    for (int i = 1; i < tokens; ++i) {
      job->source.push_back((++number_ * 131) % spec.source_vocabulary);
    }
    job->source.push_back(spec.eos_id);
    job->options.beam_size = kBeamSize;
    job->options.max_length = std::min(steps, spec.max_positions);
    job->options.min_length = job->options.max_length - 1;
    auto rules = std::make_shared<SearchRules>();
    rules->eos_id = spec.eos_id;
    rules->decoder_start_id = spec.decoder_start_id;
    job->rules = std::move(rules);
    if (model_->shortlist() != nullptr) {
      job->shortlist = model_->shortlist()->TokensFor(job->source);
    }
    job->on_done = [this](const JobResult& result) {
      if (!absl::IsCancelled(result.status)) Add(kSteps);
    };
    Price({}, job.get());
    joining_.push_back(std::move(job));
  }

  const std::shared_ptr<const Model> model_;
  const std::shared_ptr<RequestState> request_ =
      std::make_shared<RequestState>(absl::InfiniteFuture());
  NullObserver observer_;
  DecodeBatch batch_;
  std::vector<JobPtr> joining_;
  int number_ = 0;
};

// Measures rows per second; after `end`, only the turns that are still needed are run.
double Speed(const std::shared_ptr<const Model>& model, int rows, const Clock& clock,
             absl::Time end, DecodeScratch* scratch) {
  FullBatch batch(model, rows / kBeamSize, clock, scratch);
  for (int turn = 0; turn < kWarmUp; ++turn) batch.Turn();
  double fastest = 0;
  const int most_turns = std::max(2, kWindowRows / rows);
  for (int window = 0; window < kWindows; ++window) {
    const absl::Time start = clock();
    int turns = 0;
    while (turns < most_turns && (turns < 2 || clock() < end)) {
      batch.Turn();
      ++turns;
    }
    const double seconds = absl::ToDoubleSeconds(clock() - start);
    fastest = std::max(fastest, rows * turns / std::max(seconds, 1e-9));
    if (clock() >= end) break;
  }
  return fastest;
}

}  // namespace

RowSpeeds MeasureRowSpeeds(const std::shared_ptr<const Model>& model, int threads,
                           const Clock& clock, absl::Duration most) {
  const absl::Time end = clock() + most;
  DecodeScratch scratch(threads);
  RowSpeeds speeds;
  double fastest = 0;
  const auto measure = [&](int rows) {
    speeds[rows] = Speed(model, rows, clock, end, &scratch);
    fastest = std::max(fastest, speeds[rows]);
  };
  measure(kFirstRows);
  for (int rows = kFirstRows / 2; rows >= kLeastRows; rows /= 2) {
    if (clock() >= end || speeds[2 * rows] < 0.95 * fastest) break;
    measure(rows);
  }
  for (int rows = kFirstRows * 2; rows <= kMostRows; rows *= 2) {
    if (clock() >= end || speeds[rows / 2] < 0.98 * fastest) break;
    measure(rows);
  }
  return speeds;
}

int ChooseTurnRows(const RowSpeeds& speeds) {
  double fastest = 0;
  for (const auto& [rows, speed] : speeds) fastest = std::max(fastest, speed);
  for (const auto& [rows, speed] : speeds) {
    if (speed >= 0.98 * fastest) return rows;
  }
  return speeds.rbegin()->first;
}

}  // namespace dragoman
