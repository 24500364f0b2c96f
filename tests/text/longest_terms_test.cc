#include "engine/text/longest_terms.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::longest_terms_test {
namespace {

using ::testing::ElementsAre;

std::optional<size_t> First(const TermOccurrence& found) {
  std::optional<size_t> first;
  for (const absl::Span<const uint32_t> equal : found.terms) {
    if (!equal.empty()) first = std::min<size_t>(first.value_or(equal.front()), equal.front());
  }
  return first;
}

struct Taken {
  size_t index, term;
  TextSpan span;

  friend bool operator==(const Taken&, const Taken&) = default;
};

// What is taken, and how often a term was picked for that.
std::pair<std::vector<Taken>, size_t> Take(const std::vector<TermIndex>& indexes,
                                           const std::string& text, TermOrder order) {
  std::vector<const TermIndex*> pointers;
  for (const TermIndex& index : indexes) pointers.push_back(&index);
  std::pair<std::vector<Taken>, size_t> all;
  TakeLongest(
      pointers, text, order,
      [&](size_t, const TermOccurrence& found) {
        ++all.second;
        return First(found);
      },
      [&](size_t index, size_t term, TextSpan span) {
        all.first.push_back({index, term, span});
      });
  return all;
}

std::vector<std::string> Texts(const std::vector<Term>& terms, const std::string& text) {
  std::vector<TermIndex> indexes;
  indexes.emplace_back(terms);
  std::vector<std::string> texts;
  for (const Taken& taken : Take(indexes, text, TermOrder::kByTerm).first) {
    texts.push_back(text.substr(taken.span.begin, taken.span.size()));
  }
  return texts;
}

TEST(LongestTerms, AShorterOneCountsBesideTheOneInTheWayOfALonger) {
  EXPECT_THAT(Texts({{"New York City"}, {"City Hall"}, {"Hall"}}, "New York City Hall"),
              ElementsAre("New York City", "Hall"));
  EXPECT_THAT(Texts({{"a b"}, {"a"}, {"b c d"}}, "a b c d"), ElementsAre("b c d", "a"));
}

// All matches, sorted, and those without an overlap taken.
std::vector<Taken> TakenNaively(const std::vector<TermIndex>& indexes, const std::string& text,
                                TermOrder order) {
  std::vector<Taken> all, taken;
  for (size_t i = 0; i < indexes.size(); ++i) {
    indexes[i].Find(text, [&](const TermMatch& match) {
      all.push_back({i, match.term, match.span});
    });
  }
  std::stable_sort(all.begin(), all.end(), [&](const Taken& a, const Taken& b) {
    const bool by_term = order == TermOrder::kByTerm;
    const size_t a_size = a.span.size(), b_size = b.span.size();
    const size_t a_term = by_term ? a.term : 0, b_term = by_term ? b.term : 0;
    return std::tie(b_size, a.index, a_term, a.span.begin) <
           std::tie(a_size, b.index, b_term, b.span.begin);
  });
  for (const Taken& one : all) {
    const bool is_free = std::none_of(taken.begin(), taken.end(), [&](const Taken& other) {
      return one.span.begin < other.span.end && other.span.begin < one.span.end;
    });
    if (is_free) taken.push_back(one);
  }
  return taken;
}

TEST(LongestTerms, AreThoseOfAllThatOverlap) {
  std::mt19937 random(11);
  const auto text = [&](size_t most) {
    std::string made;
    for (size_t i = 1 + random() % most; i > 0; --i) {
      made += std::vector<std::string>{"a", "A", "b", "家", "\u00ad"}[random() % 5];
      if (random() % 3 > 0) made += " ";
    }
    return made;
  };
  for (int round = 0; round < 1000; ++round) {
    std::vector<TermIndex> indexes;
    for (int i = 0; i < 2; ++i) {
      std::vector<Term> terms;
      for (size_t t = 2 + random() % 12; t > 0; --t) terms.push_back({text(5), random() % 2 == 0});
      indexes.emplace_back(terms);
    }
    const std::string all = text(40);
    for (const TermOrder order : {TermOrder::kByTerm, TermOrder::kByPlace}) {
      EXPECT_EQ(Take(indexes, all, order).first, TakenNaively(indexes, all, order)) << all;
    }
  }
}

// How often terms are picked in a text of `words` times "a", of which `count` sources are made.
size_t Picks(size_t count, size_t words, const std::function<Term(size_t)>& source) {
  std::vector<Term> terms;
  for (size_t i = 0; i < count; ++i) terms.push_back(source(i));
  std::vector<TermIndex> indexes;
  for (int i = 0; i < 3; ++i) indexes.emplace_back(terms);
  std::string text;
  for (size_t i = 0; i < words; ++i) text += "a ";
  return Take(indexes, text, TermOrder::kByTerm).second;
}

TEST(LongestTerms, TheWorkGrowsWithTheTextAndNotWithTheTerms) {
  const auto equal = [](size_t) { return Term{"a"}; };
  // "a", "a a", "a a a", ...
  const auto nested = [](size_t i) {
    std::string text = "a";
    for (size_t more = 0; more < i; ++more) text += " a";
    return Term{text};
  };
  // The same, each written otherwise than the text writes it.
  const auto shouting = [&](size_t i) { return Term{nested(i).text + " A"}; };
  for (const size_t words : {1000, 2000}) {
    EXPECT_LE(Picks(100'000, words, equal), 2 * 3 * words);
    EXPECT_EQ(Picks(100'000, words, equal), Picks(10, words, equal));
    for (const size_t count : {200, 400}) {
      EXPECT_LE(Picks(count, words, nested), 3 * 3 * words) << count;
      EXPECT_EQ(Picks(count, words, shouting), 0u);
    }
  }
}

}  // namespace
}  // namespace dragoman::longest_terms_test
