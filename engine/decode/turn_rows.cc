// A large model reads all its weights from memory in every step, so more rows cost next to nothing.
// Small models keep their weights in the cache, but not the keys and values of many sentences, and
// may be as fast with few rows as with many.
//
// A busy machine makes one measurement in a few wrong by a third: a neighbour on the same core
// comes or goes.  So numbers are compared within a round, and what counts is how many rounds one
// wins, not by how much.

#include "engine/decode/turn_rows.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/decode/decode_batch.h"

namespace dragoman {
namespace {

// What is tried, in this order: a large model has time for the first ones only.
constexpr int kRows[] = {kUsualRows, 64, 256, 32, 16};
// Each round tries all of them, a window of turns each.
constexpr int kRounds = 9, kWindowRows = 128;
// A number wins a round if it is so many times as fast as the usual one.  It may lose one round in
// four; what has lost more than it may lose in all rounds is not tried again.
constexpr double kClearly = 1.03;

constexpr int kBeamSize = 4;
constexpr int kSourceTokens = 16;
constexpr int kSteps = 16;  // per sentence

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

// Rows per second of a full batch in a window of turns.
double RunWindow(int rows, const Clock& clock, FullBatch* batch) {
  const int turns = std::max(1, kWindowRows / rows);
  const absl::Time start = clock();
  for (int turn = 0; turn < turns; ++turn) batch->Turn();
  return rows * turns / std::max(absl::ToDoubleSeconds(clock() - start), 1e-9);
}

// How many rounds a number has lost against the usual one.
size_t Lost(const std::vector<double>& speeds, const std::vector<double>& usual) {
  size_t lost = 0;
  for (size_t round = 0; round < speeds.size(); ++round) {
    lost += speeds[round] < kClearly * usual[round];
  }
  return lost;
}

}  // namespace

Clock TurnRowsClock(int threads) { return threads == 1 ? Clock(ThreadCpuTime) : Clock(absl::Now); }

RowSpeeds MeasureRowSpeeds(const std::shared_ptr<const Model>& model, int threads,
                           const Clock& clock, absl::Duration most) {
  const absl::Time end = clock() + most;
  DecodeScratch scratch(threads);
  std::map<int, FullBatch> batches;
  RowSpeeds speeds;
  const std::vector<double>& usual = speeds[kUsualRows];
  for (int round = 0; round < kRounds; ++round) {
    bool others = false;
    for (const int rows : kRows) {
      if (!usual.empty() && clock() >= end) return speeds;
      if (rows != kUsualRows && Lost(speeds[rows], usual) > kRounds / 4) continue;
      const auto [batch, is_new] =
          batches.try_emplace(rows, model, rows / kBeamSize, clock, &scratch);
      if (is_new) batch->second.Turn();  // begins with all sentences at once
      speeds[rows].push_back(RunWindow(rows, clock, &batch->second));
      others |= rows != kUsualRows;
    }
    if (!others) break;
  }
  return speeds;
}

int ChooseTurnRows(const RowSpeeds& speeds) {
  const std::vector<double>& usual = speeds.at(kUsualRows);
  int chosen = kUsualRows;
  double most = kClearly;
  for (const auto& [rows, own] : speeds) {
    if (rows == kUsualRows || Lost(own, usual) > own.size() / 4) continue;
    const double all = std::accumulate(own.begin(), own.end(), 0.0);
    const double usually = std::accumulate(usual.begin(), usual.begin() + own.size(), 0.0);
    if (all <= most * usually) continue;
    most = all / usually;
    chosen = rows;
  }
  return chosen;
}

}  // namespace dragoman
