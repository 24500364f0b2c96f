#include "server/api/convert_alignment.h"

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

namespace dragoman {
namespace {

// The kinds of attention at the wire and in the engine. A request that names none means CROSS,
// so UNSPECIFIED stands last: an answer takes the first row of its kind.
constexpr std::pair<v1::AttentionKind, AttentionKind> kAttentionKinds[] = {
    {v1::ATTENTION_KIND_CROSS, AttentionKind::kCross},
    {v1::ATTENTION_KIND_ENCODER, AttentionKind::kEncoder},
    {v1::ATTENTION_KIND_DECODER, AttentionKind::kDecoder},
    {v1::ATTENTION_KIND_UNSPECIFIED, AttentionKind::kCross},
};

void ToProto(const std::vector<AlignedToken>& tokens,
             google::protobuf::RepeatedPtrField<v1::AlignedToken>* proto) {
  for (const AlignedToken& token : tokens) {
    v1::AlignedToken* const to = proto->Add();
    to->set_piece(token.piece);
    to->set_begin(static_cast<int>(token.span.begin));
    to->set_end(static_cast<int>(token.span.end));
  }
}

}  // namespace

void ToProto(const Alignment& alignment, bool attention,
             google::protobuf::RepeatedPtrField<v1::AlignmentPoint>* points,
             v1::AlignedText* text) {
  for (const AlignmentPoint& point : alignment.points) {
    v1::AlignmentPoint* const to = points->Add();
    to->set_source_token(point.source);
    to->set_target_token(point.target);
    to->set_probability(point.probability);
    to->set_link(point.link);
    to->set_mutual(point.mutual);
  }
  ToProto(alignment.source, text->mutable_source_tokens());
  ToProto(alignment.target, text->mutable_target_tokens());
  for (const WordLink& link : alignment.words) {
    v1::WordLink* const to = text->add_words();
    SetSpans(link.source, link.target, to);
    to->set_probability(link.probability);
  }
  if (!attention) return;
  for (const AttentionBlock& block : alignment.attention) {
    v1::AttentionBlock* const to = text->add_attention();
    to->set_source_begin(block.source_begin);
    to->set_source_end(block.source_end);
    to->set_target_begin(block.target_begin);
    to->set_target_end(block.target_end);
    to->mutable_probabilities()->Assign(block.probabilities.begin(), block.probabilities.end());
  }
}

absl::StatusOr<InsightOptions> InsightFrom(const v1::OutputOptions& output) {
  InsightOptions options;
  options.candidates = output.candidates();
  constexpr int kMostEntries = 256;
  if (output.attention_heads_size() > kMostEntries) {
    return InvalidField("output.attention_heads", "has ", output.attention_heads_size(),
                        " entries, want at most ", kMostEntries);
  }
  for (const v1::AttentionHeads& from : output.attention_heads()) {
    const auto* const kind = absl::c_find_if(
        kAttentionKinds, [&](const auto& each) { return each.first == from.kind(); });
    if (kind == std::end(kAttentionKinds)) {
      return InvalidField("output.attention_heads", std::to_string(from.kind()),
                          " is not a value of AttentionKind");
    }
    options.heads.push_back(
        {kind->second, from.layer(), {from.heads().begin(), from.heads().end()}});
  }
  return options;
}

void SetInsight(const TranslatedHypothesis& hypothesis, v1::Hypothesis* proto) {
  for (const HeadBlock& block : hypothesis.heads) {
    v1::HeadAttention* const to = proto->mutable_aligned_text()->add_heads();
    to->set_kind(absl::c_find_if(kAttentionKinds, [&](const auto& each) {
                   return each.second == block.head.kind;
                 })->first);
    to->set_layer(block.head.layer);
    to->set_head(block.head.head);
    to->set_source_begin(block.source_begin);
    to->set_source_end(block.source_end);
    to->set_query_begin(block.query_begin);
    to->set_query_end(block.query_end);
    to->mutable_probabilities()->Assign(block.probabilities.begin(), block.probabilities.end());
  }
  for (const CandidateStep& step : hypothesis.steps) {
    v1::CandidateStep* const to = proto->add_steps();
    to->set_end(step.end);
    for (const CandidateStep::Token& each : step.candidates) {
      v1::CandidateToken* const token = to->add_candidates();
      token->set_token(each.piece);
      token->set_token_id(each.id);
      token->set_log_prob(each.log_prob);
    }
  }
}

}  // namespace dragoman
