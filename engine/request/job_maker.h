// From a sentence to the job that translates it: its search options, lengths, prefix, phrases and
// shortlist.
//
// What all sentences of a request share (search options, word rules, the glossary) is resolved
// once, by Prepare.  An error names the offending field.

#ifndef DRAGOMAN_ENGINE_REQUEST_JOB_MAKER_H_
#define DRAGOMAN_ENGINE_REQUEST_JOB_MAKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/decode/job.h"
#include "engine/request/glossary.h"
#include "engine/request/plan.h"
#include "engine/request/previous.h"
#include "engine/request/still_wanted.h"
#include "engine/request/translation.h"
#include "engine/text/marked_sentence.h"
#include "engine/text/tokenizer.h"

namespace dragoman {

// "contents[2]": how errors name a text of a request.
std::string TextField(size_t text);

class JobMaker {
 public:
  // All but `state` outlive this.  What is no longer wanted ends early, with its error.
  JobMaker(const PlanContext& context, const TranslateRequest& request,
           std::shared_ptr<RequestState> state, StillWanted* wanted)
      : context_(context), request_(request), state_(std::move(state)), wanted_(wanted) {}

  // Resolves what all sentences have in common.  The languages are in the model's codes.
  absl::Status Prepare(const Frame& frame, const LanguagePair& languages);

  const SearchOptions& search() const { return search_; }  // without the lengths

  // From now on, the stand-ins of `marks` must be said, so that it is known where what they stand
  // for belongs; those of the sentence before need not.
  void SetStandIns(const std::vector<SentenceMark>& marks);

  // From now on, drafts come from this version of the text, which outlives the jobs' making.
  void SetPrevious(PreviousVersion previous) { previous_ = std::move(previous); }

  // Whether Make needs to know where tokens come from.
  bool places_terms() const;

  // The job for one sentence of text number `text`, which the model reads as `source`, tokens with
  // these bytes of it; none if they are not known.
  absl::StatusOr<JobPtr> Make(std::vector<int32_t> source, absl::Span<const TextSpan> spans,
                              size_t text, std::string_view sentence);

  // The job that reads a translation of a sentence, which the model reads as `source`, for its
  // attention; null if it is too long.
  JobPtr MakeReading(std::vector<int32_t> source, const std::string& target) const;

  // A copy of a job for a sentence, which is made of these tokens with these bytes, that repairs
  // what a memory has for it (repair.h); null if it must be translated plainly.
  JobPtr MakeRepair(const Job& plain, const MemoryMatch& match, std::string_view sentence,
                    absl::Span<const TextSpan> tokens) const;

  // The terms of the sentence that was made last, with their bytes of it.
  std::vector<FoundTerm> TakeTerms() { return std::exchange(terms_, {}); }

 private:
  const Model& model() const { return *context_.model; }
  absl::Status PrepareGlossary(const LanguagePair& languages);
  bool SearchesForPhrases() const;
  void KeepPhrasesWhole();
  JobPtr NewJob(std::vector<int32_t> source) const;
  bool SetUpForced(const std::string& target, Job* job) const;
  absl::Status SetUpScore(size_t text, Job* job) const;
  absl::Status SetUpSearch(size_t text, std::string_view sentence, Job* job);
  absl::Status AddPrefix(size_t text, Job* job) const;
  absl::Status AddPhrases(size_t text, std::string_view sentence, Job* job);
  absl::StatusOr<size_t> AddTerms(size_t text, Job* job) const;
  absl::Status CheckRepetitions(size_t text, const Job& job) const;
  void AddShortlist(Job* job) const;
  std::vector<int32_t> Beginning(const std::string& text) const;

  const PlanContext& context_;
  const TranslateRequest& request_;
  const std::shared_ptr<RequestState> state_;
  StillWanted* const wanted_;
  SearchOptions search_;
  std::shared_ptr<const SearchRules> rules_;     // of the model and the request
  TermLists lists_;                              // the request's own first
  std::string language_;                         // of the translations
  std::vector<FoundTerm> terms_;                 // of the sentence that is being added
  std::vector<TextSpan> spans_;                  // of its tokens; none if they are not known
  std::vector<std::vector<int32_t>> stand_ins_;  // of that sentence
  PreviousVersion previous_;                     // of the text that is being added
  int longest_ = 0;                              // the most tokens of a translation
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_JOB_MAKER_H_
