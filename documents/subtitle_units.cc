#include "documents/subtitle_units.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "documents/subtitle_layout.h"
#include "engine/base/utf8.h"
#include "re2/re2.h"

namespace dragoman {
namespace {

constexpr size_t kMostJoined = 4096;  // bytes of text in which tags are joined
constexpr int kMostAround = 16;       // things around a unit
constexpr size_t kMostClosing = 256;  // bytes of what closes a text
constexpr size_t kMostName = 40;      // bytes of the name of a speaker

constexpr std::string_view kSpeakerMarks[] = {"-", "\u2013", "\u2014", ">>", "&gt;&gt;"};
constexpr std::string_view kMusic[] = {"\u266a", "\u266b", "\u266c", "\U0001f3b5", "\U0001f3b6"};
constexpr std::pair<std::string_view, std::string_view> kQuotes[] = {
    {"\"", "\""}, {"'", "'"}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"‘", "’"}, {"「", "」"}};
constexpr std::pair<std::string_view, std::string_view> kBrackets[] = {
    {"[", "]"}, {"(", ")"}, {"# ", " #"}, {"\uff08", "\uff09"}, {"\u3010", "\u3011"}};

// The mark of a speaker that the text begins with, which is no sign of a number.
size_t SpeakerMarkSize(std::string_view text) {
  for (const std::string_view mark : kSpeakerMarks) {
    if (!text.starts_with(mark)) continue;
    const bool digit = text.size() > mark.size() &&
                       absl::ascii_isdigit(static_cast<unsigned char>(text[mark.size()]));
    return digit && mark == "-" ? 0 : mark.size();
  }
  return 0;
}

// The size of "..." or "…" that the text begins with, because its sentence has begun before.
size_t DotsInFront(std::string_view text) {
  constexpr std::string_view kEllipsis = "…";
  if (text.starts_with(kEllipsis)) return kEllipsis.size();
  const size_t dots = std::min(text.find_first_not_of('.'), text.size());
  return dots > 1 ? dots : 0;
}

// "Ann:", "Dr. Old Man:", "MAN ON TV:", "ANN & BOB (O.S.):", "(MAN 2):"; nothing but "Yes. No:".
const RE2& SpeakerNames() {
#define NAMED R"([A-Z\x{80}-\x{10FFFF}][^ .,:;!?"<>()\[\]]*)"
#define CAPITALS R"([A-Z0-9\x{80}-\x{10FFFF}][A-Z0-9'\x{80}-\x{10FFFF}-]*)"
  static const RE2& names =
      *new RE2(R"([\[(]?(?:(?:(?:Dr|Mr|Mrs|Ms|Prof|St|[A-Z])\. )?)" NAMED "(?: (?:\\d+|" NAMED
               "))?|" CAPITALS "(?:(?: | ?[&/] ?)" CAPITALS R"(){0,4})(?: ?\([^()]+\))?[\])]?:)");
#undef CAPITALS
#undef NAMED
  return names;
}

// The size of "Ann:" or "<b>Ann</b>:", the name of a speaker that a line begins with; 0: it does
// not, or its tags are not closed behind the name.
size_t SpeakerNameSize(std::string_view text, bool braces) {
  std::string name;
  size_t size = 0;
  int open = 0;
  const auto take_tag = [&] {
    const size_t tag = SubtitleTagSize(text.substr(size), braces);
    if (tag > 0 && text[size] == '<') open += text.substr(size).starts_with("</") ? -1 : 1;
    size += tag;
    return tag > 0;
  };
  while (size < text.size() && name.size() < kMostName && !name.ends_with(':')) {
    if (!take_tag()) name += text[size++];
  }
  while (open > 0 && take_tag()) {
  }
  if (open > 0 || !RE2::FullMatch(name, SpeakerNames())) return 0;
  if (!braces && text.substr(size).starts_with("</")) take_tag();
  return size == text.size() || text[size] == ' ' ? size : 0;
}

// Without the tags in front; `voice` is <v ...> among them.
std::string_view WithoutTagsInFront(std::string_view text, bool braces, std::string* voice) {
  text = StripWhiteSpace(text);
  while (true) {
    const size_t tag = SubtitleTagSize(text, braces);
    if (tag == 0) return StripWhiteSpace(text);
    if (text.starts_with("<v ") || text.starts_with("<v.")) *voice = text.substr(0, tag);
    text.remove_prefix(tag);
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  }
}

// Without the tags, quotes and brackets at its end.
std::string_view WithoutClosing(std::string_view text, bool braces) {
  // Only the end counts, so that the time is that of the text.
  if (text.size() > kMostClosing) text.remove_prefix(text.size() - kMostClosing);
  while (!text.empty() && (static_cast<unsigned char>(text[0]) & 0xc0) == 0x80)
    text.remove_prefix(1);
  while (true) {
    text = StripWhiteSpace(text);
    const size_t size = text.size();
    if (text.ends_with('>')) text = text.substr(0, std::min(text.rfind('<'), size));
    if (braces && text.ends_with('}')) text = text.substr(0, std::min(text.rfind('{'), size));
    for (const std::string_view mark : {"\"", "'", "”", "’", "»", "」", "』"}) {
      if (text.ends_with(mark)) text.remove_suffix(mark.size());
    }
    if (text.size() == size) break;
  }
  return text;
}

bool EndsSentence(std::string_view text, bool braces) {
  text = WithoutClosing(text, braces);
  constexpr std::string_view kEnds[] = {".", "!", "?", "…", "。", "！", "？", ")", "]", "♪", "）"};
  return text.empty() || std::any_of(std::begin(kEnds), std::end(kEnds),
                                     [&](std::string_view end) { return text.ends_with(end); });
}

// Joins the texts of two lines.  An element that ends with one and begins again with the next goes
// on.
void JoinLine(std::string_view next, bool braces, std::string* text) {
  const bool tags = text->size() < kMostJoined && text->ends_with('>') && next.starts_with('<');
  const auto before = SubtitleTokens(tags ? std::string_view(*text) : "", braces),
             after = SubtitleTokens(next, braces);
  if (!before.empty() && !after.empty() && before.back().kind == SubtitleToken::kClose &&
      after[0].kind == SubtitleToken::kOpen && before[before.back().partner].raw == after[0].raw) {
    text->resize(text->size() - before.back().raw.size());
    next.remove_prefix(after[0].raw.size());
  }
  if (!text->empty()) absl::StrAppend(text, " ");
  absl::StrAppend(text, std::string(next));
}

// Takes off one thing that stands around the text; the same text if nothing does.
std::string_view WithoutAround(std::string_view text, bool braces) {
  text = StripWhiteSpace(text);
  if (const size_t mark = SpeakerMarkSize(text); mark > 0) return text.substr(mark);
  if (const size_t name = SpeakerNameSize(text, braces); name > 0) return text.substr(name);
  if (const size_t dots = DotsInFront(text); dots > 0) return text.substr(dots);
  for (const auto& [open, close] : kQuotes) {  // "...the house."
    const size_t dots = text.starts_with(open) ? DotsInFront(text.substr(open.size())) : 0;
    if (dots == 0) continue;
    text.remove_prefix(open.size() + dots);
    return text.substr(0, text.size() - (text.ends_with(close) ? close.size() : 0));
  }
  for (const std::string_view note : kMusic) {
    if (text.starts_with(note)) return text.substr(note.size());
    if (text.ends_with(note)) return text.substr(0, text.size() - note.size());
  }
  for (const auto& [open, close] : kBrackets) {
    if (!text.starts_with(open) || !text.ends_with(close)) continue;
    if (text.size() <= open.size() + close.size()) continue;
    const std::string_view inside =
        text.substr(open.size(), text.size() - open.size() - close.size());
    if (inside.find(open) == inside.npos && inside.find(close) == inside.npos) return inside;
  }
  const std::vector<SubtitleToken> tokens = SubtitleTokens(text, braces);
  if (tokens.empty()) return text;
  const SubtitleToken &first = tokens.front(), &last = tokens.back();
  if (first.kind == SubtitleToken::kSingle) return text.substr(first.raw.size());
  if (last.kind == SubtitleToken::kSingle) return text.substr(0, text.size() - last.raw.size());
  if (first.kind != SubtitleToken::kOpen || first.partner + 1 != tokens.size()) return text;
  text.remove_prefix(first.raw.size());
  text.remove_suffix(last.raw.size());
  return text;
}

// The unit of lines [begin, end) of the cue.
SubtitleUnit MakeUnit(std::string_view part, const SubtitleCue& cue, size_t begin, size_t end,
                      bool braces) {
  SubtitleUnit unit = {.begin = cue.lines[begin].begin,
                       .end = cue.lines[end - 1].end,
                       .line = cue.lines[begin].number,
                       .lines = end - begin};
  std::string whole;
  for (size_t i = begin; i < end; ++i) {
    JoinLine(part.substr(cue.lines[i].begin, cue.lines[i].end - cue.lines[i].begin), braces,
             &whole);
  }
  const std::string_view front = WithoutTagsInFront(whole, braces, &unit.voice);
  unit.speaks = SpeakerMarkSize(front) > 0 || SpeakerNameSize(front, braces) > 0 ||
                std::any_of(std::begin(kMusic), std::end(kMusic),
                            [&](std::string_view note) { return front.starts_with(note); });
  unit.ends = EndsSentence(whole, braces);
  std::string_view core = whole;
  for (int i = 0; i < kMostAround; ++i) {
    const size_t size = core.size();
    core = WithoutAround(core, braces);
    if (core.size() == size) break;
  }
  core = StripWhiteSpace(core);
  const size_t before =
      core.empty() ? whole.size() : static_cast<size_t>(core.data() - whole.data());
  unit.before = whole.substr(0, before);
  unit.text = std::string(core);
  unit.after = whole.substr(before + core.size());
  return unit;
}

// Whether a line is of another unit than the one before it.
bool BeginsUnit(std::string_view before, std::string_view line, bool named, bool braces) {
  std::string voice;
  const std::string_view front = WithoutTagsInFront(line, braces, &voice);
  if (!voice.empty() || SpeakerMarkSize(front) > 0 || DotsInFront(front) > 0 ||
      (named && SpeakerNameSize(front, braces) > 0)) {
    return true;
  }
  const bool lower = !front.empty() && absl::ascii_islower(static_cast<unsigned char>(front[0]));
  return !lower && EndsSentence(before, braces);
}

}  // namespace

std::vector<SubtitleUnit> SubtitleUnits(std::string_view part, const SubtitleCue& cue,
                                        bool braces) {
  const auto text = [&](size_t i) {
    return part.substr(cue.lines[i].begin, cue.lines[i].end - cue.lines[i].begin);
  };
  std::string voice;
  const bool named = SpeakerNameSize(WithoutTagsInFront(text(0), braces, &voice), braces) > 0;
  std::vector<SubtitleUnit> units;
  for (size_t begin = 0; begin < cue.lines.size();) {
    size_t end = begin + 1;
    const auto blank = [&](size_t i) { return StripWhiteSpace(text(i)).empty(); };
    if (!blank(begin)) {
      while (end < cue.lines.size() && !blank(end) &&
             !BeginsUnit(text(end - 1), text(end), named, braces)) {
        ++end;
      }
      units.push_back(MakeUnit(part, cue, begin, end, braces));
    }
    begin = end;
  }
  return units;
}

}  // namespace dragoman
