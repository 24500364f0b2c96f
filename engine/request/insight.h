// What a request may ask about how the network came to its translation: which source tokens single
// heads of its attention look at, and which tokens were the most likely at each step.
//
// Requests name layers; the plan (plan.h) turns them into heads, replay.h computes the numbers, and
// the assembly (assembly.h) makes them refer to the tokens of the whole text.

#ifndef DRAGOMAN_ENGINE_REQUEST_INSIGHT_H_
#define DRAGOMAN_ENGINE_REQUEST_INSIGHT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/decode/job.h"
#include "engine/model/attention_head.h"
#include "engine/text/tokenizer.h"

namespace dragoman {

// Some heads of a layer.
struct LayerHeads {
  AttentionKind kind = AttentionKind::kCross;
  int layer = 0;           // negative: counted from the last, which is -1
  std::vector<int> heads;  // empty: all
};

struct InsightOptions {
  std::vector<LayerHeads> heads;
  int candidates = 0;  // of each step
};

// The most candidates of a step.
inline constexpr int kMaxCandidates = 5;
// The most numbers that an answer may have because of these options; a candidate counts as eight.
inline constexpr size_t kMaxInsight = 1 << 20;

// How one head spreads its attention within one sentence.  Tokens are those of the whole texts.
struct HeadBlock {
  AttentionHead head;
  int source_begin = 0, source_end = 0;
  int query_begin = 0, query_end = 0;  // target tokens; of the encoder: source tokens
  std::vector<float> probabilities;    // [queries, source tokens]
};

// What could have come next.
struct CandidateStep {
  struct Token {
    std::string piece;
    int32_t id = 0;
    float log_prob = 0.0f;
  };
  bool end = false;               // the step that ended a sentence, not one of its tokens
  std::vector<Token> candidates;  // best first
};

// The heads that the options name, each once.  INVALID_ARGUMENT with the field (status.h).
absl::StatusOr<std::vector<AttentionHead>> ResolveInsight(const InsightOptions& options,
                                                          bool alignments, const Model& model);

// The numbers that a job may add to the answer.
size_t InsightOf(const Job& job);

// Where the tokens of a sentence are among those of the whole text.
struct SentenceTokens {
  int source_begin = 0, source_end = 0;
  int target_begin = 0;
  size_t hidden = 0;  // the first tokens of the hypothesis, which are not part of the text
  bool best = true;   // whether the attention of the encoder goes with this hypothesis
};

// What is known of a hypothesis of a sentence.  `heads` are its job's.
void AppendInsight(const Hypothesis& hypothesis, const std::vector<AttentionHead>& heads,
                   const SentenceTokens& tokens, const Tokenizer& tokenizer,
                   std::vector<HeadBlock>* blocks, std::vector<CandidateStep>* steps);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_INSIGHT_H_
