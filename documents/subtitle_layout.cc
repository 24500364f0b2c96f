#include "documents/subtitle_layout.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "engine/base/html_references.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

bool IsWide(char32_t c) {  // Chinese and Japanese, which have no spaces, and Korean syllables
  return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
         (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
         (c >= 0xfe30 && c <= 0xfe4f) || (c >= 0xff01 && c <= 0xff60) ||
         (c >= 0x20000 && c <= 0x3fffd);
}
bool IsHangul(char32_t c) { return c >= 0xac00 && c <= 0xd7a3; }

// What begins no line, such as a full stop.
bool ClosesWide(char32_t c) {
  constexpr std::u32string_view kClosing = U"、。，．・：；？！」』）】〉》〕’”…ー～々";
  return kClosing.find(c) != kClosing.npos;
}
bool OpensWide(char32_t c) {
  constexpr std::u32string_view kOpening = U"「『（【〈《〔‘“";
  return kOpening.find(c) != kOpening.npos;
}

size_t Columns(const std::vector<SubtitleWord>& words, size_t begin, size_t end) {
  size_t columns = 0;
  for (size_t i = begin; i < end; ++i) {
    columns += words[i].columns + (i > begin && words[i].space_before);
  }
  return columns;
}

bool EndsPhrase(const SubtitleWord& word) {
  if (word.text.ends_with(';') && word.text.find('&') != std::string::npos) return false;  // &lt;
  constexpr std::string_view kEnds[] = {",",  ".",  ";",  ":",  "!",  "?",
                                        "、", "。", "，", "！", "？", "…"};
  return std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](std::string_view end) { return word.text.ends_with(end); });
}

// The word in [first, last] before which there is best a break, for `target` columns in front of
// it, counted from word `begin`: the nearest one, or one after punctuation that is nearly as near.
size_t BreakBefore(const std::vector<SubtitleWord>& words, size_t begin, size_t first, size_t last,
                   size_t target) {
  size_t best = first;
  auto least = std::numeric_limits<int64_t>::max();
  size_t columns = Columns(words, begin, first);
  for (size_t i = first; i <= last; ++i) {
    const bool joined = i < words.size() && words[i].joined;
    const auto distance = static_cast<int64_t>(columns) - static_cast<int64_t>(target);
    if (distance - 6 > least) break;
    const int64_t cost =
        std::abs(distance) - (EndsPhrase(words[i - 1]) ? 6 : 0) + (joined ? 1'000'000 : 0);
    if (cost < least) {
      least = cost;
      best = i;
    }
    if (i < words.size()) columns += words[i].columns + words[i].space_before;
  }
  return best;
}

constexpr size_t kMostTag = 256;      // bytes
constexpr size_t kMostSymbol = 40;    // bytes of its reference
constexpr size_t kMostElements = 16;  // that are in each other; each word has all of its own

// What a tag does, and the name by which it is closed: "c" of "<c.yellow>" and of "</c>", "1c" of
// "{\\1c&H00FF00&}" and of "{\\1c}", "i" of "{\\i1}" and of "{\\i0}".
struct TagRole {
  bool opens = false, closes = false;
  std::string_view name;
};
TagRole RoleOf(std::string_view tag) {
  if (tag.starts_with("</")) return {false, true, tag.substr(2, tag.find_first_of(" .\t>", 2) - 2)};
  if (tag[0] == '<') {
    const std::string_view name = tag.substr(1, tag.find_first_of(" .\t>", 1) - 1);
    return {absl::ascii_isalpha(static_cast<unsigned char>(tag[1])) != 0, false, name};
  }
  for (const std::string_view name : {"i", "b", "u", "s", "c", "1c", "3c", "fs", "fn"}) {
    if (!tag.starts_with("{\\") || !tag.substr(2).starts_with(name)) continue;
    const std::string_view value = tag.substr(2 + name.size(), tag.size() - 3 - name.size());
    const bool number = value.find_first_not_of("0123456789") == value.npos;
    if (value.empty() || (value == "0" && name.size() == 1)) return {false, true, name};
    const bool color = name.ends_with('c') && value.starts_with("&H");
    const bool font = name == "fn" && value.find_first_of("\\(") == value.npos;
    if (color || font || (number && !name.ends_with('c'))) return {true, false, name};
  }
  return {};
}

// Cuts text into words, and remembers in which tags.
class WordCutter {
 public:
  void Open(std::string_view open, std::string_view close) {
    around_.emplace_back(open, close);
    tagged_ = true;
  }
  void Close() {
    around_.pop_back();
    tagged_ = true;
  }
  void Single(std::string_view raw) {
    if (space_ || words_.empty() || words_.back().around != around_) {
      before_ += raw;
    } else {
      words_.back().after += raw;
      tagged_ = true;
    }
  }

