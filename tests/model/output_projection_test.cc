#include "engine/model/output_projection.h"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/math/random_matrix.h"

namespace dragoman::output_projection_test {
namespace {

constexpr int kModel = 64, kVocabulary = 1300, kRows = 12;
constexpr float kNone = std::numeric_limits<float>::infinity();

using TokenList = absl::Span<const int32_t>;

// The logits [rows, vocabulary] that the projection returns; kNone where it returns none.
Matrix<float> Logits(const OutputProjection& projection, const Matrix<float>& x,
                     absl::Span<const TokenList> shortlists) {
  Matrix<float> all(x.rows(), kVocabulary);
  std::fill_n(all.view().data(), x.rows() * kVocabulary, kNone);
  Workspace ws;
  projection.Run(
      x.view(), shortlists,
      [&](const LogitsTile& tile) {
        for (int r = 0; r < tile.logits.rows(); ++r) {
          for (int c = 0; c < tile.logits.cols(); ++c) {
            const int token = tile.tokens.empty() ? tile.first_token + c : tile.tokens[c];
            float& logit = all.Row(tile.first_row + r)[token];
            EXPECT_EQ(logit, kNone) << "given twice";
            logit = tile.logits.Row(r)[c];
          }
        }
      },
      &ws);
  return all;
}

std::vector<int32_t> SomeTokens(double share, std::mt19937* random) {
  std::vector<int32_t> tokens;
  for (int32_t token = 0; token < kVocabulary; ++token) {
    if (std::bernoulli_distribution(share)(*random)) tokens.push_back(token);
  }
  return tokens;
}

TEST(OutputProjection, GivesTheRowsOfAShortlistTheirCandidatesAndTheOthersAll) {
  for (const Precision precision : {Precision::kFloat32, Precision::kInt8}) {
    for (const bool selective : {false, true}) {
      SCOPED_TRACE(testing::Message() << NameOf(precision) << " selective " << selective);
      std::mt19937 random(3);
      const Matrix<float> table = RandomMatrix(kVocabulary, kModel, &random);
      const std::vector<float> bias = RandomVector(kVocabulary, &random);
      OutputProjection projection(kVocabulary, kModel, precision, selective);
      const int first = OutputProjection::kTile;  // the table is appended in two parts
      for (const auto& [begin, end] : {std::pair(0, first), {first, kVocabulary}}) {
        const absl::Status appended =
            projection.Append(table.view().Rows(begin, end - begin),
                              absl::MakeConstSpan(bias).subspan(begin, end - begin));
        ASSERT_TRUE(appended.ok()) << appended;
      }
      const Matrix<float> x = RandomMatrix(kRows, kModel, &random);
      const Matrix<float> whole = Logits(projection, x, std::vector<TokenList>(kRows));

      // Sentences of several rows, with and without shortlists, one of which leaves a tile empty.
      const std::vector<int32_t> many = SomeTokens(0.5, &random), few = {0, 1299}, one = {700};
      std::vector<TokenList> shortlists(kRows);
      shortlists[1] = shortlists[2] = shortlists[3] = many;
      shortlists[4] = few;
      shortlists[7] = shortlists[8] = one;
      shortlists[11] = many;
      const Matrix<float> listed = Logits(projection, x, shortlists);
      for (int r = 0; r < kRows; ++r) {
        for (int token = 0; token < kVocabulary; ++token) {
          const bool wanted = shortlists[r].empty() ||
                              std::binary_search(shortlists[r].begin(), shortlists[r].end(), token);
          ASSERT_FLOAT_EQ(listed.Row(r)[token], wanted ? whole.Row(r)[token] : kNone)
              << "row " << r << " token " << token;
        }
      }
    }
  }
}

}  // namespace
}  // namespace dragoman::output_projection_test
