#include "documents/mending.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "documents/passage_tags.h"
#include "documents/source_text.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr std::string_view kUntranslatedTag = "translate=\"no\"";

// The text without its tags; in markup, without what is not translated, and without references.
std::string WithoutTags(std::string_view text, PassageMarkup markup) {
  if (markup == PassageMarkup::kNone) return std::string(text);
  std::string out;
  bool closes = true;  // a ">" follows
  while (!text.empty()) {
    const size_t plain = std::min(text.find_first_of("<&"), text.size());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const bool tag = text[0] == '<';
    const size_t end =
        tag && !closes ? text.npos : text.substr(0, tag ? text.npos : 32).find(tag ? '>' : ';');
    if (tag) closes = end != text.npos;
    const std::string_view whole = text.substr(0, end == text.npos ? 1 : end + 1);
    text.remove_prefix(whole.size());
    out += ' ';
    if (!tag || whole.find(kUntranslatedTag) == whole.npos || whole.ends_with("/>")) continue;
    const size_t name_end = std::min(whole.find_first_of(" >"), whole.size());
    const std::string close = "</" + std::string(whole.substr(1, name_end - 1)) + ">";
    text.remove_prefix(std::min(text.find(close), text.size()));
  }
  return out;
}

bool SaysWords(std::string_view text, PassageMarkup markup) {
  return HasWords(WithoutTags(text, markup));
}

// Words or, as a translation of such, a number.
bool SaysAnything(std::string_view text, PassageMarkup markup) {
  const std::string visible = WithoutTags(text, markup);
  return HasWords(visible) || visible.find_first_of("0123456789") != std::string::npos;
}

// Whether both have the same tags.
bool HaveTags(std::string_view text, std::string_view other) {
  const std::vector<PassageTag> tags = FindPassageTags(text), others = FindPassageTags(other);
  return std::equal(tags.begin(), tags.end(), others.begin(), others.end(),
                    [&](const PassageTag& a, const PassageTag& b) {
                      return text.substr(a.begin, a.end - a.begin) ==
                             other.substr(b.begin, b.end - b.begin);
                    });
}

// A line that has lost its words stays as it was, if its tags are still in it.
void KeepLines(const Passage& passage, const std::vector<std::string>& source,
               std::vector<std::string>* lines) {
  if (source.size() != lines->size()) return;
  for (size_t i = 0; i < source.size(); ++i) {
    std::string& line = (*lines)[i];
    if (!SaysWords(source[i], passage.markup) || SaysAnything(line, passage.markup)) continue;
    if (passage.markup == PassageMarkup::kNone || HaveTags(source[i], line)) line = source[i];
  }
}

void DropBlankLines(const std::vector<std::string>& source, std::vector<std::string>* lines) {
  // The ends of a text are between other bytes of the file.
  const auto blank_inside = [](const std::vector<std::string>& of) {
    return of.size() > 2 && std::any_of(of.begin() + 1, of.end() - 1, IsBlank);
  };
  if (blank_inside(source) || !blank_inside(*lines)) return;
  lines->erase(std::remove_if(lines->begin() + 1, lines->end() - 1, IsBlank), lines->end() - 1);
}

// Whether that is a letter or digit of a script that has spaces between words.
bool IsOfWord(char32_t c) {
  if (c < 0x80) return absl::ascii_isalnum(static_cast<unsigned char>(c));
  return c >= 0xc0 && c != 0xd7 && c != 0xf7 && !(c >= 0x2000 && c < 0x2c00) && c < 0x2e80;
}

bool EndsInWord(std::string_view text) { return !text.empty() && IsOfWord(LastCodePoint(text)); }

bool BeginsWithWord(std::string_view text) {
  size_t at = 0;
  return !text.empty() && IsOfWord(NextCodePoint(text, &at));
}

// What touches in a text, by the names of its tags.
struct Touching {
  std::set<std::pair<std::string_view, std::string_view>> elements;
  std::set<std::string_view> word_before, word_after;  // of elements that are not translated

  explicit Touching(std::string_view text) {
    const std::vector<PassageTag> tags = FindPassageTags(text);
    for (size_t i = 0; i < tags.size(); ++i) {
      const PassageTag& tag = tags[i];
      if (i > 0 && tags[i - 1].end == tag.begin) elements.insert({tags[i - 1].name, tag.name});
      if (!tag.closes && EndsInWord(text.substr(0, tag.begin))) word_before.insert(tag.name);
      if (tag.closes && BeginsWithWord(text.substr(tag.end))) word_after.insert(tag.name);
    }
  }
};

// Puts a space between what was apart.
std::string KeepApart(std::string_view source, std::string_view translation) {
  const Touching touching(source);
  const std::vector<PassageTag> tags = FindPassageTags(translation);
  std::string out;
  size_t done = 0;
  const auto space_at = [&](size_t place) {
    out += translation.substr(done, place - done);
    out += ' ';
    done = place;
  };
  for (size_t i = 0; i < tags.size(); ++i) {
    const PassageTag& tag = tags[i];
    const std::string_view before = translation.substr(0, tag.begin);
    const std::string_view after = translation.substr(tag.end);
    const PassageTag* const last = i > 0 && tags[i - 1].end == tag.begin ? &tags[i - 1] : nullptr;
    if (last != nullptr && last->closes && !tag.closes && !tag.empty) {
      const bool words = (last->copied || EndsInWord(before.substr(0, last->begin))) &&
                         (tag.copied || BeginsWithWord(after));
      if (words && !touching.elements.contains({last->name, tag.name})) space_at(tag.begin);
    } else if (tag.copied && !tag.closes && !tag.empty) {
      const bool touches = last != nullptr && last->empty;
      if (touches && !touching.elements.contains({last->name, tag.name})) space_at(tag.begin);
      if (EndsInWord(before) && !touching.word_before.contains(tag.name)) space_at(tag.begin);
    }
    if (tag.copied && tag.closes && BeginsWithWord(after) &&
        !touching.word_after.contains(tag.name)) {
      space_at(tag.end);
    }
  }
  out += translation.substr(done);
  return out;
}

}  // namespace

bool IsLost(const Passage& passage, std::string_view translation) {
  if (StripWhiteSpace(translation).empty()) return !StripWhiteSpace(passage.text).empty();
  return SaysWords(passage.text, passage.markup) && !SaysAnything(translation, passage.markup);
}

std::optional<std::string> MendTranslation(const Passage& passage, std::string_view translation) {
  if (IsLost(passage, translation)) return std::nullopt;
  const std::vector<std::string> source = SplitLines(passage.text);
  std::vector<std::string> lines = SplitLines(translation);
  if (source.size() > 1) KeepLines(passage, source, &lines);
  if (source.size() > 1 || passage.markup == PassageMarkup::kHtml) DropBlankLines(source, &lines);
  const std::string joined = absl::StrJoin(lines, "\n");
  return passage.markup == PassageMarkup::kXml ? KeepApart(passage.text, joined) : joined;
}

}  // namespace dragoman