  void Text(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      const size_t begin = at;
      const char32_t c = NextCodePoint(text, &at);
      // A no-break space is part of a word.
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0x3000) {
        space_ = true;
        if (!before_.empty() && before_.back() != ' ') before_ += ' ';
        in_word_ = glued_ = false;
      } else {
        Character(c, text.substr(begin, at - begin));
      }
    }
  }

  std::vector<SubtitleWord> Take() && {
    if (!words_.empty()) words_.back().after += (space_ && !before_.empty() ? " " : "") + before_;
    return std::move(words_);
  }

 private:
  void Character(char32_t c, std::string_view bytes) {
    const bool alone = IsWide(c) && !IsHangul(c);
    const bool joins = !space_ && !words_.empty() &&
                       ((in_word_ && !alone) || glued_ || ClosesWide(c) || !IsWide(c));
    const bool breaks = !joins || (!in_word_ && !alone && !glued_ && !ClosesWide(c) && IsLetter(c));
    if (breaks || tagged_) {
      words_.push_back({.space_before = space_, .joined = !breaks});
      words_.back().around = around_;
      words_.back().before = std::move(before_);
      before_.clear();
    }
    words_.back().text += bytes;
    words_.back().columns += IsWide(c) ? 2 : 1;
    in_word_ = !alone;
    glued_ = OpensWide(c);
    space_ = tagged_ = false;
  }

  static bool IsLetter(char32_t c) {
    return c >= 0x80 || absl::ascii_isalnum(static_cast<unsigned char>(c));
  }

  std::vector<SubtitleWord> words_;
  SubtitleElements around_;
  std::string before_;
  bool space_ = false;    // since the last word
  bool glued_ = false;    // the last character takes the next one with it
  bool in_word_ = false;  // of a script with spaces
  bool tagged_ = false;   // a tag stands behind the last word
};

// Closes the elements that the next word, in `around`, is not in.
std::string CloseTo(const SubtitleElements& around, SubtitleElements* open) {
  size_t same = 0;
  while (same < open->size() && same < around.size() &&
         (*open)[same].first.data() == around[same].first.data()) {
    ++same;
  }
  std::string out;
  for (; open->size() > same; open->pop_back()) out += open->back().second;
  return out;
}

// Words [begin, end) in one line, with the tags around them.
std::string WriteLine(const std::vector<SubtitleWord>& words, size_t begin, size_t end,
                      SubtitleElements* open) {
  std::string out;
  for (size_t i = begin; i < end; ++i) {
    const SubtitleWord& word = words[i];
    out += CloseTo(word.around, open);
    if (word.space_before && i > begin) out += ' ';
    for (size_t each = open->size(); each < word.around.size(); ++each) {
      out += word.around[each].first;
      open->push_back(word.around[each]);
    }
    out += word.before + word.text + word.after;
  }
  return out;
}

// Words [begin, end) in one line or two.
std::string WriteCue(const std::vector<SubtitleWord>& words, size_t begin, size_t end,
                     std::string_view newline, size_t width) {
  SubtitleElements open;
  const size_t columns = Columns(words, begin, end);
  size_t second = end;
  if (columns > width && end - begin > 1) {
    second = BreakBefore(words, begin, begin + 1, end - 1, (columns + 1) / 2);
  }
  std::string out = WriteLine(words, begin, second, &open);
  if (second < end) {
    out += CloseTo(words[second].around, &open);
    out += newline;
    out += WriteLine(words, second, end, &open);
  }
  return out + CloseTo({}, &open);
}

// Where each share of the words ends.
std::vector<size_t> ShareWords(const std::vector<SubtitleWord>& words,
                               const std::vector<SubtitleShare>& shares) {
  size_t left = Columns(words, 0, words.size()), rest = 0, begin = 0;
  for (const SubtitleShare& share : shares) rest += share.columns;
  std::vector<size_t> ends;
  for (size_t i = 0; i < shares.size(); ++i) {
    const size_t later = shares.size() - 1 - i;
    size_t end = words.size();
    if (later > 0) {
      const size_t target = rest == 0 ? 0 : left * shares[i].columns / rest;
      const size_t first = std::min(begin + 1, words.size());
      const size_t last = std::max(first, words.size() - std::min(later, words.size()));
      end = first == words.size() ? first : BreakBefore(words, begin, first, last, target);
    }
    rest -= shares[i].columns;
    for (; begin < end; ++begin)
      left -= words[begin].columns + (begin > 0 && words[begin].space_before);
    ends.push_back(end);
  }
  return ends;
}

// The text without elements between whose tags nothing is.
std::string WithoutEmptyElements(std::string text) {
  for (size_t size = 0; size != text.size();) {
    size = text.size();
    const std::vector<SubtitleToken> tokens = SubtitleTokens(text);
    std::string out;
    for (size_t i = 0; i < tokens.size(); ++i) {
      const bool empty = tokens[i].kind == SubtitleToken::kOpen && tokens[i].partner == i + 1;
      if (!empty) out += tokens[i].raw;
      if (empty) ++i;
    }
    text = std::move(out);
  }
  return text;
}

}  // namespace

