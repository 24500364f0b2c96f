#include "engine/text/splitter.h"

#include <random>
#include <string>

#include "engine/base/utf8.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::splitter_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> sentences;
  for (const TextSpan& span : SplitSentences(text)) {
    sentences.emplace_back(text.substr(span.begin, span.end - span.begin));
  }
  return sentences;
}

// Texts that must stay one sentence.
void ExpectWhole(std::initializer_list<const char*> texts) {
  for (const char* text : texts) EXPECT_THAT(Split(text), ElementsAre(text));
}

TEST(Splitter, PunctuationBeforeWhiteSpaceEndsASentence) {
  EXPECT_THAT(Split("The cat sleeps. Does it? Yes! It dreams… Of mice."),
              ElementsAre("The cat sleeps.", "Does it?", "Yes!", "It dreams…", "Of mice."));
  EXPECT_THAT(Split("Really?! Yes... Well, no."), ElementsAre("Really?!", "Yes...", "Well, no."));
}

TEST(Splitter, ATextWithoutPunctuationIsOneSentence) {
  EXPECT_THAT(Split("no full stop"), ElementsAre("no full stop"));
  EXPECT_THAT(Split("."), ElementsAre("."));
}

TEST(Splitter, WhiteSpaceAloneHasNoSentence) {
  EXPECT_THAT(Split(""), IsEmpty());
  EXPECT_THAT(Split(" \t\r\n\u00A0\u3000\u2028"), IsEmpty());
}

TEST(Splitter, SpansPointIntoTheText) {
  EXPECT_THAT(SplitSentences("  Ä bc.  D. "), ElementsAre(TextSpan{2, 8}, TextSpan{10, 12}));
}

TEST(Splitter, ALineBreakEndsASentence) {
  EXPECT_THAT(Split("a\nb\r\nc\u2028d\u2029e\u0085f\n\n g"),
              ElementsAre("a", "b", "c", "d", "e", "f", "g"));
  EXPECT_THAT(Split("Dr.\nSmith"), ElementsAre("Dr.", "Smith"));
}

TEST(Splitter, ATabEndsAColumn) {
  EXPECT_THAT(Split("Name:\tValue \t5\n\tCat\t\tDog"),
              ElementsAre("Name:", "Value", "5", "Cat", "Dog"));
  EXPECT_THAT(Split("a line \n\tthat goes on"), ElementsAre("a line", "that goes on"));
}

TEST(Splitter, ACjkFullStopNeedsNoSpace) {
  EXPECT_THAT(Split("猫が寝ています。本当？はい！"),
              ElementsAre("猫が寝ています。", "本当？", "はい！"));
  EXPECT_THAT(Split("他说：“你好。”然后走了。"), ElementsAre("他说：“你好。”", "然后走了。"));
}

TEST(Splitter, OtherScriptsHaveTheirOwnFullStops) {
  EXPECT_THAT(Split("यह घर है। वह पेड़ है।"), ElementsAre("यह घर है।", "वह पेड़ है।"));
  EXPECT_THAT(Split("كيف حالك؟ أنا بخير."), ElementsAre("كيف حالك؟", "أنا بخير."));
  EXPECT_THAT(Split("Он спит. Она ест."), ElementsAre("Он спит.", "Она ест."));
  ExpectWhole({"Он живёт на ул. дружбы.", "Ο κ. Παπαδόπουλος ήρθε."});
}

TEST(Splitter, ClosingMarksBelongToTheirSentence) {
  EXPECT_THAT(Split("\"Stop!\" Tom ran. (It was late.) He fell."),
              ElementsAre("\"Stop!\"", "Tom ran.", "(It was late.)", "He fell."));
  EXPECT_THAT(Split("„Gut.“ Er ging. « Bien. » Il part."),
              ElementsAre("„Gut.“", "Er ging.", "« Bien. »", "Il part."));
}

TEST(Splitter, ASentenceMayBeginWithQuotesBracketsAndSpanishMarks) {
  EXPECT_THAT(Split("Él vino. ¿Quién? «Yo». ¡Ah! (Sí.) “No.” — Fin."),
              ElementsAre("Él vino.", "¿Quién?", "«Yo».", "¡Ah!", "(Sí.)", "“No.”", "— Fin."));
}

