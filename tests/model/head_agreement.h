// Compares the attention of every head of a Transformer with the naive one.

#ifndef DRAGOMAN_TESTS_MODEL_HEAD_AGREEMENT_H_
#define DRAGOMAN_TESTS_MODEL_HEAD_AGREEMENT_H_

#include <vector>

#include "gtest/gtest.h"
#include "tests/model/naive_agreement.h"
#include "tests/model/teacher_forcing.h"
#include "tests/reference/any_transformer.h"

namespace dragoman {

inline std::vector<AttentionHead> AllHeads(const Network& network, AttentionKind kind) {
  std::vector<AttentionHead> heads;
  const HeadCounts counts = network.HeadsOf(kind);
  for (int l = 0; l < counts.layers; ++l) {
    for (int h = 0; h < counts.heads; ++h) heads.push_back({kind, l, h});
  }
  return heads;
}

// `have` is [heads, rows, source] with these distances between heads and between rows.
inline void ExpectSameHeads(const std::vector<AttentionHead>& heads, const std::vector<float>& have,
                            size_t head_stride, size_t row_stride,
                            const reference::HeadRows& want) {
  for (size_t i = 0; i < heads.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "layer " << heads[i].layer << ", head " << heads[i].head);
    const reference::Rows& rows = want[heads[i].layer][heads[i].head];
    reference::Matrix found;
    for (size_t r = 0; r < rows.size(); ++r) {
      const float* const from = have.data() + i * head_stride + r * row_stride;
      found.emplace_back(from, from + rows[r].size());
    }
    ExpectNear(found, rows);
  }
}

inline void ExpectSameHeadsAsNaive(const Network& network, const reference::NamedWeights& weights,
                                   const ForcedPair& pair) {
  Workspace workspace;
  KvPool pool;
  const size_t source = pair.source.size(), target = pair.decoder_inputs.size();
  const std::vector<AttentionHead> encoder = AllHeads(network, AttentionKind::kEncoder);
  const std::vector<AttentionHead> cross = AllHeads(network, AttentionKind::kCross);
  const std::vector<AttentionHead> decoder = AllHeads(network, AttentionKind::kDecoder);
  ASSERT_EQ(encoder.size(), weights.spec.encoder_layers * weights.spec.encoder_heads);
  ASSERT_EQ(cross.size(), weights.spec.decoder_layers * weights.spec.decoder_heads);

  std::vector<float> have(encoder.size() * source * source);
  PartialEncoding encoding;
  encoding.source.Add(pair.source);
  encoding.heads = encoder;
  encoding.attention = have.data();
  const int stages = network.EncodeStages(static_cast<int>(source));
  while (encoding.next_stage < stages) network.EncodeStage(&encoding, &workspace);
  reference::HeadRows want;
  const reference::Rows encoded = reference::EncodeAny(weights, pair.source, &want);
  ExpectSameHeads(encoder, have, source * source, source, want);

  const auto state = network.NewState(
      {.source_tokens = static_cast<int>(source), .max_steps = static_cast<int>(target)}, &pool);
  network.Remember(encoding.encoded.view(), state.get(), &workspace);
  have.assign(target * cross.size() * source, 0.0f);
  std::vector<float> back(target * decoder.size() * target);
  std::vector<StepRow> rows;
  for (size_t t = 0; t < target; ++t) {
    StepRow row{pair.decoder_inputs[t], state.get()};
    row.scored = false;
    row.cross_heads = {cross, have.data() + t * cross.size() * source, source};
    row.decoder_heads = {decoder, back.data() + t * decoder.size() * target, target};
    rows.push_back(row);
    if (network.takes_several_tokens() && t + 1 < target) continue;
    network.Step(
        rows, [](const LogitsTile&) {}, &workspace);
    rows.clear();
  }
  want.clear();
  reference::HeadRows want_back;
  reference::LogitsOfAny(weights, encoded, pair.decoder_inputs, nullptr, &want, &want_back);
  ExpectSameHeads(cross, have, source, cross.size() * source, want);
  ExpectSameHeads(decoder, back, target, decoder.size() * target, want_back);
}

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_MODEL_HEAD_AGREEMENT_H_
