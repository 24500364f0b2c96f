#include "engine/request/insight.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

// A candidate is a token's text, its id and a number.
constexpr size_t kNumbersOfCandidate = 8;

absl::Status OutOfRange(const std::string& field, int value, const Model& model, int count,
                        const char* what) {
  const std::string has = count == 0 ? absl::StrCat("no ", what) : absl::StrCat(count, " ", what);
  return InvalidField(field, "is ", value, "; the model ", model.name(), " has ", has);
}

absl::Status AddHeads(const LayerHeads& wanted, const std::string& field, const Model& model,
                      std::vector<AttentionHead>* heads) {
  const HeadCounts counts = model.network().HeadsOf(wanted.kind);
  const int layer = wanted.layer < 0 ? counts.layers + wanted.layer : wanted.layer;
  if (layer < 0 || layer >= counts.layers) {
    constexpr const char* kLayers[] = {"layers of attention in the encoder",
                                       "layers of attention to the source",
                                       "layers of attention in the decoder"};
    return OutOfRange(field + ".layer", wanted.layer, model, counts.layers,
                      kLayers[static_cast<int>(wanted.kind)]);
  }
  std::vector<int> chosen = wanted.heads;
  for (int h = 0; wanted.heads.empty() && h < counts.heads; ++h) chosen.push_back(h);
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] < 0 || chosen[i] >= counts.heads) {
      return OutOfRange(absl::StrCat(field, ".heads[", i, "]"), chosen[i], model, counts.heads,
                        "heads in a layer");
    }
    const AttentionHead head = {wanted.kind, layer, chosen[i]};
    if (std::find(heads->begin(), heads->end(), head) == heads->end()) heads->push_back(head);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<AttentionHead>> ResolveInsight(const InsightOptions& options,
                                                          bool alignments, const Model& model) {
  if (options.candidates < 0 || options.candidates > kMaxCandidates) {
    return InvalidField("output.candidates", "is ", options.candidates, ", want 0 to ",
                        kMaxCandidates);
  }
  if (!options.heads.empty() && !alignments) {
    return InvalidField("output.attention_heads",
                        "refer to the tokens of output.alignments, want both");
  }
  std::vector<AttentionHead> heads;
  for (size_t i = 0; i < options.heads.size(); ++i) {
    RETURN_IF_ERROR(
        AddHeads(options.heads[i], absl::StrCat("output.attention_heads[", i, "]"), model, &heads));
  }
  return heads;
}

size_t InsightOf(const Job& job) {
  const size_t source = job.source.size();
  const size_t rows = static_cast<size_t>(job.options.max_length) * job.options.num_hypotheses;
  size_t numbers = rows * job.candidates * kNumbersOfCandidate;
  for (const AttentionHead& head : job.heads) {
    const size_t looked_at = head.kind == AttentionKind::kDecoder ? job.options.max_length : source;
    numbers += (head.kind == AttentionKind::kEncoder ? source : rows) * looked_at;
  }
  return numbers;
}

void AppendInsight(const Hypothesis& hypothesis, const std::vector<AttentionHead>& heads,
                   const SentenceTokens& tokens, const Tokenizer& tokenizer,
                   std::vector<HeadBlock>* blocks, std::vector<CandidateStep>* steps) {
  const size_t source = static_cast<size_t>(tokens.source_end - tokens.source_begin);
  const size_t shown = hypothesis.tokens.size() - tokens.hidden;
  const auto count = [&](AttentionKind kind) {
    return static_cast<size_t>(
        std::count_if(heads.begin(), heads.end(), [=](const auto& h) { return h.kind == kind; }));
  };
  const size_t crossing = count(AttentionKind::kCross),
               looking_back = count(AttentionKind::kDecoder);
  // The numbers of a row of the decoder: the tokens and the end, if it was reached.
  const size_t rows =
      looking_back == 0 ? 0 : std::max(hypothesis.tokens.size(), hypothesis.token_log_probs.size());
  size_t encoder = 0, cross = 0, back = 0;  // heads of each kind so far
  for (const AttentionHead& head : heads) {
    HeadBlock block = {.head = head,
                       .source_begin = tokens.source_begin,
                       .source_end = tokens.source_end,
                       .query_begin = tokens.target_begin,
                       .query_end = tokens.target_begin + static_cast<int>(shown)};
    std::vector<float>& to = block.probabilities;
    switch (head.kind) {
      case AttentionKind::kEncoder: {
        const size_t begin = encoder++ * source * source;
        if (!tokens.best || hypothesis.encoder_heads.empty()) continue;
        block.query_begin = tokens.source_begin;
        block.query_end = tokens.source_end;
        const auto from = hypothesis.encoder_heads.begin() + static_cast<std::ptrdiff_t>(begin);
        to.assign(from, from + static_cast<std::ptrdiff_t>(source * source));
        break;
      }
      case AttentionKind::kCross:
        for (size_t t = tokens.hidden; t < hypothesis.tokens.size(); ++t) {
          const float* const from = hypothesis.cross_heads.data() + (t * crossing + cross) * source;
          to.insert(to.end(), from, from + source);
        }
        ++cross;
        break;
      case AttentionKind::kDecoder:
        // The first number is for the start and what is hidden, and the others for the tokens shown
        // before; the rest of a row is 0.
        block.source_begin = block.query_begin;
        block.source_end = block.query_end;
        for (size_t t = tokens.hidden; t < hypothesis.tokens.size(); ++t) {
          const float* const from =
              hypothesis.decoder_heads.data() + (t * looking_back + back) * rows;
          to.push_back(std::accumulate(from, from + tokens.hidden + 1, 0.0f));
          to.insert(to.end(), from + tokens.hidden + 1, from + tokens.hidden + shown);
        }
        ++back;
        break;
    }
    blocks->push_back(std::move(block));
  }
  for (size_t t = tokens.hidden; t < hypothesis.candidates.size(); ++t) {
    CandidateStep& step = steps->emplace_back();
    step.end = t == hypothesis.tokens.size();
    for (const RankedToken& each : hypothesis.candidates[t]) {
      step.candidates.push_back({tokenizer.TargetPiece(each.token), each.token, each.log_prob});
    }
  }
}

}  // namespace dragoman