TEST(Splitter, NoSentenceBeginsInLowerCase) {
  ExpectWhole({"\"Really?\" she asked.", "Yahoo! is a firm.", "Well... maybe.",
               "C'est à 5 km. env. d'ici", "Er kam. ähnlich", "Hm… ſo", "a. ž"});
}

TEST(Splitter, AnAbbreviationEndsNoSentence) {
  ExpectWhole({"Dr. Smith met Mrs. Jones and Prof. Lee.", "Das ist z.B. Berlin.",
               "Das ist z. B. Berlin.", "Siehe bzw. Kap. Zwei, d.h. Seite zwei.",
               "Hr. Dr. med. Meier und Fr. Weber", "Dipl.-Ing. Weber kam.",
               "M. Dupont et Mme. Curie, p. ex. Paris", "El Sr. García y la Dra. Pérez",
               "EE. UU. Norte", "Man United vs. Chelsea", "J. R. R. Tolkien", "The U.S. Army",
               "e.g. London"});
}

TEST(Splitter, SomeAbbreviationsHoldOnlyBeforeANumber) {
  ExpectWhole({"See No. 5 and Fig. 3.", "Siehe Nr. 7.", "On Dec. 24 it snowed."});
  EXPECT_THAT(Split("I said no. He left."), ElementsAre("I said no.", "He left."));
}

TEST(Splitter, NumbersStayWhole) {
  ExpectWhole({"It costs 3.50 dollars.", "Pi is 3. 14 or so.", "Version 2.0.1 is out",
               "1. Introduction", "Am 3. Mai kam er.", "Der 2. Weltkrieg begann.",
               "Es war Dienstag, 24. Dezember."});
  EXPECT_THAT(Split("He was born in 1984. She was not."),
              ElementsAre("He was born in 1984.", "She was not."));
  EXPECT_THAT(Split("Tom is 12. Mary is 13."), ElementsAre("Tom is 12.", "Mary is 13."));
}

TEST(Splitter, ADotInsideAWordEndsNothing) {
  ExpectWhole({"Visit www.example.org/a.html now", "Mail a.b@c.de!", "Node.JS rocks"});
}

TEST(Splitter, AnAbbreviationEndsASentenceIfTheNextWordBeginsOne) {
  EXPECT_THAT(Split("I live in the U.S. How about you? He left the U.K. Parliament."),
              ElementsAre("I live in the U.S.", "How about you?", "He left the U.K. Parliament."));
  EXPECT_THAT(Split("I live in the U.S. Many do. I saw the U.S. Open."),
              ElementsAre("I live in the U.S.", "Many do.", "I saw the U.S. Open."));
  EXPECT_THAT(Split("At 5 p.m. Mr. Lee left. At 6 p.m. Trains stop."),
              ElementsAre("At 5 p.m. Mr. Lee left.", "At 6 p.m.", "Trains stop."));
  ExpectWhole({"Lee GmbH & Co. KG sells tea.", "Lee & Co. Ltd. sells tea."});
  EXPECT_THAT(Split("He slept until 5 p.m. Mr. Lee left."),
              ElementsAre("He slept until 5 p.m.", "Mr. Lee left."));
}

TEST(Splitter, AMarkerOfAListBelongsToItsItem) {
  EXPECT_THAT(Split("1.) Wash. 2.) Dry."), ElementsAre("1.) Wash.", "2.) Dry."));
  EXPECT_THAT(Split("1. The first item 2. The second item"),
              ElementsAre("1. The first item", "2. The second item"));
  EXPECT_THAT(Split("a. The first item b. The second item c. The third"),
              ElementsAre("a. The first item", "b. The second item", "c. The third"));
  EXPECT_THAT(Split("• 9. Wash • 10. Dry"), ElementsAre("• 9. Wash", "• 10. Dry"));
  EXPECT_THAT(Split("(a) wash (b) dry"), ElementsAre("(a) wash", "(b) dry"));
  ExpectWhole({"Am 2. Mai und am 3. Mai", "z. B. Hai und z. B. Aal", "He came 1st and she 2nd."});
}

