#include "engine/text/term_index.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/text/words.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::term_index_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Each term that is found, and the text that it is found in.
std::vector<std::pair<size_t, std::string>> Found(const std::vector<Term>& terms,
                                                  const std::string& text) {
  std::vector<std::pair<size_t, std::string>> found;
  TermIndex(terms).Find(text, [&](const TermMatch& match) {
    found.emplace_back(match.term, text.substr(match.span.begin, match.span.size()));
  });
  return found;
}

TEST(TermIndex, FindsTermsThatOverlap) {
  EXPECT_THAT(Found({{"house"}, {"house boat"}, {"boat"}}, "My house boat’s old, a houseboat."),
              ElementsAre(std::pair(0, "house"), std::pair(1, "house boat"), std::pair(2, "boat")));
  EXPECT_THAT(Found({{"a b c d"}, {"b c"}, {"c"}}, "a b c e"),
              ElementsAre(std::pair(1, "b c"), std::pair(2, "c")));
}

TEST(TermIndex, ReadsTextsAndTermsAlike) {
  EXPECT_THAT(Found({{" New  York "}}, "In New\u00a0York and New\n York."),
              ElementsAre(std::pair(0, "New\u00a0York"), std::pair(0, "New\n York")));
  EXPECT_THAT(Found({{"driver's seat"}}, "the driver’s se\u00adat"),
              ElementsAre(std::pair(0, "driver’s se\u00adat")));
  EXPECT_THAT(Found({{"e\u2011mail"}}, "An e-mail"), ElementsAre(std::pair(0, "e-mail")));
  EXPECT_THAT(Found({{""}, {"  "}}, "An e-mail"), IsEmpty());
  EXPECT_THAT(Found({}, "An e-mail"), IsEmpty());
}

TEST(TermIndex, CaseCountsUnlessItIsIgnored) {
  const std::vector<Term> terms = {{"Polish"}, {"polish"}, {"ÄRGER", true}, {"polish", true}};
  EXPECT_THAT(Found(terms, "POLISH Polish"),
              ElementsAre(std::pair(3, "POLISH"), std::pair(0, "Polish"), std::pair(3, "Polish")));
  EXPECT_THAT(Found(terms, "polish ärger"),
              ElementsAre(std::pair(1, "polish"), std::pair(3, "polish"), std::pair(2, "ärger")));
}

TEST(TermIndex, OfEqualTermsTheFirstIsFoundHoweverManyThereAre) {
  std::vector<Term> terms = {{"B"}};
  for (int i = 0; i < 100'000; ++i) terms.push_back({i % 3 == 0 ? "a  b" : "a\u00a0b"});
  EXPECT_THAT(Found(terms, "a b, a b B"),
              ElementsAre(std::pair(1, "a b"), std::pair(1, "a b"), std::pair(0, "B")));
  EXPECT_EQ(TermKey("a  b", false), TermKey("a\u00a0b", false));
  EXPECT_NE(TermKey("a b", false), TermKey("A b", false));
  EXPECT_EQ(TermKey("a b", true), TermKey("A b", true));
  EXPECT_NE(TermKey("a b", true), TermKey("a b", false));
}

// What begins with the same letters in other cases is other terms.
TEST(TermIndex, OfManyThatDifferInCaseThatWhichIsWrittenIsFound) {
  std::vector<Term> terms;
  for (unsigned bits = 0; bits < 1u << 12; ++bits) {
    std::string text;
    for (unsigned i = 0; i < 12; ++i) text += (bits >> i & 1) != 0 ? 'A' : 'a';
    terms.push_back({text});
  }
  terms.push_back({"AAAAAAAAAAAA", true});
  EXPECT_THAT(Found(terms, terms[1234].text + " " + terms[77].text),
              ElementsAre(std::pair(1234, terms[1234].text), std::pair(4096, terms[1234].text),
                          std::pair(77, terms[77].text), std::pair(4096, terms[77].text)));
}

// What begins with something invisible is read character by character, and the rest in place.
TEST(TermIndex, FindsTheSameHoweverATextIsRead) {
  const std::vector<std::string> letters = {"a",      "A",  "ä",      "Ä", "İ",  "ẞ",
                                            " ",      "  ", "\t",     "’", "家", "a",
                                            "\u00ad", "-",  "\u2011", "e", " ",  "\u00a0"};
  std::mt19937 random(8);
  const auto text = [&](size_t most) {
    std::string made;
    for (size_t i = random() % most + 1; i > 0; --i) made += letters[random() % letters.size()];
    return made;
  };
  size_t all = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<Term> terms;
    for (int i = 0; i < 12; ++i) terms.push_back({text(4), random() % 2 == 0});
    const TermIndex index(terms);
    const std::string plain = text(30), invisible = "\u00ad";
    std::vector<std::pair<size_t, std::string>> found[2];
    index.Find(plain, [&](const TermMatch& match) {
      found[0].emplace_back(match.span.begin, plain.substr(match.span.begin, match.span.size()));
    });
    const std::string other = invisible + plain;
    index.Find(other, [&](const TermMatch& match) {
      found[1].emplace_back(match.span.begin - invisible.size(),
                            other.substr(match.span.begin, match.span.size()));
    });
    EXPECT_EQ(found[0], found[1]) << plain;
    all += found[0].size();
  }
  EXPECT_GT(all, 2000u);
}

// A naive twin, over texts of very few letters.
TEST(TermIndex, FindsWhatASearchForEachTermFinds) {
  std::mt19937 random(7);
  const auto text = [&](size_t most) {
    std::string made;
    for (size_t i = random() % (most + 1); i > 0; --i) {
      made += std::vector<std::string>{"a", "b", " ", "家"}[random() % 4];
    }
    return made;
  };
  for (int round = 0; round < 500; ++round) {
    std::vector<Term> terms;
    for (int i = 0; i < 12; ++i) {
      const std::string term = text(4);
      const bool plain = term.find("  ") == term.npos && !term.starts_with(" ") &&
                         !term.ends_with(" ") && !term.empty();
      const bool is_new = std::none_of(terms.begin(), terms.end(),
                                       [&](const Term& other) { return other.text == term; });
      if (plain && is_new) terms.push_back({term});
    }
    const std::string all = text(30);
    if (all.find("  ") != all.npos) continue;
    std::vector<std::pair<size_t, size_t>> want, found;
    for (size_t t = 0; t < terms.size(); ++t) {
      const std::string& term = terms[t].text;
      for (size_t i = all.find(term); i != all.npos; i = all.find(term, i + 1)) {
        if (IsWholeWord(all, i, i + term.size())) want.emplace_back(t, i);
      }
    }
    TermIndex(terms).Find(all, [&](const TermMatch& match) {
      found.emplace_back(match.term, match.span.begin);
      EXPECT_EQ(all.substr(match.span.begin, match.span.size()), terms[match.term].text);
    });
    EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(want)) << all;
  }
}

}  // namespace
}  // namespace dragoman::term_index_test
