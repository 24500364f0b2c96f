// The sentences that one worker is translating with one model, all at once.  The batch has no
// beginning and no end: a sentence joins before any step and leaves after the step that finishes
// it, and the others do not notice (the row law).
//
//   batch.Join(jobs);                     encoder, cross-attention keys and values, an empty search
//   while (!batch.empty()) batch.Step();  one token for every live hypothesis of every sentence
//
// A sentence may also pause for any number of steps; its translation is the same.
//
// Belongs to one worker's thread.

#ifndef DRAGOMAN_ENGINE_DECODE_DECODE_BATCH_H_
#define DRAGOMAN_ENGINE_DECODE_DECODE_BATCH_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/decode/job.h"
#include "engine/decode/observer.h"
#include "engine/decode/scheduler.h"
#include "engine/search/logits.h"
#include "engine/search/search.h"

namespace dragoman {

// A worker's current load, counting each sentence at the most that it can grow to.
struct BatchLoad {
  int rows = 0;
  size_t kv_bytes = 0;
};

// The threads and the memory of a worker's batches.
struct DecodeScratch {
  explicit DecodeScratch(int threads = 1, size_t kv_capacity_bytes = KvPool::kUnlimited)
      : workspace(threads), kv_pool(kv_capacity_bytes) {}

  Workspace workspace;
  KvPool kv_pool;
  TokenBatch source;
  Matrix<float> encoded;  // [source tokens, d_model]
  std::vector<StepRow> rows;
  std::vector<int> parents;        // of a sentence's next hypotheses
  std::vector<RowRanker> rankers;  // at least one for each row that is scored
  int ranked = 0;                  // how many of them this step has used
  std::vector<Candidate> candidates;
};

// Where a job goes that has left its batch, with its result: has to call the job's Finish.
using JobSink = std::function<void(Job* job, JobResult result)>;

class DecodeBatch {
 public:
  // `observer` and `scratch` must outlive the batch; several batches of one thread may share a
  // scratch.
  DecodeBatch(
      std::shared_ptr<const Model> model, const Clock& clock, Observer* observer,
      DecodeScratch* scratch,
      JobSink sink = [](Job* job, JobResult result) { job->Finish(std::move(result)); });
  // REQUIRES: the batch is empty.
  ~DecodeBatch();

  // Encodes the jobs' sentences and adds them.  REQUIRES: the jobs are for this model.
  void Join(std::vector<JobPtr> jobs);

  // Adds a sentence that is to be encoded in stages; the next Encode runs `stages` of them.
  void JoinUnencoded(JobPtr job, int stages);

  // Runs the stages that JoinUnencoded and SetRunning have granted.  A sentence that is fully
  // encoded runs.
  void Encode();

  // Finishes the jobs that were cancelled or are too late.
  void DropUnwanted();

  // One decoding step of the running sentences; finishes the jobs that it completes.  REQUIRES:
  // runs().
  void Step();

  // Appends the sentences, in the order in which they joined.
  void AppendResidents(std::vector<Resident>* residents) const;
  // Sets which of the sentences run from now on, and how many stages of the others are encoded:
  // residents[first] for the first sentence, and so on.  Returns the index after the last one used.
  // A sentence that joins is running.
  size_t SetRunning(absl::Span<const Resident> residents, size_t first);
  bool runs() const;

  bool empty() const { return sentences_.empty(); }
  // What the sentences in the batch have reserved.
  const BatchLoad& load() const { return load_; }

 private:
  struct Sentence;

  void Encode(Sentence* sentence);
  void GatherRows();
  void GatherRows(Sentence* sentence);
  static absl::Span<const int32_t> TokensOf(const LiveHypothesis& live, Sentence* sentence);
  RowRanker* NextRanker();
  static void FinishMargins(const Sentence& sentence, int i, size_t first,
                            std::vector<Candidate>* candidates);
  void Advance(Sentence* sentence, int first_ranker);
  void AdvanceDraft(Sentence* sentence, int first_ranker);
  static void KeepDrafted(const Sentence& sentence, int chosen, size_t place,
                          std::vector<Candidate>* candidates);
  bool BeginReplay(Sentence* sentence);
  void BeginHypothesis(Sentence* sentence);
  void GatherReplay(Sentence* sentence);
  void AdvanceReplay(Sentence* sentence, int first_ranker);
  void TellStable(Sentence* sentence);
  void Finish(Sentence* sentence, absl::Status status);

  const std::shared_ptr<const Model> model_;
  const Clock clock_;
  Observer* const observer_;
  DecodeScratch* const scratch_;
  const JobSink sink_;
  std::vector<std::unique_ptr<Sentence>> sentences_;  // in the order in which they joined
  BatchLoad load_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_DECODE_BATCH_H_