TEST(Splitter, NothingEndsWithinAShortQuotation) {
  EXPECT_THAT(Split("Er rief: „Halt. Nein!“ Dann ging er."),
              ElementsAre("Er rief: „Halt. Nein!“", "Dann ging er."));
  EXPECT_THAT(Split("今天看《走吧！爸爸》好吗？好！"),
              ElementsAre("今天看《走吧！爸爸》好吗？", "好！"));
  EXPECT_THAT(Split("Er rief: ‚Halt. Nein!‘ Dann ging er."),
              ElementsAre("Er rief: ‚Halt. Nein!‘", "Dann ging er."));
  ExpectWhole({"She said ‘It’s late. I don’t mind. Stay’ and left.", "그는 ‘네. 네.’라고 했다."});
  EXPECT_THAT(Split("他说‘你好。再见。’然后走了。"),
              ElementsAre("他说‘你好。再见。’", "然后走了。"));
  EXPECT_THAT(Split("Those are the boys’ toys. ‘Tis so."),
              ElementsAre("Those are the boys’ toys.", "‘Tis so."));
  EXPECT_THAT(Split("U o‘sha. Bu ko‘cha. Ha’."), ElementsAre("U o‘sha.", "Bu ko‘cha.", "Ha’."));
  ExpectWhole({"We saw (it was late. Very late!) a fox.", "Bohr [...] used it."});
  const std::string word = "Go" + std::string(400, 'o');
  EXPECT_THAT(Split("“Oh. " + word + " on.” Yes."), ElementsAre("“Oh.", word + " on.”", "Yes."));
  EXPECT_THAT(Split("“Oh (no. Yes. Well."), ElementsAre("“Oh (no.", "Yes.", "Well."));
}

TEST(Splitter, SpacedDotsAreOneEllipsis) {
  ExpectWhole({"I was . . . I did not mean it."});
  EXPECT_THAT(Split("It was all . . . . Then it ended."),
              ElementsAre("It was all . . . .", "Then it ended."));
}

TEST(Splitter, AReferenceToAFootnoteBelongsToItsSentence) {
  EXPECT_THAT(Split("He died.[1] She lived.[2][3] They sang.11 12 All wept."),
              ElementsAre("He died.[1]", "She lived.[2][3]", "They sang.11 12", "All wept."));
  ExpectWhole({"He took no.10 Downing Street."});
}

TEST(Splitter, ALineThatWasFullGoesOn) {
  ExpectWhole({"It was a cold \nnight."});
  EXPECT_THAT(Split("cold\nnight \nDay"), ElementsAre("cold", "night", "Day"));
}

TEST(Splitter, ALineBreakAfterAParticleIsWithinASentence) {
  ExpectWhole({"これは父の\n家です。"});
  EXPECT_THAT(Split("これは\n父の\n\n家です。"), ElementsAre("これは", "父の", "家です。"));
}

TEST(Splitter, AnItemBeginsOnALineOfItsOwn) {
  EXPECT_THAT(Split("(i) One. \n(ii) Two. \niii) three"),
              ElementsAre("(i) One.", "(ii) Two.", "iii) three"));
  ExpectWhole({"One \n(or two) of them"});
}

TEST(Splitter, ADashOrASlashGoesOn) {
  ExpectWhole({"Put it in the oven, and -- voila! -- you have cake.", "Aquí canto. / [...]",
               "It costs Rs. 1000 and more."});
  EXPECT_THAT(Split("Voila! -- You have cake."), ElementsAre("Voila!", "-- You have cake."));
}

TEST(Splitter, AnArabicColonEndsASentence) {
  EXPECT_THAT(Split("سؤال وجواب: ماذا حدث؟ 05:01"),
              ElementsAre("سؤال وجواب:", "ماذا حدث؟", "05:01"));
}

TEST(Splitter, ALongArabicSentenceEndsAtTheCommasBetweenItsClauses) {
  // "They went to the market early in the morning, and then bought bread, milk, and cheese for the
  // children, and came back home."
  const std::string went = "ذهب الرجال إلى السوق في الصباح الباكر مع أصدقائهم القدامى،";
  const std::string bought = "ثم اشتروا من الدكان الكبير خبزا، وحليبا، وجبنة للأطفال،";
  const std::string back = "وعادوا بعد ذلك إلى البيت مسرورين.";
  EXPECT_THAT(Split(went + " " + bought + " " + back), ElementsAre(went, bought, back));
  const std::string short_one = bought + " " + back;
  EXPECT_THAT(Split(short_one), ElementsAre(short_one));
  // A quotation stays whole, and so does Persian.
  const std::string quoted = went + " وقال «" + bought + " " + back + "»";
  EXPECT_THAT(Split(quoted), ElementsAre(went, quoted.substr(went.size() + 1)));
  const std::string persian = went + " " + bought + " وعادوا بعد ذلک إلى البيت مسرورين.";
  EXPECT_THAT(Split(persian), ElementsAre(persian));
}

