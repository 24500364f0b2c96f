#include "documents/program_text.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "documents/icu_message.h"
#include "documents/inline_text.h"
#include "engine/base/patience.h"

namespace dragoman {
namespace {

bool IsAsciiLetter(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); }
bool IsUpper(char c) { return absl::ascii_isupper(static_cast<unsigned char>(c)); }
bool IsSmall(char c) { return absl::ascii_islower(static_cast<unsigned char>(c)); }
// Also of a letter outside of ASCII.
bool InWord(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_isalnum(byte) || byte >= 0x80 || c == '_';
}

struct Mnemonic {
  size_t begin = 0;
  size_t part = 0;   // of the text between tabs and line breaks
  std::string mark;  // as it is written
  char letter = '\0';
};

bool EndsPart(char c) { return c == '\t' || c == '\n'; }

// Whether the mark at `at`, which is `size` bytes, stands before the letter of a word that it
// marks.
bool MarksLetter(std::string_view text, size_t at, size_t size) {
  const size_t next = at + size;
  if (next >= text.size()) return false;
  if (at == 0 && text[at] == '&' && text.substr(next + 1).starts_with(' ') &&
      absl::ascii_isdigit(static_cast<unsigned char>(text[next]))) {
    return true;  // "&1 cats.txt"
  }
  if (!IsAsciiLetter(text[next])) return false;
  const bool begins = at == 0 || !InWord(text[at - 1]);
  const char mark = text[at];
  size_t end = next;
  while (end < text.size() &&
         (IsAsciiLetter(text[end]) || static_cast<unsigned char>(text[end]) >= 0x80)) {
    ++end;
  }
  if (mark == '&') {
    // "E&xit", not "AT&T", "a&nbsp;b" and "?a=1&b=2".
    if (end < text.size() && (text[end] == ';' || text[end] == '=')) return false;
    return begins ? at == 0 || (text[at - 1] != '&' && text[at - 1] != '+')  // "Ctrl+&S"
                  : IsAsciiLetter(text[at - 1]) && IsSmall(text[next]);
  }
  if (end < text.size() && (text[end] == mark || text[end] == '_' || text[end] == '/'))
    return false;
  if (begins) return at == 0 || (text[at - 1] != mark && text[at - 1] != '/');
  // "E_xit", not "file_name".
  size_t first = at;
  while (first > 0 && IsAsciiLetter(text[first - 1])) --first;
  return mark == '_' && first < at && IsUpper(text[first]) && IsSmall(text[next]) &&
         (first == 0 || !InWord(text[first - 1])) && (at - first == 1 || IsSmall(text[at - 1]));
}

// The one mnemonic of a text; none if there are several, which are something else.
std::optional<Mnemonic> FindMnemonic(std::string_view text, bool is_xml) {
  std::optional<Mnemonic> found;
  for (const std::string_view mark : {is_xml ? "&amp;" : "&", "_", "~"}) {
    for (size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + mark.size())) {
      const bool doubled = text.substr(at + mark.size()).starts_with(mark);
      if (doubled) at += mark.size();
      if (doubled || !MarksLetter(text, at, mark.size())) continue;
      const size_t tag = text.rfind('<', at);  // <a target="_blank">
      const size_t tag_end = tag == text.npos ? tag : text.find('>', tag);
      if (tag_end != text.npos && tag_end > at) continue;
      if (found.has_value()) return std::nullopt;
      const std::string_view before = text.substr(0, at);
      const auto part = std::count_if(before.begin(), before.end(), EndsPart);
      found = {at, static_cast<size_t>(part), std::string(mark), text[at + mark.size()]};
    }
  }
  return found;
}

// The ends of tags, placeholders, references and shortcuts that begin at `at` of the text; `at` if
// there are none.
size_t SkipLiteral(std::string_view text, size_t at) {
  const char c = text[at];
  const size_t closing = c == '<' ? text.find('>', at) : c == '{' ? text.find('}', at) : text.npos;
  if (closing != text.npos) return closing + 1;
  size_t end = at;
  while (end < text.size() && (at == 0 || !InWord(text[at - 1])) && IsAsciiLetter(text[end])) ++end;
  const bool shortcut = end > at && text.substr(end, 1) == "+";  // "Ctrl+O"
  if (!shortcut && std::string_view("%$@&\\#:!").find(c) == std::string_view::npos) return at;
  end = at + 1;
  while (end < text.size() && !absl::ascii_isspace(static_cast<unsigned char>(text[end]))) ++end;
  return end;
}

