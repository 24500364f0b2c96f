#include "engine/request/plan.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/text/literals.h"
#include "engine/text/words.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman::plan_test {
namespace {

class PlanTest : public testing::Test {
 protected:
  PlanTest() {
    context_.model = TrainedModel();
    context_.limits.max_source_tokens = 4;
    context_.rules = MakeRules(context_.model->generation(), context_.model->spec(),
                               context_.model->tokenizer().target_unknown_id());
    context_.pieces = std::make_shared<LazyPieces>();
    context_.check_ahead = [this](const RequestState&, const RoughSize& size) {
      ++asked_;
      size_ = size;
      return absl::ResourceExhaustedError("the queue is full");
    };
  }

  absl::Status Plan(TranslateRequest request) {
    absl::StatusOr<TranslationPlan> plan = MakePlan(
        context_, {std::move(request)}, std::make_shared<RequestState>(absl::InfiniteFuture()));
    if (plan.ok()) plan_ = *std::move(plan);
    return plan.status();
  }

  PlanContext context_;
  int asked_ = 0;
  RoughSize size_;
  TranslationPlan plan_;  // the last one that was made
};

TEST_F(PlanTest, WhatIsRefusedIsNotTokenized) {
  // Tokens would be counted, and be too many.
  const absl::Status status =
      Plan({.texts = {"ab c d e f g hi", "ij kl"}, .options = {.beam_size = 3}});
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(size_.texts, 2);
  EXPECT_EQ(size_.bytes, 20u);
  EXPECT_EQ(size_.rows, 3);
  context_.check_ahead = nullptr;
  EXPECT_TRUE(absl::IsInvalidArgument(
      Plan({.texts = {"ab c d e f g hi", "ij kl"}, .truncation = Truncation::kReject})));
}

TEST_F(PlanTest, AMistakeIsToldEvenIfTheQueueIsFull) {
  EXPECT_TRUE(absl::IsInvalidArgument(Plan({.texts = {"cat"}, .options = {.beam_size = -1}})));
  EXPECT_TRUE(absl::IsInvalidArgument(Plan({.texts = {"\xff"}})));
  EXPECT_EQ(asked_, 0);
}

TEST_F(PlanTest, TextsWithoutWordsAreNotRefused) {
  EXPECT_TRUE(Plan({.texts = {"", " \n"}}).ok());
  EXPECT_EQ(asked_, 0);
}

TEST_F(PlanTest, ALimitOfCharactersCountsCodePoints) {
  context_.check_ahead = nullptr;
  context_.limits.max_source_tokens = 100;
  context_.limits.max_characters = 4;
  EXPECT_TRUE(Plan({.texts = {"öä", "üß"}}).ok());
  const absl::Status status = Plan({.texts = {"öä", "üßé"}});
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_EQ(FieldOf(status), "contents[1]");
}

TEST_F(PlanTest, TruncationKeepsAsMuchAsIsAllowedAndTheEnd) {
  context_.check_ahead = nullptr;
  TranslateRequest request = {.texts = {"The old teacher sees a small house."}};
  std::vector<int32_t> tokens = context_.model->tokenizer().Encode(request.texts[0]).ids;
  context_.limits.max_source_tokens = static_cast<int>(tokens.size());
  ASSERT_TRUE(Plan(request).ok());
  request.truncation = Truncation::kTruncate;
  ASSERT_TRUE(Plan(request).ok());
  EXPECT_FALSE(plan_.texts[0].truncated);
  EXPECT_EQ(plan_.jobs[0]->source, tokens);

  --context_.limits.max_source_tokens;
  ASSERT_TRUE(Plan(request).ok());
  EXPECT_TRUE(plan_.texts[0].truncated);
  tokens.erase(tokens.end() - 2);
  EXPECT_EQ(plan_.jobs[0]->source, tokens);
  request.truncation = Truncation::kReject;
  EXPECT_TRUE(absl::IsInvalidArgument(Plan(request)));
}

// A text of words, punctuation and literals, in which words may be endless and sentences long.
std::string LongText(std::mt19937_64& random) {
  constexpr const char* kParts[] = {
      "house", "cat", "small,", "old;", "sees:",  "Häuser", "-x", "–", "%1$s", "{a; b}",
      "🙂",  "<b>", "</b>",   "é",    "家が見", "Haus.",  "24", ":", "\n",   "a.jar,b.jar"};
  std::string text = "The";
  for (size_t parts = 1 + random() % 60; parts > 0; --parts) {
    constexpr const char* kBetween[] = {" ", " ", " ", "  ", "", "\t", " "};
    text += kBetween[random() % std::size(kBetween)];
    std::string part = kParts[random() % std::size(kParts)];
    if (random() % 16 == 0) {
      for (int i = 0; i < 4; ++i) part += part;
    }
    text += part;
  }
  return text;
}

// Whatever a text is, it is planned: a sentence that is too long is divided between its words and
// never in a literal or in a character, and a word that is too long stays as it is.
TEST_F(PlanTest, NoTextIsTooLong) {
  context_.check_ahead = nullptr;
  int parts = 0, endless = 0;
  for (uint64_t seed = 1; seed <= 2000 && !HasFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const std::string text = LongText(random);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << text);
    context_.limits.max_source_tokens = 4 + static_cast<int>(random() % 20);
    const TextSource source = random() % 2 == 0 ? TextSource::kProse : TextSource::kStrings;
    const bool literals = random() % 4 != 0;
    ASSERT_TRUE(Plan({.texts = {text},
                      .splitting = random() % 3 == 0 ? Splitting::kNone : Splitting::kSentences,
                      .keep_literals = literals,
                      .text_source = source})
                    .ok());
    for (const JobPtr& job : plan_.jobs) {
      EXPECT_LE(static_cast<int>(job->source.size()), context_.limits.max_source_tokens);
    }
    const PlannedText& planned = plan_.texts[0];
    const std::vector<Literal> found =
        literals ? FindLiterals(text, source) : std::vector<Literal>();
    const auto within = [&](size_t place) {
      return std::any_of(found.begin(), found.end(), [&](const Literal& literal) {
        return literal.span.begin < place && place < literal.span.end;
      });
    };
    size_t end = 0;
    for (const PlannedSentence& sentence : planned.sentences) {
      const TextSpan span = sentence.span;
      EXPECT_FALSE(HasLetterOrDigit(text.substr(end, span.begin - end))) << "at " << end;
      end = span.end;
      parts += sentence.is_part ? 1 : 0;
      endless += sentence.is_endless ? 1 : 0;
      if (!sentence.is_part) continue;
      for (const size_t place : {span.begin, span.end}) {
        EXPECT_FALSE(within(place)) << "at " << place;
        EXPECT_TRUE(IsValidUtf8(text.substr(0, place))) << "at " << place;
      }
    }
    EXPECT_FALSE(HasLetterOrDigit(text.substr(end)));
    std::string words = text;
    for (const Literal& literal : found) {
      words.replace(literal.span.begin, literal.span.size(), literal.span.size(), '.');
    }
    for (const PlannedSentence& sentence : planned.sentences) {
      const TextSpan span = sentence.span;
      for (size_t i = span.begin; sentence.is_endless && i < span.end; ++i) {
        if (!absl::ascii_isspace(static_cast<unsigned char>(words[i]))) continue;
        EXPECT_FALSE(HasLetterOrDigit(words.substr(span.begin, i - span.begin)) &&
                     HasLetterOrDigit(words.substr(i, span.end - i)))
            << "could be divided at " << i;
      }
    }
  }
  EXPECT_GT(parts, 1000);
  EXPECT_GT(endless, 100);
}

