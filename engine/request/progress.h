// Reports a translation while it is in progress (TranslateProgress), in the order of the texts and
// their sentences, although jobs advance and end in any order.
//
//   jobs:      job 1 ends; job 0 is certain of "Der alte"; job 0 ends; ...
//   reported:  {text 0, "Der alte"}, {text 0, " Lehrer schläft.", sentence 0},
//              {text 0, " Gut so.", sentence 1}, {text 0, translation}, ...
//
// The reported pieces of a text add up to the text of its best hypothesis.  A text with markup is
// reported by whole sentences: until one is done, nobody knows where its marks go.  Those within
// tags are reported with the next one that is not.

#ifndef DRAGOMAN_ENGINE_REQUEST_PROGRESS_H_
#define DRAGOMAN_ENGINE_REQUEST_PROGRESS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "engine/base/pump.h"
#include "engine/decode/job.h"
#include "engine/request/plan.h"
#include "engine/request/rendering.h"
#include "engine/request/still_wanted.h"
#include "engine/request/translation.h"
#include "engine/text/tokenizer.h"

namespace dragoman {

// Thread-safe. `tell` is called by whichever thread has something to report, never by two at a time
// and not under a lock.
class ProgressTeller {
 public:
  // The others must outlive the teller; `results` has an element for each job of the plan.
  ProgressTeller(const Tokenizer* tokenizer, const TranslationPlan* plan,
                 const std::vector<JobResult>* results, StillWanted wanted, OnProgress tell);

  // A job is certain of the first tokens of its best hypothesis.
  void Stable(size_t job, absl::Span<const int32_t> tokens);

  // `results` holds the result of a job, which is OK.
  void Done(size_t job);

  // All jobs are done: reports the rest, unless another thread is doing so, then calls `last` on
  // the reporting thread.  INTERNAL if the end of a sentence did not agree with what had been
  // reported of it, which is a bug.  REQUIRES: called once, after the last Done.
  void Finish(std::function<void(absl::Status)> last);

 private:
  // What is known of a job.
  struct Known {
    std::vector<int32_t> stable;
    bool done = false;
  };

  void TellNews() ABSL_LOCKS_EXCLUDED(mutex_);
  bool Next(TranslateProgress* progress) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool NextOfSentence(const PlannedText& text, TranslateProgress* progress)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool NextOfMarked(const PlannedText& text, TranslateProgress* progress)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool RenderUntil(const PlannedText& text, size_t end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishText(const PlannedText& text, TranslateProgress* progress)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  const Hypothesis* BestOf(const PlannedSentence& sentence) const;
  FinishedSentence Finished(const PlannedText& text, std::string target, TextSpan span) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Span<const int32_t> Written(absl::Span<const int32_t> tokens) const;
  void Say(std::string_view more, TranslateProgress* progress)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Tokenizer& tokenizer_;
  const TranslationPlan& plan_;
  const std::vector<JobResult>& results_;
  const OnProgress tell_;

  Pump pump_;
  absl::Mutex mutex_;
  std::vector<Known> jobs_ ABSL_GUARDED_BY(mutex_);
  std::function<void(absl::Status)> last_ ABSL_GUARDED_BY(mutex_);
  StillWanted wanted_ ABSL_GUARDED_BY(mutex_);
  absl::Status fault_ ABSL_GUARDED_BY(mutex_);
  // Where the next report begins.
  size_t text_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t sentence_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t told_of_text_ ABSL_GUARDED_BY(mutex_) = 0;  // bytes
  bool begun_ ABSL_GUARDED_BY(mutex_) = false;       // the text before the sentence was reported
  size_t target_begin_ ABSL_GUARDED_BY(mutex_) = 0;  // where the sentence begins
  std::string told_ ABSL_GUARDED_BY(mutex_);         // of the sentence
  size_t looked_at_ ABSL_GUARDED_BY(mutex_) = 0;     // stable tokens of the sentence seen so far
  // Of a text with markup: its sentences in the order of their raw bytes, how many of them the
  // renderer knows, and how much is rendered with the next sentence.
  std::optional<Renderer> renderer_ ABSL_GUARDED_BY(mutex_);
  std::vector<size_t> in_raw_order_ ABSL_GUARDED_BY(mutex_);
  size_t known_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t frontier_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_PROGRESS_H_