// Where a letter of bytes [begin, end) is marked best; npos if there is none.
size_t PlaceOfMnemonic(std::string_view text, size_t begin, size_t end, char letter) {
  size_t best = std::string_view::npos;
  int most = 0;  // 1: any letter; 2: the same; 3: the same, at the beginning of a word
  for (size_t at = begin; at < end;) {
    if (const size_t literal = SkipLiteral(text, at); literal > at) {
      at = literal;
      continue;
    }
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool same =
        absl::ascii_tolower(byte) == absl::ascii_tolower(static_cast<unsigned char>(letter));
    const bool begins = at == 0 || !InWord(text[at - 1]);
    const int rank = same                                                  ? (begins ? 3 : 2)
                     : (IsAsciiLetter(text[at]) || byte >= 0xC3) && begins ? 1
                                                                           : 0;
    if (rank > most) best = at, most = rank;
    ++at;
  }
  return best;
}

// The translation with the mark before a letter, if there is one in the same part of it: not in the
// shortcut of "Open\tCtrl+O".
std::string WithMnemonic(std::string_view text, const Mnemonic& mnemonic) {
  const auto begin_of = [&](size_t part) {
    size_t begin = 0;
    for (; part > 0 && begin < text.size(); --part) {
      begin = std::min(text.find_first_of("\t\n", begin), text.size() - 1) + 1;
    }
    return begin;
  };
  size_t best =
      PlaceOfMnemonic(text, begin_of(mnemonic.part), begin_of(mnemonic.part + 1), mnemonic.letter);
  if (best == text.npos) best = PlaceOfMnemonic(text, 0, text.size(), mnemonic.letter);
  if (best == text.npos) return std::string(text);
  return absl::StrCat(std::string(text.substr(0, best)), mnemonic.mark,
                      std::string(text.substr(best)));
}

// The dots at the end of a text.
std::string_view DotsOf(std::string_view text) {
  for (const std::string_view dots : {"...", "…"}) {
    if (!text.ends_with(dots) || text.size() == dots.size()) continue;
    const std::string_view before = text.substr(0, text.size() - dots.size());
    if (!before.ends_with('.') && InWord(before.back())) return dots;
  }
  return "";
}

// What stands between the parts of a plural, and around them.
struct Bars {
  std::vector<std::string> between;  // one more than lines
  std::string lines;                 // the parts
};

// The size of "{0} ", "[2,*] " or "one: " at the beginning of a part, with white space.
size_t SizeOfRange(std::string_view part) {
  const size_t begin = part.find_first_not_of(' ');
  if (begin == part.npos) return 0;
  size_t end = begin;
  if (part[begin] == '{' || part[begin] == '[' || part[begin] == ']') {
    end = part.find_first_of("}][", begin + 1);
    if (end == part.npos ||
        part.substr(begin + 1, end - begin - 1).find_first_not_of("0123456789,*-Inf ") !=
            part.npos) {
      return begin;
    }
    ++end;
  }
  const size_t next = part.find_first_not_of(' ', end);
  return next == part.npos ? begin : next;
}

