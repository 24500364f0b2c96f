// Phrases of which it is known what they stand for are said where the network looks at that.

#include <array>
#include <vector>

#include "engine/search/search.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/search/found.h"

namespace dragoman::phrase_places_test {
namespace {

using ::testing::ElementsAre;

constexpr int32_t kOwn = 2, kTerm = 4;

// Says "1 1 2 3" by itself; the term is about as likely anywhere, and likelier after the 2.
class Sentence : public RandomLanguage {
 public:
  Sentence() : RandomLanguage(0, 5) {}
  std::vector<float> Logits(const std::vector<int32_t>& tokens) const override {
    // The term takes the place of a word of its own, if it is there that it is said.
    static const std::vector<int32_t> kSays = {1, 1, kOwn, 3, kEos};
    size_t place = 0;
    for (const int32_t token : tokens) {
      if (place + 1 < kSays.size() && (token == kSays[place] || (token == kTerm && place == 2))) {
        ++place;
      }
    }
    std::vector<float> logits(5, -9.0f);
    logits[kSays[place]] = 5.0f;
    logits[kTerm] = !tokens.empty() && tokens.back() == kOwn ? 0.0f : -3.0f;
    return logits;
  }
};

// The network looks at the tokens of the source one after the other.
SearchTask Task(int beam_size, bool attends, TokenRange source) {
  SearchTask task = TaskOf(Options(beam_size, 9));
  task.options.num_hypotheses = 1;
  task.phrases = {Phrase{.forms = {{kTerm}}, .source = source}};
  if (!attends) return task;
  task.attention_of = [](int row) {
    static std::array<float, 8> attention;
    attention.fill(0.02f);
    attention[static_cast<size_t>(std::min(row, 7))] = 0.86f;
    return absl::Span<const float>(attention);
  };
  return task;
}

std::vector<int32_t> Says(const SearchTask& task) {
  const std::vector<Hypothesis> found = Found(Sentence(), task);
  return found.empty() ? std::vector<int32_t>() : found.front().tokens;
}

TEST(PhrasePlaces, APhraseTakesThePlaceOfTheModelsOwnWord) {
  for (const int beam_size : {1, 4}) {
    EXPECT_THAT(Says(Task(beam_size, true, {2, 3})), ElementsAre(1, 1, kTerm, 3)) << beam_size;
    // Without attention it is said beside that word, where it is likelier.
    EXPECT_THAT(Says(Task(beam_size, false, {2, 3})), ElementsAre(1, 1, kOwn, kTerm, 3));
  }
}

TEST(PhrasePlaces, APhraseThatStandsForNothingKnownMayBeAnywhere) {
  EXPECT_THAT(Says(Task(4, true, {})), ElementsAre(1, 1, kOwn, kTerm, 3));
}

TEST(PhrasePlaces, APhraseIsSaidEvenIfNothingLooksAtItsSource) {
  for (const int beam_size : {1, 4}) {
    EXPECT_THAT(Says(Task(beam_size, true, {7, 8})), ::testing::Contains(kTerm)) << beam_size;
  }
}

// The costs are not part of what is told.
TEST(PhrasePlaces, ScoresAreTheModels) {
  const Hypothesis found = Found(Sentence(), Task(4, true, {2, 3})).front();
  float sum = 0.0f;
  for (const float log_prob : found.token_log_probs) sum += log_prob;
  EXPECT_FLOAT_EQ(found.log_prob, sum);
  EXPECT_FLOAT_EQ(found.score, sum / static_cast<float>(found.token_log_probs.size()));
}

}  // namespace
}  // namespace dragoman::phrase_places_test
