#include "engine/text/endings.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::endings_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

TEST(Endings, OfGermanWordsMayChangeTheVowelBefore) {
  EXPECT_THAT(Inflected("Haus", "de"), IsSupersetOf({"Hauses", "Häuser", "Häusern"}));
  EXPECT_THAT(Inflected("Mutter", "de_DE"), Contains("Mütter"));
  EXPECT_THAT(Inflected("Apfel", "deu_Latn"), Contains("Äpfeln"));
  EXPECT_THAT(Inflected("Ergebnis", "de"), IsSupersetOf({"Ergebnisse", "Ergebnisses"}));
  EXPECT_THAT(Inflected("Museum", "de"), Contains("Museen"));
  EXPECT_THAT(Inflected("Firma", "de"), ElementsAre("Firmas", "Firman", "Firmen"));
  EXPECT_THAT(Inflected("Ziel", "de"), IsSupersetOf({"Ziele", "Zielen"}));
}

TEST(Endings, AreOfTheWordThatChanges) {
  EXPECT_THAT(Inflected("rotes Haus", "de"), Contains("rotes Hauses"));
  EXPECT_THAT(Inflected("salle de bains", "fr"), Contains("salles de bains"));
  EXPECT_THAT(Inflected("casa blanca", "es"), IsSupersetOf({"casas blanca", "casas blancas"}));
  EXPECT_THAT(Inflected("cheval", "fr"), Contains("chevaux"));
  EXPECT_THAT(Inflected("vez", "es"), Contains("veces"));
}

TEST(Endings, AreNotOfOtherWords) {
  EXPECT_THAT(Inflected("cat", "en"), ElementsAre("cats", "cates"));
  EXPECT_THAT(Inflected("chat", "fr"), Not(Contains("chaux")));
  EXPECT_THAT(Inflected("", "de"), IsEmpty());
  EXPECT_THAT(Inflected("дом", "ru"), IsEmpty());
  EXPECT_THAT(Inflected("Haus", ""), IsEmpty());
}

}  // namespace
}  // namespace dragoman::endings_test
