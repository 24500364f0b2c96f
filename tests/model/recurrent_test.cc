// The recurrent network against its naive twin, in float32, with random weights of every shape.

#include "tests/reference/recurrent.h"

#include <memory>
#include <random>

#include "engine/model/network_kind.h"
#include "engine/spec/recurrent_spec.h"
#include "gtest/gtest.h"
#include "tests/model/naive_agreement.h"
#include "tests/model/teacher_forcing.h"
#include "tests/reference/random_weights.h"

namespace dragoman::recurrent_test {
namespace {

using reference::NamedWeights;

constexpr int kVocabulary = 70;

ModelSpec SpecOf(RecurrentSpec details, int encoder_layers, int decoder_layers) {
  ModelSpec spec;
  spec.network = "recurrent";
  spec.d_model = 24;
  details.state_width = 20;
  spec.encoder_layers = encoder_layers;
  spec.decoder_layers = decoder_layers;
  spec.source_vocabulary = spec.target_vocabulary = kVocabulary;
  spec.max_positions = 100;
  spec.details = std::make_shared<const RecurrentSpec>(details);
  return spec;
}

Checkpoint MakeCheckpoint(const NamedWeights& model) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, from] : model.tensors) {
    tensors[name] = {DType::kF32,
                     {from.rows, from.cols},
                     absl::MakeConstSpan(reinterpret_cast<const std::byte*>(from.values.data()),
                                         from.values.size() * sizeof(float))};
  }
  return Checkpoint("random", {}, std::move(tensors));
}

void ExpectAgreement(const ModelSpec& spec, bool normed, uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << (normed ? ", normed" : ""));
  const NamedWeights weights = reference::RandomRecurrent(spec, normed, seed);
  const auto network = CreateNetwork(MakeCheckpoint(weights), spec, {});
  ASSERT_TRUE(network.ok()) << network.status();
  std::mt19937_64 random(seed);
  const auto tokens = [&](int count) {
    std::vector<int32_t> all;
    while (static_cast<int>(all.size()) < count) {
      all.push_back(static_cast<int32_t>(random() % kVocabulary));
    }
    return all;
  };
  // Sentences of different lengths, the longest in the middle.
  const std::vector<ForcedPair> pairs = {
      {tokens(1), tokens(9)}, {tokens(11), tokens(4)}, {tokens(5), tokens(7)}};
  ExpectSameAsNaive(**network, weights, {reference::EncodeRecurrent, reference::LogitsOfRecurrent},
                    pairs);
}

void ExpectAgreement(const ModelSpec& spec) {
  for (const bool normed : {false, true}) ExpectAgreement(spec, normed, 1);
}

// The row law: a sentence gives the same bytes alone and in a batch.
TEST(Recurrent, ASentenceDoesNotDependOnItsCompany) {
  const ModelSpec spec = SpecOf({}, 2, 2);
  const NamedWeights weights = reference::RandomRecurrent(spec, true, 3);
  const auto network = CreateNetwork(MakeCheckpoint(weights), spec, {});
  ASSERT_TRUE(network.ok()) << network.status();
  const std::vector<ForcedPair> pairs = {
      {{3, 1, 4, 1, 5, 9, 2}, {0, 6, 5}}, {{3}, {0, 5, 8, 9}}, {{7, 9, 3, 2}, {0, 3, 8, 4, 6}}};
  const std::vector<ForcedOutput> together = ForceTeacher(**network, pairs);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const std::vector<ForcedOutput> alone = ForceTeacher(**network, {pairs[i]});
    EXPECT_EQ(alone[0].encoded, together[i].encoded);
    EXPECT_EQ(alone[0].logits, together[i].logits);
  }
}

TEST(Recurrent, OneLayerOfEach) { ExpectAgreement(SpecOf({}, 1, 1)); }

TEST(Recurrent, DeepTransitions) {
  RecurrentSpec details;
  details.encoder_cells = 3;
  details.decoder_base_cells = 4;
  ExpectAgreement(SpecOf(details, 1, 1));
}

TEST(Recurrent, StacksThatTurn) {
  RecurrentSpec details;
  details.encoder = RecurrentSpec::kAlternating;
  details.skip = true;
  ExpectAgreement(SpecOf(details, 3, 1));
}

TEST(Recurrent, LayersUponBothDirections) {
  RecurrentSpec details;
  details.encoder = RecurrentSpec::kBiUnidirectional;
  details.skip = true;
  ExpectAgreement(SpecOf(details, 3, 1));
}

TEST(Recurrent, DecoderLayersWithTransitions) {
  RecurrentSpec details;
  details.decoder_high_cells = 2;
  details.skip = true;
  ExpectAgreement(SpecOf(details, 2, 3));
}

TEST(Recurrent, ADecoderOfOneCell) {
  RecurrentSpec details;
  details.decoder_base_cells = 1;
  ExpectAgreement(SpecOf(details, 1, 1));
}

}  // namespace
}  // namespace dragoman::recurrent_test
