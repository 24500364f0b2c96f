#include "engine/text/segment_index.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/text/normal_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::segment_index_test {
namespace {

SegmentQuery Query(const std::string& source) { return SegmentQuery(source, "", ""); }

TEST(NormalForm, ComposesCharactersAndHasOneSpace) {
  EXPECT_EQ(NormalForm("  Cafe\u0301\u00a0\t au lait\n"), "Café au lait");
  EXPECT_EQ(NormalForm("ﬁ ２"), "ﬁ ２");  // what is only compatible stays
  EXPECT_EQ(NormalForm(" \n "), "");
}

TEST(SegmentIndex, TellsHowMuchOfASentenceItHas) {
  const SegmentIndex index(std::vector<MemorySegment>{{"The house is old.", "Das Haus ist alt."},
                                                      {"The house by the sea is very old.", "x"},
                                                      {"Something else.", "y"}});
  EXPECT_EQ(index.Find(Query("The house is old."), 75)->percent, 100);
  EXPECT_EQ(index.Find(Query("The  house is\u00a0old."), 100)->percent, 100);
  const auto match = index.Find(Query("The house is new."), 75);
  ASSERT_TRUE(match.has_value());
  EXPECT_EQ(match->segment, 0u);
  EXPECT_EQ(match->percent, 80);  // 4 of 5 words
  EXPECT_FALSE(index.Find(Query("The house is new."), 81).has_value());
  EXPECT_FALSE(index.Find(Query("The dog is new."), 75).has_value());
  EXPECT_EQ(index.Find(Query("The house is very old."), 75)->percent, 83);
  EXPECT_FALSE(index.Find(Query(""), 50).has_value());
  // The words are the same, but the sentences are not.
  EXPECT_EQ(index.Find(Query("The house is old ."), 75)->percent, 99);
}

TEST(SegmentIndex, CountsCharactersWhereWordsHaveNoSpaces) {
  const SegmentIndex index(std::vector<MemorySegment>{{"今日はとても良い天気です。", "x"}});
  const auto match = index.Find(Query("今日はとても悪い天気です。"), 75);
  ASSERT_TRUE(match.has_value());
  EXPECT_EQ(match->percent, 92);  // 12 of 13
}

TEST(SegmentIndex, OfEqualSourcesThatInContextCountsThenTheLast) {
  const SegmentIndex index(
      {{"Yes.", "a", "Tea?", ""}, {"Yes.", "b"}, {"Yes.", "c", "Coffee?", "More?"}, {"Yes.", "d"}});
  EXPECT_EQ(index.Find(SegmentQuery("Yes.", "Tea?", ""), 75)->segment, 0u);
  EXPECT_TRUE(index.Find(SegmentQuery("Yes.", "Tea?", ""), 75)->in_context);
  EXPECT_EQ(index.Find(SegmentQuery("Yes.", "Coffee?", "More?"), 75)->segment, 2u);
  const auto alone = index.Find(Query("Yes."), 75);
  EXPECT_EQ(alone->segment, 3u);
  EXPECT_FALSE(alone->in_context);  // nothing around it is no context
  EXPECT_EQ(index.Find(Query("Yes."), 75, std::vector<uint32_t>{1, 3})->segment, 2u);
  EXPECT_EQ(index.FindSame({"Yes.", "", "Tea?", ""}), 0u);
  EXPECT_EQ(index.FindSame({"Yes.", "", "", ""}), 3u);
  EXPECT_EQ(index.FindSame({"Yes.", "", "x", ""}), std::nullopt);
}

TEST(SegmentIndex, OfFewSourcesAndContextsFindsWhatALookAtEverySegmentFinds) {
  std::mt19937 random(6);
  const auto any = [&](const std::string& letters) {
    return std::string(1, letters[random() % letters.size()]);
  };
  std::vector<MemorySegment> segments;
  for (int i = 0; i < 200; ++i) {
    segments.push_back({any("abc"), "x", random() % 3 == 0 ? "" : any("pq"), any("nm")});
  }
  const SegmentIndex index(segments);
  for (int i = 0; i < 300; ++i) {
    std::vector<uint32_t> hidden;
    for (uint32_t s = 0; s < segments.size(); ++s) {
      if (random() % 3 > 0) hidden.push_back(s);
    }
    const SegmentQuery query(any("abcd"), random() % 3 == 0 ? "" : any("pqr"), any("nm"));
    std::optional<size_t> with_source, in_context, same;
    for (size_t s = 0; s < segments.size(); ++s) {
      if (segments[s].source != query.source) continue;
      const bool here = segments[s].previous == query.previous && segments[s].next == query.next;
      if (here) same = s;
      if (std::binary_search(hidden.begin(), hidden.end(), s)) continue;
      with_source = s;
      if (here) in_context = s;
    }
    EXPECT_EQ(index.FindSame({query.source, "", query.previous, query.next}), same);
    const auto match = index.Find(query, 100, hidden);
    ASSERT_EQ(match.has_value(), with_source.has_value());
    if (!match.has_value()) continue;
    EXPECT_EQ(match->segment, in_context.has_value() ? *in_context : *with_source);
    EXPECT_EQ(match->in_context, in_context.has_value());
  }
}

// What the percentage is by its definition.
int PercentOf(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  std::vector<std::vector<size_t>> edits(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        edits[i][j] = i + j;
        continue;
      }
      edits[i][j] = std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1,
                              edits[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
    }
  }
  const size_t longer = std::max(a.size(), b.size());
  return static_cast<int>(100 * (longer - edits[a.size()][b.size()]) / longer);
}

