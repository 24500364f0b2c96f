// The part of a translation that a search promises not to take back.

#include <functional>
#include <vector>

#include "engine/search/search.h"
#include "gtest/gtest.h"
#include "tests/search/found.h"

namespace dragoman::stable_prefix_test {
namespace {

// Found() does the checking.  Languages of few tokens repeat themselves, so the guard often cuts.
TEST(StablePrefix, IsKeptByEverySearchWithTheGuardAgainstRepetition) {
  const std::vector<std::function<void(SearchTask*)>> kinds = {
      [](SearchTask*) {},
      [](SearchTask* task) { task->options.length_penalty = 0.0f; },
      [](SearchTask* task) { task->options.length_penalty = -1.0f; },
      [](SearchTask* task) { task->options.early_stopping = EarlyStopping::kNever; },
      [](SearchTask* task) { task->options.patience = 2.0f; },
      [](SearchTask* task) {
        task->options.length_normalization = LengthNormalization::kGnmt;
        task->options.length_penalty = 0.6f;
      },
      [](SearchTask* task) { task->options.beam_groups = 2; },
      [](SearchTask* task) { task->options.sampling = true; },
      [](SearchTask* task) { task->options.return_alternatives = true; },
      [](SearchTask* task) {
        task->phrases = {Phrase{{{2, 3}}}, Phrase{{{1}}}};
      },
      [](SearchTask* task) {
        task->phrases = {Phrase{{{2, 3}, {3, 1}}, 0.2f}, Phrase{{{1}}}};
      },
      [](SearchTask* task) {
        task->prefix = {2, 1};
      },
  };
  int cut = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    for (size_t kind = 0; kind < kinds.size(); ++kind) {
      const RandomLanguage random(seed, 5);
      const ConstantLanguage repeating({0.5f, 1.0f, 2.0f, 1.9f, 0.1f});
      const RandomLanguage& language = seed % 3 == 0 ? repeating : random;
      SearchTask task = TaskOf(Options(seed % 2 == 0 ? 4 : 2, 40));
      task.options.repetition_guard = true;
      task.source = {1, 2, 3, kEos};
      task.random_key = seed;
      kinds[kind](&task);
      SCOPED_TRACE(testing::Message() << "seed " << seed << " kind " << kind);
      for (const Hypothesis& hypothesis : Found(language, task)) {
        if (hypothesis.finish_reason == FinishReason::kRepetition) ++cut;
      }
    }
  }
  EXPECT_GT(cut, 100);
}

TEST(StablePrefix, OfAGreedySearchIsAllThatWasSaid) {
  size_t promised = 0, said = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    said += Found(RandomLanguage(seed, 9), TaskOf(Options(1, 12)), &promised)[0].tokens.size();
  }
  // Only the last token of a hypothesis that max_length ends was not promised.
  EXPECT_GT(promised, said * 9 / 10);
  EXPECT_LE(promised, said);
}

TEST(StablePrefix, OfABeamIsOftenSomethingBeforeTheEnd) {
  size_t promised = 0, said = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    said += Found(RandomLanguage(seed, 9), TaskOf(Options(4, 30)), &promised)[0].tokens.size();
  }
  EXPECT_GT(promised, said / 10);
}

}  // namespace
}  // namespace dragoman::stable_prefix_test