TEST_F(PlanTest, WhatBeginsWithATargetIsRefusedIfItIsTooLong) {
  context_.check_ahead = nullptr;
  const absl::Status status =
      Plan({.texts = {"The old teacher sees a small house."}, .target_prefixes = {"Der"}});
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_EQ(FieldOf(status), "contents[0]");
}

// Counts how often it is asked whether a plan is wanted, which it is so many times.
class PlanWantedTest : public PlanTest {
 protected:
  PlanWantedTest() {
    context_.check_ahead = nullptr;
    context_.limits = {.max_texts = 1000, .max_source_tokens = 100};
    context_.wanted = [this](const RequestState&) {
      ++times_;
      return times_ <= wanted_ ? absl::OkStatus() : absl::CancelledError("nobody waits");
    };
  }

  // How often it is asked until the plan is made, and expects that it ends at once when it is not
  // wanted any more, wherever that is.
  int Times(const TranslateRequest& request) {
    wanted_ = std::numeric_limits<int>::max();
    times_ = 0;
    EXPECT_TRUE(Plan(request).ok());
    const int all = times_;
    for (const int wanted : std::set<int>{0, all / 3, all / 2, all - 1}) {
      if (all == 0) break;
      wanted_ = wanted;
      times_ = 0;
      EXPECT_TRUE(absl::IsCancelled(Plan(request))) << wanted;
      EXPECT_EQ(times_, wanted + 1);
    }
    return all;
  }