std::string RandomSentence(std::mt19937* random) {
  std::string sentence;
  for (size_t words = 1 + (*random)() % 12; words > 0; --words) {
    // Few words are frequent, as in languages.
    absl::StrAppend(&sentence, sentence.empty() ? "" : " ", "w",
                    (*random)() % (1 + (*random)() % 9));
  }
  return sentence;
}

TEST(SegmentIndex, FindsWhatALookAtEverySegmentFinds) {
  std::mt19937 random(5);
  std::vector<MemorySegment> segments;
  for (int i = 0; i < 400; ++i) segments.push_back({RandomSentence(&random), "x"});
  std::vector<std::vector<std::string_view>> words;
  for (const MemorySegment& segment : segments) words.push_back(ComparedWords(segment.source));
  const SegmentIndex index(segments);
  int found = 0;
  for (int i = 0; i < 600; ++i) {
    const SegmentQuery query = Query(RandomSentence(&random));
    std::vector<int> reached;
    for (const auto& of_segment : words) reached.push_back(PercentOf(query.words, of_segment));
    for (const int percent : {50, 60, 75, 90, 100}) {
      int best = 0;
      size_t last = 0;
      for (size_t s = 0; s < segments.size(); ++s) {
        if (reached[s] < std::max(percent, best)) continue;
        best = reached[s];
        last = s;
      }
      const auto match = index.Find(query, percent);
      ASSERT_EQ(match.has_value(), best > 0) << query.source << " " << percent;
      if (!match.has_value()) continue;
      ++found;
      EXPECT_EQ(match->percent, best) << query.source;
      EXPECT_EQ(match->segment, last) << query.source;
    }
  }
  EXPECT_GT(found, 500);
}

TEST(SegmentIndex, OfVeryManyAlikeThoseWithRareWordsAreCompared) {
  std::vector<MemorySegment> segments;
  for (int i = 0; i < 20'000; ++i)
    segments.push_back({absl::StrCat("House ", i, " is very old."), "x"});
  segments.insert(segments.begin() + 15'000, {"House three hundred is very old.", "y"});
  const SegmentIndex index(segments);
  const auto match = index.Find(Query("House two hundred is very old."), 75);
  ASSERT_TRUE(match.has_value());
  EXPECT_EQ(match->percent, 85);  // the others have 71
  EXPECT_EQ(match->segment, 15'000u);
  EXPECT_EQ(index.Find(Query("House many is very old."), 75)->percent, 83);
}

}  // namespace
}  // namespace dragoman::segment_index_test
