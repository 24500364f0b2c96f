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
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/utf8.h"
#include "engine/request/rendering.h"
#include "engine/text/literal_marks.h"
#include "engine/text/marked_sentence.h"
#include "engine/text/placement.h"
#include "engine/text/words.h"
#include "gtest/gtest.h"

namespace dragoman::adversarial_translation_test {
namespace {

constexpr const char* kLiterals[] = {"%s",        "%1$s",  "%d",           "{name}",  "{ name }",
                                     "%(max)s",   "{}",    "a@b.example",  "🙂",    "%-5.2f",
                                     "%Y-%m-%d",  "{0}%",  "snake_case",   "C++",     "<b>",
                                     "</b>",      "&amp;", "https://a.de", "foo.x()", "Ctrl+C",
                                     "%02d:%02d", "({0})", "[[page]]",     "$HOME",   "%I64u"};
constexpr const char* kWords[] = {"the", "cat",   "sees",  "an old", "house,", "of",
                                  "and", "seven", "don't", "who",    "24",     "1,000"};

constexpr std::pair<const char*, const char*> kPairs[] = {
    {"<i id=\"1\">", "</i>"}, {"[u]", "[/u]"}, {"[", "](/there)"}, {"&lt;s&gt;", "&lt;/s&gt;"}};

using Random = std::mt19937_64;

std::string SourceText(Random& random) {
  std::string text = "When";
  std::vector<const char*> open;  // what ends them
  for (size_t parts = 1 + random() % 9; parts > 0; --parts) {
    text += ' ';
    if (open.size() < std::size(kPairs) && random() % 4 == 0) {
      text += kPairs[open.size()].first;
      open.push_back(kPairs[open.size()].second);
    }
    text += random() % 2 == 0 ? kLiterals[random() % std::size(kLiterals)]
                              : kWords[random() % std::size(kWords)];
    for (; !open.empty() && random() % 3 == 0; open.pop_back()) text += open.back();
  }
  for (; !open.empty(); open.pop_back()) text += open.back();
  return text + (random() % 2 == 0 ? "." : "");
}

// Whether what begins later ends earlier, for all of these that are there once.
bool AreNested(std::string_view text) {
  const auto once = [&](std::string_view part) {
    const size_t at = text.find(part);
    return at == text.rfind(part) ? at : text.npos;
  };
  std::vector<std::pair<size_t, size_t>> found;
  for (const auto& [begin, end] : kPairs) {
    const size_t from = once(begin), to = once(end);
    if (from != text.npos && to != text.npos) found.emplace_back(from, to);
  }
  return std::all_of(found.begin(), found.end(), [&](const auto& a) {
    return a.first < a.second && std::none_of(found.begin(), found.end(), [&](const auto& b) {
             return a.first < b.first && b.first < a.second && a.second < b.second;
           });
  });
}

// What a bad model says of a text: with `digits`, it changes them, too, which nobody can notice but
// by stand-ins.
std::string BadTranslation(std::string_view read, bool digits, Random& random) {
  std::vector<std::string> words;
  for (const TextSpan word : SplitWords(read, {})) {
    words.emplace_back(read.substr(word.begin, word.size()));
  }
  const auto any = [&]() -> std::string& { return words[random() % words.size()]; };
  for (size_t faults = random() % 4; faults > 0 && !words.empty(); --faults) {
    switch (random() % (digits ? 9 : 3)) {
      case 0:
        words.clear();
        break;
      case 1:
        words = {random() % 2 == 0 ? "..." : "!"};
        break;
      case 2:
        std::shuffle(words.begin(), words.end(), random);
        break;
      case 3:
        words.push_back(any());
        break;
      case 4:  // glued together
        any() += any();
        break;
      case 5: {  // a fragment
        std::string& word = any();
        word = word.substr(0, std::max<size_t>(1, word.size() / 2));
        if (!IsValidUtf8(word)) word = "x";
        break;
      }
      case 6:  // another digit
        for (char& c : any()) {
          if (c >= '0' && c <= '9') c = static_cast<char>('0' + random() % 10);
        }
        break;
      case 7:
        any() = "dos94";
        break;
      case 8:  // with separators
        if (std::string& word = any(); word.size() == 4 && word[0] <= '9') word.insert(1, ".");
        break;
    }
  }
  std::string text;
  for (const std::string& word : words) {
    text += text.empty() || (digits && random() % 8 == 0) ? "" : " ";
    text += word;
  }
  return text;
}

// A text translated sentence by sentence as the engine does it: read again without stand-ins if
// something of them is left, and kept if there is no word.
std::string Translate(const std::string& source, Random& random) {
  MarkedContent content = {ReadPlain(source, /*join_lines=*/false), {}, ""};
  MarkLiterals([](std::string_view) { return true; }, &content.text);
  content.sentences = FindSentences(content.text, /*split=*/true);
  std::vector<std::pair<std::string, Placement>> said(content.sentences.size());
  std::vector<char> stays(content.sentences.size(), 1);
  for (size_t s = 0; s < content.sentences.size(); ++s) {
    MarkedSentence& sentence = content.sentences[s];
    if (!HasWords(content.text, sentence)) continue;
    for (int reading = 0; reading < 2 && stays[s]; ++reading) {
      if (reading == 1) sentence.marks = WithoutStandIns(sentence.marks);
      const ModelInput input = InputOf(content.text, sentence);
      const bool digits = std::any_of(sentence.marks.begin(), sentence.marks.end(),
                                      [](const SentenceMark& mark) { return mark.stand_in; });
      said[s].first = BadTranslation(input.text, digits, random);
      const AlignedSentence aligned = {
          .source =
              std::string_view(content.text.text).substr(sentence.text.begin, sentence.text.size()),
          .target = said[s].first,
          .source_tokens =
              SpansOfCharacters(std::string_view(content.text.text)
                                    .substr(sentence.text.begin, sentence.text.size())),
          .target_tokens = SpansOfCharacters(said[s].first),
          .attention = {}};
      said[s].second = PlaceMarks(aligned, sentence.marks);
      stays[s] = DamageOf(aligned, sentence.marks, said[s].second) != Damage::kNone;
    }
  }
  Renderer renderer(&content);
  for (size_t s = 0; s < said.size(); ++s) {
    if (!stays[s]) renderer.Set(s, said[s].first, said[s].second);
  }
  renderer.Advance(source.size());
  return renderer.text();
}

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
    const std::string target = Translate(source, random);
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
    EXPECT_TRUE(!AreNested(source) || AreNested(target));
  }
}

}  // namespace
}  // namespace dragoman::adversarial_translation_test
