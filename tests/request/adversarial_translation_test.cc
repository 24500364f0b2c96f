// The laws of text (docs/markup.md) against a translator that does the worst: for generated texts,
// whatever it says,
//
//   - every literal of the source is in the translation, as often as there, and those that get
//     their values by their places in their order;
//   - no number is in it that the source does not have, so nothing of a stand-in;
//   - what belongs together does not cross: <b>, </b> and **, **;
//   - no word touches a literal that touches none in the source;
//   - a text with words does not become one without.
//
// DRAGOMAN_SEED sets the first seed.

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "engine/base/utf8.h"
#include "engine/text/html_reader.h"
#include "engine/text/literal_marks.h"
#include "engine/text/words.h"
#include "gtest/gtest.h"
#include "tests/request/bad_translation.h"

namespace dragoman::adversarial_translation_test {
namespace {

std::vector<std::string> LiteralsIn(const std::string& text, const std::vector<Literal>& literals) {
  std::vector<std::string> found;
  for (const Literal& literal : literals) {
    found.push_back(text.substr(literal.span.begin, literal.span.size()));
  }
  return found;
}

size_t Count(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Whether a word stands directly before or after bytes [begin, end) of a text.
bool TouchesWord(std::string_view text, size_t begin, size_t end) {
  const bool before = begin > 0 && IsWordCharacter(LastCodePoint(text.substr(0, begin)));
  return before || (end < text.size() && IsWordCharacter(NextCodePoint(text, &end)));
}

// How often a part of a text does, and how often it is there.
std::pair<size_t, size_t> CountTouching(std::string_view text, std::string_view part) {
  size_t touching = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) {
    touching += TouchesWord(text, at, at + part.size());
  }
  return {touching, Count(text, part)};
}

std::set<std::string> NumbersIn(std::string text, const std::vector<std::string>& literals) {
  for (const std::string& literal : literals) {
    if (const size_t at = text.find(literal); at != text.npos) {
      text.replace(at, literal.size(), 1, '\n');
    }
  }
  std::set<std::string> numbers;
  std::string run;
  for (const char c : text + ' ') {
    if (c >= '0' && c <= '9') {
      run += c;
    } else if (!run.empty()) {
      numbers.insert(std::exchange(run, ""));
    }
  }
  return numbers;
}

TEST(AdversarialTranslation, TheLawsOfTextHold) {
  const char* const first = std::getenv("DRAGOMAN_SEED");
  const uint64_t begin = first != nullptr ? std::strtoull(first, nullptr, 10) : 1;
  for (uint64_t seed = begin; seed < begin + 4000 && !testing::Test::HasFailure(); ++seed) {
    Random random(seed);
    std::string source = SourceText(random);
    if (seed % 2 == 0) source = absl::StrReplaceAll(source, {{"https://a.de", "<https://a.de>;"}});
    if (seed % 4 == 1) source.insert(4, " a => one | two");
    const std::string target =
        TranslateBadly(ReadPlain(source, /*join_lines=*/false), TextSource::kProse, random);
    SCOPED_TRACE(testing::Message()
                 << "DRAGOMAN_SEED=" << seed << ": " << source << " -> " << target);
    const std::vector<Literal> found = FindLiterals(source);
    std::vector<std::string> literals = LiteralsIn(source, found);
    size_t place = 0;
    for (size_t i = 0; i + 1 < found.size(); ++i) {
      if (found[i].kind != LiteralKind::kPlaceholder || found[i + 1].kind != found[i].kind)
        continue;
      const std::string touching = literals[i] + literals[i + 1];
      EXPECT_LE(Count(target, touching), Count(source, touching)) << touching;
    }
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_GE(Count(target, literals[i]),
                static_cast<size_t>(std::count(literals.begin(), literals.end(), literals[i])))
          << literals[i];
      const bool is_word =
          found[i].kind < LiteralKind::kEmoji && found[i].kind != LiteralKind::kTag;
      const auto [touching, times] = CountTouching(source, literals[i]);
      const auto same =
          static_cast<size_t>(std::count(literals.begin(), literals.end(), literals[i]));
      if (is_word && touching == 0 && times == same) {
        EXPECT_EQ(CountTouching(target, literals[i]).first, 0u) << literals[i];
      }
      if (!found[i].in_order) continue;
      place = target.find(literals[i], place);
      ASSERT_NE(place, target.npos) << literals[i] << " is out of order";
      place += literals[i].size();
    }
    std::sort(literals.begin(), literals.end(),
              [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
    const std::set<std::string> known = NumbersIn(source, literals);
    for (const std::string& number : NumbersIn(target, literals)) {
      EXPECT_TRUE(known.count(number) > 0) << number;
    }
    EXPECT_TRUE(HasLetterOrDigit(target));
    EXPECT_EQ(Count(target, "=> "), Count(source, "=> "));
    EXPECT_EQ(Count(target, " |"), Count(source, " |"));
    EXPECT_TRUE(!AreNested(source) || CrossTags(source) || AreNested(target));
  }
}

// What is alone in its element stays in it, and apart.
TEST(AdversarialTranslation, SignsStayInTheirElements) {
  for (uint64_t seed = 1; seed <= 2000 && !testing::Test::HasFailure(); ++seed) {
    Random random(seed);
    constexpr const char* kSigns[] = {"*", "=", "+", "&gt;", "|", "/", "-", "–", "&raquo;", "×"};
    const std::string sign = std::string("<b>") + kSigns[random() % std::size(kSigns)] + "</b>";
    const std::string source = "<p>" + SourceText(random) + " " + sign + " the cat.</p>";
    if (source.find("<b>") != source.rfind("<b>")) continue;
    const std::string target = TranslateBadly(ReadHtml(source, {}), TextSource::kProse, random);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << source << " -> " << target);
    const size_t at = target.find(sign);
    ASSERT_NE(at, target.npos);
    EXPECT_TRUE(target[at - 1] == ' ' || target[at - 1] == '>');
  }
}

// An element keeps a word and its brackets, a formula its parts, and what touches them touches them.
TEST(AdversarialTranslation, WhatTouchesStillDoes) {
  for (uint64_t seed = 1; seed <= 2000 && !testing::Test::HasFailure(); ++seed) {
    Random random(seed);
    std::string source = SourceText(random);
    if (source.find("<i") != source.npos) continue;
    source = "<p>" + source + " (<u>the cat</u>) is H<sub>2</sub>O&reg; or %d&trade;.</p>";
    const std::string target = TranslateBadly(ReadHtml(source, {}), TextSource::kProse, random);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << source << " -> " << target);
    const size_t begin = target.find("(<u>"), end = target.find("</u>)");
    ASSERT_TRUE(begin != target.npos && end != target.npos);
    EXPECT_TRUE(HasLetterOrDigit(target.substr(begin + 4, end - begin - 4)));
    EXPECT_EQ(Count(target, "H<sub>2</sub>O&reg;"), 1u);
    EXPECT_EQ(Count(target, "&trade;"), 1u);
  }
}

// Words with an annotation, as in books for children, keep it behind them.
TEST(AdversarialTranslation, RubyKeepsItsWords) {
  for (uint64_t seed = 1; seed <= 2000 && !testing::Test::HasFailure(); ++seed) {
    Random random(seed);
    const auto words = [&] {
      std::string some;
      for (size_t n = random() % 3; n > 0; --n) some += random() % 2 == 0 ? " cat" : " old";
      return some;
    };
    const char* const rp[] = {"", "<rp>(</rp>", "<rp>)</rp>"};
    const size_t with_rp = random() % 2;
    const std::string annotation = std::string(rp[with_rp]) + "<rt>neko</rt>" + rp[2 * with_rp];
    const std::string source = "<p>When" + words() + " <ruby>small" + words() + annotation +
                               "</ruby> sees %s" + words() + ".</p>";
    const std::string target = TranslateBadly(ReadHtml(source, {}), TextSource::kProse, random);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << source << " -> " << target);
    const size_t begin = target.find("<ruby>"), end = target.find("</ruby>");
    ASSERT_TRUE(begin != target.npos && end != target.npos);
    const std::string inside = target.substr(begin + 6, end - begin - 6);
    ASSERT_TRUE(inside.ends_with(annotation));
    EXPECT_TRUE(HasLetterOrDigit(inside.substr(0, inside.size() - annotation.size())));
  }
}

}  // namespace
}  // namespace dragoman::adversarial_translation_test