size_t SubtitleTagSize(std::string_view text, bool braces) {
  text = text.substr(0, kMostTag);
  size_t end = text.npos;
  if (braces && text.starts_with("\\h")) return 2;
  if (braces) return text.starts_with('{') ? text.find('}') + 1 : 0;
  if (text.starts_with("{\\")) end = text.find('}');
  if (text.starts_with('&')) {  // stays as it is
    const std::string_view reference = text.substr(0, text.substr(0, kMostSymbol).find(';') + 1);
    const std::string characters = CharactersNamed(reference);
    const bool direction = reference == "&lrm;" || reference == "&rlm;";
    if (direction || (!characters.empty() && IsSymbol(characters))) end = reference.size() - 1;
  }
  if (text.starts_with('<') && text.size() > 1) {
    const auto next = static_cast<unsigned char>(text[text[1] == '/' && text.size() > 2 ? 2 : 1]);
    if (absl::ascii_isalnum(next)) end = text.find('>');
  }
  return end == text.npos ? 0 : end + 1;
}

std::vector<SubtitleToken> SubtitleTokens(std::string_view text, bool braces) {
  std::vector<SubtitleToken> tokens;
  std::vector<size_t> open;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const size_t tag = SubtitleTagSize(rest, braces);
    if (tag == 0) {
      size_t end = 0;
      do {
        end = std::min(rest.find_first_of("<{&\\", end + 1), rest.size());
      } while (end < rest.size() && SubtitleTagSize(rest.substr(end), braces) == 0);
      tokens.push_back({SubtitleToken::kText, rest.substr(0, end)});
      at += end;
      continue;
    }
    const std::string_view raw = rest.substr(0, tag);
    tokens.push_back({SubtitleToken::kSingle, raw});
    at += tag;
    const TagRole role = RoleOf(raw);
    if (role.closes) {
      if (open.empty() || RoleOf(tokens[open.back()].raw).name != role.name) continue;
      SubtitleToken& start = tokens[open.back()];
      start.kind = SubtitleToken::kOpen;
      start.partner = tokens.size() - 1;
      tokens.back() = {SubtitleToken::kClose, raw, open.back()};
      open.pop_back();
    } else if (open.size() < kMostElements && role.opens) {
      open.push_back(tokens.size() - 1);
    }
  }
  return tokens;
}

std::vector<SubtitleWord> SubtitleWords(std::string_view text, bool braces) {
  WordCutter cutter;
  const std::vector<SubtitleToken> tokens = SubtitleTokens(text, braces);
  for (const SubtitleToken& token : tokens) {
    switch (token.kind) {
      case SubtitleToken::kText:
        cutter.Text(token.raw);
        break;
      case SubtitleToken::kOpen:
        cutter.Open(token.raw, tokens[token.partner].raw);
        break;
      case SubtitleToken::kClose:
        cutter.Close();
        break;
      case SubtitleToken::kSingle:
        cutter.Single(token.raw);
        break;
    }
  }
  return std::move(cutter).Take();
}

size_t SubtitleColumns(std::string_view text, bool braces) {
  const std::vector<SubtitleWord> words = SubtitleWords(text, braces);
  return Columns(words, 0, words.size());
}

std::vector<std::string> LayOutSubtitles(const std::vector<SubtitleWord>& words,
                                         const std::vector<SubtitleShare>& shares,
                                         std::string_view newline) {
  std::vector<std::string> cues;
  size_t begin = 0;
  for (const size_t end : ShareWords(words, shares)) {
    cues.push_back(begin == end && begin > 0
                       ? cues.back()
                       : WriteCue(words, begin, end, newline, shares[cues.size()].width));
    begin = end;
  }
  return cues;
}

std::string SpreadSubtitle(const std::vector<SubtitleWord>& words,
                           const std::vector<SubtitleShare>& shares,
                           const std::vector<SubtitleGap>& gaps, std::string_view newline) {
  const size_t columns = Columns(words, 0, words.size());
  size_t second = 0;  // the word that begins the second line
  if (columns > shares[0].width && words.size() > 1) {
    second = BreakBefore(words, 0, 1, words.size() - 1, (columns + 1) / 2);
  }
  std::string out;
  size_t i = 0, share = 0;
  for (const size_t end : ShareWords(words, shares)) {
    const SubtitleGap& gap = gaps[share++];
    out += gap.before;
    if (i == end) out += gap.after;
    for (const size_t begin = i; i < end; ++i) {
      if (i > 0) out += i == second ? newline : words[i].space_before ? " " : "";
      if (i == begin) out += gap.after;
      out += words[i].before + words[i].text + words[i].after;
    }
  }
  return WithoutEmptyElements(out + gaps[share].before + gaps[share].after);
}

}  // namespace dragoman
