// The laws of text (docs/markup.md) against a translator that does the worst: for generated texts,
// whatever it says,
//
//   - every literal of the source is in the translation, as often as there, and those that get
//     their values by their places in their order;
//   - no number is in it that the source does not have, so nothing of a stand-in;
//   - what belongs together does not cross: <b>, </b> and **, **;
//   - a text with words does not become one without.
//
// DRAGOMAN_SEED sets the first seed.

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

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
    const std::string source = SourceText(random);
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
    EXPECT_TRUE(!AreNested(source) || CrossTags(source) || AreNested(target));
  }
}

}  // namespace
}  // namespace dragoman::adversarial_translation_test
