// Compares a network with its naive implementation.

#ifndef DRAGOMAN_TESTS_MODEL_NAIVE_AGREEMENT_H_
#define DRAGOMAN_TESTS_MODEL_NAIVE_AGREEMENT_H_

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "tests/model/teacher_forcing.h"
#include "tests/reference/any_transformer.h"

namespace dragoman {

struct NaiveNetwork {
  reference::Rows (*encode)(const reference::NamedWeights& weights,
                            const std::vector<int32_t>& tokens);
  reference::Rows (*logits)(const reference::NamedWeights& weights, const reference::Rows& encoded,
                            const std::vector<int32_t>& tokens, reference::Rows* attention);
};

inline void ExpectNear(const reference::Matrix& have, const reference::Rows& want) {
  ASSERT_EQ(have.size(), want.size());
  for (size_t r = 0; r < want.size(); ++r) {
    ASSERT_EQ(have[r].size(), want[r].size());
    for (size_t c = 0; c < want[r].size(); ++c) {
      ASSERT_NEAR(have[r][c], want[r][c], 2e-4) << "row " << r << ", column " << c;
    }
  }
}

// Expects the same encoded sources, logits and attention, of all pairs in one batch.
inline void ExpectSameAsNaive(const Network& network, const reference::NamedWeights& weights,
                              const NaiveNetwork& naive, const std::vector<ForcedPair>& pairs) {
  const std::vector<ForcedOutput> outputs = ForceTeacher(network, pairs);
  for (size_t i = 0; i < pairs.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "sentence " << i);
    const reference::Rows encoded = naive.encode(weights, pairs[i].source);
    ExpectNear(outputs[i].encoded, encoded);
    reference::Rows attention;
    ExpectNear(outputs[i].logits,
               naive.logits(weights, encoded, pairs[i].decoder_inputs, &attention));
    ExpectNear(outputs[i].attention, attention);
  }
}

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_MODEL_NAIVE_AGREEMENT_H_