  int wanted_ = 0, times_ = 0;
};

TEST_F(PlanWantedTest, AShortRequestAsksNothing) {
  TranslateRequest request = {.texts = {"The old house.", "A cat."}};
  request.words.glossary = {{"house", {"Heim"}}};
  EXPECT_EQ(Times(request), 0);
}

TEST_F(PlanWantedTest, TextsAreAskedForAsTheyAreTokenized) {
  const auto times = [&](size_t texts) {
    return Times({.texts = std::vector<std::string>(texts, "The old house is small.")});
  };
  EXPECT_GE(times(500), 4);
  EXPECT_LE(times(500), 16);
  EXPECT_NEAR(times(1000), 2 * times(500), 2);
}

TEST_F(PlanWantedTest, EntriesAreAskedForAsTheyAreChecked) {
  const auto times = [&](int entries) {
    TranslateRequest request = {.texts = {"A cat."}};
    for (int i = 0; i < entries; ++i) {
      request.words.glossary.push_back({"house " + std::to_string(i), {"Haus Haus Haus"}});
    }
    return Times(request);
  };
  EXPECT_GE(times(2000), 8);
  EXPECT_NEAR(times(4000), 2 * times(2000), 4);
}

TEST_F(PlanWantedTest, FormsAreAskedForAsTheyAreMade) {
  TranslateRequest request = {.texts = {"The house, the cat, the dog, the tree."}};
  for (const std::string source : {"house", "cat", "dog", "tree"}) {
    GlossaryEntry entry = {.source = source, .inflect = true};
    for (size_t i = 0; i < kMaxTermTargets; ++i) {
      entry.targets.push_back(std::string(i + 1, 'a') + " Haus");
    }
    request.words.glossary.push_back(std::move(entry));
  }
  request.target_language = "de";
  request.source_language = "en";
  EXPECT_GE(Times(request), 4);
}

TEST_F(PlanWantedTest, ForbiddenSequencesAreAskedForAsTheyAreRead) {
  TranslateRequest request = {.texts = {"A cat."}};
  for (int i = 0; i < 1000; ++i) {
    request.words.suppress_sequences.push_back("das alte Haus " + std::to_string(i));
  }
  EXPECT_GE(Times(request), 3);
}

TEST_F(PlanTest, WhatIsDrawnDependsOnTheSeedAndTheSentenceButNotOnItsPlace) {
  context_.check_ahead = nullptr;
  context_.limits.max_source_tokens = 100;
  TranslateRequest request = {.texts = {"It is old. It is old. It is new.", "It is old."},
                              .splitting = Splitting::kSentences};
  request.options.sampling = true;
  ASSERT_TRUE(Plan(request).ok());
  ASSERT_EQ(plan_.jobs.size(), 4u);
  const uint64_t key = plan_.jobs[0]->random_key;
  EXPECT_EQ(plan_.jobs[1]->random_key, key);
  EXPECT_NE(plan_.jobs[2]->random_key, key);
  EXPECT_EQ(plan_.jobs[3]->random_key, key);
  request.options.sampling_seed = 1;
  ASSERT_TRUE(Plan(request).ok());
  EXPECT_NE(plan_.jobs[0]->random_key, key);
}

}  // namespace
}  // namespace dragoman::plan_test
