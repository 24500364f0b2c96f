// What a text was before it was edited: a guess at its translation, which changes nothing.

#include "engine/request/previous.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/request/translator_fixture.h"

namespace dragoman::previous_test {
namespace {

TEST(PreviousVersion, AnswersWithTheSentenceThatIsMostAlike) {
  const PreviousVersion previous("One cat. Two dogs.", "Eine Katze. Zwei Hunde.", /*split=*/true);
  EXPECT_EQ(previous.DraftOf("One cat."), "Eine Katze.");
  EXPECT_EQ(previous.DraftOf("Two old dogs."), "Zwei Hunde.");
  EXPECT_EQ(previous.DraftOf("xyz"), "");
  EXPECT_EQ(previous.DraftOf(""), "");
  EXPECT_EQ(PreviousVersion("", "Eine Katze.", true).DraftOf("One cat."), "");
}

TEST(PreviousVersion, SentencesThatCannotBeToldApartAreOne) {
  const PreviousVersion previous("One cat. Two dogs.", "Eine Katze und zwei Hunde.", true);
  EXPECT_EQ(previous.DraftOf("One cat. Two cats."), "Eine Katze und zwei Hunde.");
}

class EditedText : public TranslatorTest {
 protected:
  static TranslateRequest Greedy(const std::string& text) {
    TranslateRequest request = {.texts = {text}, .splitting = Splitting::kSentences};
    request.options.beam_size = 1;
    return request;
  }
  std::string TextOf(const TranslateResponse& response) {
    EXPECT_TRUE(response.status.ok()) << response.status;
    return response.translations.at(0).hypotheses.at(0).text;
  }
};

TEST_F(EditedText, IsTranslatedAsFromScratchInFewerSteps) {
  const std::string before = "The old teacher sees a small house. Anna buys the red apple today!";
  const std::string then = TextOf(Translate(Greedy(before)));
  for (const std::string& now :
       {before, std::string("The old teacher sees a big house. Anna buys the red apple today!"),
        std::string("The old teacher sees a small house. Anna buys the red apple today! No cat."),
        std::string("Anna buys the red apple today!"), std::string("Something else entirely.")}) {
    const TranslateResponse scratch = Translate(Greedy(now));
    TranslateRequest request = Greedy(now);
    request.previous_texts = {before};
    request.previous_translations = {then};
    const TranslateResponse edited = Translate(request);
    EXPECT_EQ(TextOf(edited), TextOf(scratch)) << now;
    EXPECT_EQ(edited.translations[0].hypotheses[0].token_scores,
              scratch.translations[0].hypotheses[0].token_scores);
    EXPECT_EQ(edited.times.steps + edited.times.kept, scratch.times.steps) << now;
    if (now == before) {
      EXPECT_LT(2 * edited.times.steps, scratch.times.steps);
    }
  }
}

TEST_F(EditedText, ABadPreviousVersionIsRefused) {
  TranslateRequest request = Greedy("The cat is old.");
  request.previous_texts = {"The cat."};
  ExpectInvalid(request, "previous_translations");
  request.previous_translations = {"a", "b"};
  ExpectInvalid(request, "previous_translations");
  request.previous_translations = {"\xff"};
  ExpectInvalid(request, "previous_translations[0]");
  request.previous_translations = {std::string(10000, 'x')};
  ExpectInvalid(request, "previous_translations");
  request.previous_translations = {"Die Katze."};
  request.target_prefixes = {"Die"};
  request.splitting = Splitting::kNone;
  ExpectInvalid(request, "previous_translations");
}

}  // namespace
}  // namespace dragoman::previous_test
