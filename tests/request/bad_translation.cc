#include "tests/request/bad_translation.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "engine/base/utf8.h"
#include "engine/request/rendering.h"
#include "engine/text/literal_marks.h"
#include "engine/text/marked_sentence.h"
#include "engine/text/placement.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

constexpr const char* kWords[] = {"the", "cat",   "sees",  "an old", "house,", "of",
                                  "and", "seven", "don't", "who",    "24",     "1,000"};

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

}  // namespace

std::string SourceText(Random& random) {
  std::string text = "When";
  std::vector<const char*> open;  // what ends them
  for (size_t parts = 1 + random() % 9; parts > 0; --parts) {
    text += ' ';
    if (open.size() < std::size(kSourcePairs) && random() % 4 == 0) {
      text += kSourcePairs[open.size()].first;
      open.push_back(kSourcePairs[open.size()].second);
    }
    text += random() % 2 == 0 ? kSourceLiterals[random() % std::size(kSourceLiterals)]
                              : kWords[random() % std::size(kWords)];
    for (; !open.empty() && random() % 3 == 0; open.pop_back()) text += open.back();
  }
  for (; !open.empty(); open.pop_back()) text += open.back();
  return text + (random() % 2 == 0 ? "." : "");
}

namespace {

// The bytes from where they begin to where they end of all pairs that the text has once.
std::vector<std::pair<size_t, size_t>> PairsIn(std::string_view text) {
  const auto once = [&](std::string_view part) {
    const size_t at = text.find(part);
    return at == text.rfind(part) ? at : text.npos;
  };
  std::vector<std::pair<size_t, size_t>> found;
  for (const auto& [begin, end] : kSourcePairs) {
    const size_t from = once(begin), to = once(end);
    if (from != text.npos && to != text.npos) found.emplace_back(from, to);
  }
  return found;
}

}  // namespace

bool CrossTags(std::string_view text) {
  const auto pairs = PairsIn(text);
  return std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
    int depth = 0, least = 0;
    for (size_t i = pair.first; i < pair.second; ++i) {
      if (text.substr(i).starts_with("<b>")) ++depth;
      if (text.substr(i).starts_with("</b>")) least = std::min(least, --depth);
    }
    return depth != 0 || least != 0;
  });
}

bool AreNested(std::string_view text) {
  const auto found = PairsIn(text);
  return std::all_of(found.begin(), found.end(), [&](const auto& a) {
    return a.first < a.second && std::none_of(found.begin(), found.end(), [&](const auto& b) {
             return a.first < b.first && b.first < a.second && a.second < b.second;
           });
  });
}

std::string TranslateBadly(MarkedText text, TextSource source, Random& random) {
  MarkedContent content = {std::move(text), {}, ""};
  MarkLiterals([](std::string_view) { return true; }, &content.text, source);
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
  renderer.Advance(content.text.raw.size());
  return renderer.text();
}

}  // namespace dragoman
