// The first half of a translation: from a request to its sentences and the jobs that translate
// them.  Pure: no thread, no clock but that of its context, and nothing is submitted.
//
//   texts {"One. Two.", ""}, split  ->  text 0: sentences [0, 4) by job 0, [5, 9) by job 1
//                                       text 1: no sentence
//
// The second half is assembly.h; a hop (hop.h) joins the two.

#ifndef DRAGOMAN_ENGINE_REQUEST_PLAN_H_
#define DRAGOMAN_ENGINE_REQUEST_PLAN_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/decode/job.h"
#include "engine/model/model.h"
#include "engine/request/attempts.h"
#include "engine/request/rendering.h"
#include "engine/request/search_request.h"
#include "engine/request/translation.h"
#include "engine/text/piece_index.h"
#include "engine/text/word_joins.h"

namespace dragoman {

// What word rules need to know about a model's pieces, computed when the first request needs it.
// Thread-safe.
class LazyPieces {
 public:
  std::shared_ptr<const PieceIndex> Index(const Tokenizer& tokenizer);
  std::shared_ptr<const WordJoins> Joins(const Tokenizer& tokenizer);

 private:
  std::once_flag indexed_, joined_;
  std::shared_ptr<const PieceIndex> index_;
  std::shared_ptr<const WordJoins> joins_;
};

// A sentence that a memory has answered in the hop before.
struct KeptSentence {
  TextSpan span;  // bytes of the text
  MemoryMatch match;
};

// What one hop is asked: a request, and what it has to know of the other hops.
struct HopRequest : TranslateRequest {
  std::string original_language;  // of the request; "": source_language
  // What the memories translate into, if another hop follows; then nothing counts but what answers.
  // "": the target language.
  std::string memory_target;
  // For each text, or none: sentences of it, in order, that stay as they are.
  std::vector<std::vector<KeptSentence>> kept;
  bool bound_later = false;  // min_quality is for the judgement of who checks in reverse
};

// The model that a plan is made for, and what is the same for all of its requests.
struct PlanContext {
  std::shared_ptr<const Model> model;
  Limits limits;
  std::shared_ptr<const SearchRules> rules;
  std::shared_ptr<LazyPieces> pieces;
  // Called before the texts are tokenized, which would be wasted if the request is going to be
  // refused.  May be null.
  std::function<absl::Status(const RequestState&, const RoughSize&)> check_ahead = nullptr;
  // Called after each bit of work (still_wanted.h): OK, or why the plan is not wanted any more. May
  // be null: it is.
  std::function<absl::Status(const RequestState&)> wanted = nullptr;
};

// What the assembly does with the attention of the hypotheses.
struct AlignmentPlan {
  AlignmentOptions options;
  std::vector<AttentionHead> heads;  // those that are reported
  bool replace_unknowns = false;

  bool wants_attention() const { return options.wanted || replace_unknowns; }
};

struct PlannedSentence {
  TextSpan span;            // bytes of the text
  int job = -1;             // its index in the plan's jobs; negative: there is nothing to translate
  bool is_part = false;     // of a sentence that was longer than the limit
  bool is_endless = false;  // a word that is longer than the limit, so that it stays as it is
  size_t hidden = 0;        // tokens of its hypotheses that are not returned
  // The tokens that the model reads, with their bytes of the text; only if alignments are wanted,
  // or there are marks to be placed.
  std::vector<AlignedToken> source;
  // The glossaries' terms in it, with their bytes of the text.
  std::vector<FoundTerm> terms;
  std::shared_ptr<Attempts> attempts;  // null: there is only the first one
  bool may_vanish = true;  // false: if the model says no word, the sentence stays as it is
  // What a memory has for it.  If that answers, there is no job, or one that reads the stored
  // target so that it is known where its words come from.
  std::optional<MemoryMatch> match;

  // What a memory answers; null: it does not.
  const std::string* stored() const {
    return match.has_value() && match->answers() ? &match->segment.target : nullptr;
  }
};

struct PlannedText {
  std::string content;  // without markup
  // With markup: what else there is to it.  Its sentences are the ones below.
  std::unique_ptr<MarkedContent> marked;
  std::vector<PlannedSentence> sentences;  // in order
  int source_tokens = 0;                   // eos included, after truncation
  std::optional<std::string> checked_in;   // the target language, if literals are to be checked
  std::optional<LanguagePair> judged_in;   // its languages, if its translation is to be judged
  bool truncated = false;

  // Whether the text was split, so that the white space between its sentences is kept.
  bool split() const {
    return sentences.size() != 1 || sentences.front().span != TextSpan{0, content.size()};
  }
  // The bytes of the request's text that a sentence is translated from.
  TextSpan SourceSpan(size_t sentence) const {
    return marked != nullptr ? marked->sentences[sentence].raw : sentences[sentence].span;
  }
};

struct TranslationPlan {
  std::vector<PlannedText> texts;  // as in the request
  std::vector<JobPtr> jobs;        // one per sentence with text, in order; without on_done
  struct Place {
    size_t text, sentence;
  };
  std::vector<Place> places;  // of the jobs' sentences
  bool by_consensus = false;  // hypotheses are chosen by how much they agree
  int num_hypotheses = 1;     // to be returned
  AlignmentPlan alignment;
  std::optional<float> min_quality;
  bool refuse_low_quality = false;
};

// Checks and tokenizes the texts of a hop.  Its jobs share `state`.  INVALID_ARGUMENT with the
// field, or the error of `context.wanted`.
absl::StatusOr<TranslationPlan> MakePlan(const PlanContext& context, HopRequest request,
                                         std::shared_ptr<RequestState> state);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_PLAN_H_
