#include "server/api/convert_alignment.h"

#include <vector>

namespace dragoman {
namespace {

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
    to->set_source_begin(static_cast<int>(link.source.begin));
    to->set_source_end(static_cast<int>(link.source.end));
    to->set_target_begin(static_cast<int>(link.target.begin));
    to->set_target_end(static_cast<int>(link.target.end));
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

}  // namespace dragoman