TEST(Splitter, ArmenianAndGreekHaveMarksOfTheirOwn) {
  EXPECT_THAT(Split("Մութ է: Ես գնամ:"), ElementsAre("Մութ է:", "Ես գնամ:"));
  EXPECT_THAT(Split("Πού είναι; Εδώ."), ElementsAre("Πού είναι;", "Εδώ."));
  ExpectWhole({"Note: This stays; So does this."});
}

TEST(Splitter, ADashOfADialogueIsNoPartOfItsSentence) {
  const std::string text = "- No! - Yes! * So? – Why?";
  std::vector<std::string> said;
  for (const TextSpan& span : SplitSentences(text)) {
    const TextSpan core = WithoutListMarker(text, span);
    said.push_back(text.substr(core.begin, core.size()));
  }
  EXPECT_EQ(said, (std::vector<std::string>{"No!", "Yes!", "* So?", "Why?"}));
}

TEST(Splitter, AMarkerOfALineIsNoPartOfItsSentence) {
  for (const std::string marker :
       {"* ", "- ", "+ ", "· ", "— ", "# ", "> ", ">> ", "[ ] ", "a) ", "1) ", "(1) "}) {
    const std::string text = "One.\n" + marker + "The cat.";
    EXPECT_EQ(WithoutListMarker(text, {5, text.size()}).begin, 5 + marker.size()) << marker;
  }
  EXPECT_EQ(WithoutListMarker("#5 is", {0, 5}).begin, 0u);
}

TEST(Splitter, BracketsAroundASentenceAreNoPartOfIt) {
  const auto within = [](const std::string& text) {
    const TextSpan span = WithoutListMarker(text, {0, text.size()});
    return text.substr(span.begin, span.size());
  };
  EXPECT_EQ(within("(See the cat (or not).)"), "See the cat (or not).");
  EXPECT_EQ(within("- (See the cat)"), "See the cat");
  for (const std::string whole : {"(One) and (two)", "(One", "()", "(See) it.", "(a))(", ")a("}) {
    EXPECT_EQ(within(whole), whole);
  }
}

TEST(Splitter, OnlyWhiteSpaceIsBetweenSentences) {
  constexpr uint32_t kSeed = 11;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const char* kMarks[] = {"a",  "B",  "é",  " ", " ",      "\n",     "\r\n", ".", ".",
                          "!",  "…",  "。", "“", "\"",     ")",      "(",    "1", "9",
                          "Dr", "am", "-",  "«", "\u2028", "\u00A0", "🙂"};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (size_t n = random() % 20; n > 0; --n) text += kMarks[random() % std::size(kMarks)];
    size_t end = 0;
    for (const TextSpan& span : SplitSentences(text)) {
      const std::string between = text.substr(end, span.begin - end);
      const std::string sentence = text.substr(span.begin, span.end - span.begin);
      ASSERT_EQ(StripWhiteSpace(between), "") << text;
      ASSERT_FALSE(sentence.empty()) << text;
      ASSERT_EQ(StripWhiteSpace(sentence), sentence) << text;
      for (size_t end_of_line = sentence.find('\n'); end_of_line != std::string::npos;
           end_of_line = sentence.find('\n', end_of_line + 1)) {
        ASSERT_EQ(sentence[end_of_line - 1], ' ') << text;  // a line that was full
      }
      end = span.end;
    }
    ASSERT_EQ(StripWhiteSpace(text.substr(end)), "") << text;
  }
}

TEST(Splitter, WhatIsASentenceStaysOne) {
  const std::string text = "One. Two. Three: Mr. x. Four. Five";
  //                        0    5    10           24   30
  EXPECT_EQ(SplitAround(text, {{5, 9}, {10, 29}}),
            (std::vector<TextSpan>{{0, 4}, {5, 9}, {10, 29}, {30, 34}}));
  EXPECT_EQ(SplitAround(text, {}), SplitSentences(text));
}

}  // namespace
}  // namespace dragoman::splitter_test