// The parts of "a|b", none if that is no plural: a table, a shell's pipe, a placeholder with bars.
std::optional<Bars> FindBars(std::string_view text) {
  if (text.find('|') == text.npos || text.find_first_of("\r\n\t") != text.npos) return std::nullopt;
  if (text.find("||") != text.npos || text.find("%|") != text.npos) return std::nullopt;
  Bars bars;
  std::string between;
  int depth = 0;
  size_t begin = 0;
  const auto add = [&](size_t end) {
    std::string_view part = text.substr(begin, end - begin);
    const size_t range = SizeOfRange(part);
    between += part.substr(0, range);
    part.remove_prefix(range);
    const size_t visible = part.find_last_not_of(' ') + 1;
    if (visible == 0) return false;
    bars.between.push_back(std::exchange(between, std::string(part.substr(visible))));
    if (!bars.lines.empty()) bars.lines += '\n';
    bars.lines += part.substr(0, visible);
    return true;
  };
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{' || text[at] == '(') ++depth;
    if ((text[at] == '}' || text[at] == ')') && depth > 0) --depth;
    if (text[at] != '|' || depth > 0) continue;
    if (!add(at)) return std::nullopt;
    between += '|';
    begin = at + 1;
  }
  if (begin == 0 || !add(text.size())) return std::nullopt;
  bars.between.push_back(between);
  return bars;
}

// The parts of i18next's intervals, "(0)[no cats];(1-7)[some];(8-inf)[many];".
std::optional<Bars> FindIntervals(std::string_view text) {
  Bars bars;
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t part = text.find(")[", at) + 2;
    const size_t end = part < 2 ? text.npos : text.find(']', part);
    if (text[at] != '(' || end == text.npos || end == part ||
        text.substr(at, part - at).find_first_not_of("()[0123456789-inf") != text.npos) {
      return std::nullopt;
    }
    bars.between.emplace_back(text.substr(done, part - done));
    bars.lines.append(done == 0 ? "" : "\n").append(text.substr(part, end - part));
    done = end;
    at = std::min(text.find_first_not_of("; ", end + 1), text.size());
  }
  bars.between.emplace_back(text.substr(done));
  return bars;
}

// The parts in the places of the lines.
std::string WithBars(std::string_view lines, const Bars& bars) {
  std::string text = bars.between.front();
  size_t next = 1;
  for (const char c : lines) {
    if (c == '\n' && next + 1 < bars.between.size()) {
      text += bars.between[next++];
    } else {
      text += c == '\n' ? ' ' : c;
    }
  }
  return text + bars.between.back();
}

// The passage, of whose translation `spell` makes what `write` gets.
Passage Respelled(Passage passage, Spelling spell) {
  passage.write = [write = std::move(passage.write),
                   spell = std::move(spell)](std::string_view translation) {
    const std::string spelled = spell(translation);
    return write == nullptr ? spelled : write(spelled);
  };
  return passage;
}

// Whether the passage is an ICU message with branches, which become its lines.
bool CutMessage(Passage* passage, Patience* patience) {
  if (passage->text.find('{') == passage->text.npos) return false;
  InlineText text(patience);
  text.Text(passage->text);
  if (!text.CutBranches()) return false;
  Passage cut = std::move(text).ToPassage(
      0, 0, 1, [](std::string_view characters) { return std::string(characters); });
  passage->text = std::move(cut.text);
  passage->markup = cut.markup;
  *passage = Respelled(std::move(*passage), std::move(cut.write));
  return true;
}

}  // namespace

Passage ProgramText(Passage passage, Patience* patience) {
  if (passage.text.empty()) return passage;
  if (passage.markup == PassageMarkup::kNone) {
    if (CutMessage(&passage, patience)) return passage;
    std::optional<Bars> bars = FindBars(passage.text);
    if (!bars.has_value()) bars = FindIntervals(passage.text);
    if (bars.has_value()) {
      passage.text = bars->lines;
      return Respelled(std::move(passage),
                       [bars = *std::move(bars)](auto lines) { return WithBars(lines, bars); });
    }
    // An apostrophe must not hide a placeholder from ICU.
    const bool quotes = passage.text.find("'{") != passage.text.npos ||
                        passage.text.find("'}") != passage.text.npos;
    if (!quotes && passage.text.find('{') != passage.text.npos) {
      passage = Respelled(std::move(passage),
                          [](auto each) { return SpellApostrophes(each, "'", "{}"); });
    }
  }
  const std::optional<Mnemonic> mnemonic =
      FindMnemonic(passage.text, passage.markup != PassageMarkup::kNone);
  const std::string dots(DotsOf(passage.text));
  if (!mnemonic.has_value() && dots.empty()) return passage;
  passage.text.resize(passage.text.size() - dots.size());
  if (mnemonic.has_value()) passage.text.erase(mnemonic->begin, mnemonic->mark.size());
  return Respelled(std::move(passage), [mnemonic, dots](auto translation) {
    std::string spelled(translation);
    if (mnemonic.has_value()) spelled = WithMnemonic(spelled, *mnemonic);
    if (dots.empty()) return spelled;
    spelled.resize(spelled.find_last_not_of(". ") + 1);
    return spelled + dots;
  });
}

}  // namespace dragoman
