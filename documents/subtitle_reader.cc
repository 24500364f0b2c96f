// SubRip (.srt), WebVTT (.vtt) and ASS (.ass, .ssa): cues, each a time and a text
// (subtitle_cues.h).
//
//   1                                    The sentence runs over two cues, so that it is one
//   passage, 00:00:01,000 --> 00:00:02,500        "I went home because it was late."  Its
//   translation is <i>I went home</i>                   laid out over both, in proportion to their
//   text, in lines
//                                        of 42 columns (subtitle_layout.h).
//   2
//   00:00:02,500 --> 00:00:04,000
//   because it was late.
//
// What somebody else says is a passage of its own, and so is a sentence that ends with a line
// (subtitle_units.h).  Tags never leave their cue: a cue with tags within its text is a passage of
// its own, and those around the text of a cue stay there.

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "documents/inline_text.h"
#include "documents/passage_list.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "documents/subtitle_cues.h"
#include "documents/subtitle_layout.h"
#include "documents/subtitle_units.h"
#include "engine/base/html_references.h"
#include "engine/base/patience.h"
#include "engine/base/status.h"
#include "engine/base/xml_events.h"

namespace dragoman {
namespace {

constexpr size_t kMostCues = 6;  // of a passage
// What is kept of a sentence, and what each byte of a text can take while it is laid out: its words
// have the tags around them.
constexpr size_t kBytesOfSentence = 512, kBytesOfLayout = 256;
constexpr int64_t kMostSilence = 2000;  // milliseconds between cues of a sentence
constexpr size_t kMostNamed = 40;       // bytes
constexpr size_t kAnyWidth = 1 << 30;   // of a line that is not cut
constexpr std::string_view kNoBreakSpace = "\u00a0";

bool IsTag(const SubtitleToken& token) {  // no "&nbsp;", "\h"
  return token.kind != SubtitleToken::kText && (token.raw[0] == '<' || token.raw[0] == '{');
}

bool IsTime(const SubtitleToken& token) {  // "<00:02.000>"
  return token.raw.size() > 1 && token.raw[0] == '<' &&
         absl::ascii_isdigit(static_cast<unsigned char>(token.raw[1]));
}

// The characters of a text with references such as "&lt;".
std::string ReadReferences(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t at = std::min(text.find('&'), text.size());
    const size_t end = std::min(text.substr(0, at + kMostNamed).find(';', at), text.size() - 1) + 1;
    const std::string characters =
        at == text.size() ? "" : CharactersNamed(text.substr(at, end - at));
    const size_t read = characters.empty() ? std::min(at + 1, text.size()) : at;
    absl::StrAppend(&out, std::string(text.substr(0, read)), characters);
    text.remove_prefix(characters.empty() ? read : end);
  }
  return out;
}

// The first line break of a part.
std::string NewlineOf(std::string_view part) {
  const size_t at = part.find_first_of("\r\n");
  if (at == part.npos) return "\n";
  return part.substr(at).starts_with("\r\n") ? "\r\n" : std::string(1, part[at]);
}

// "[door creaks] " of "[door creaks] Come in.", which is a sentence of its own.
std::string_view LabelInFront(std::string_view text) {
  if (text.empty() || (text[0] != '[' && text[0] != '(')) return "";
  const size_t end = text.find_first_of("[]()<>{}", 1);
  if (end == text.npos || end == 1 || text[end] != (text[0] == '[' ? ']' : ')')) return "";
  if (end + 2 >= text.size() || text[end + 1] != ' ') return "";
  const bool lower = absl::ascii_islower(static_cast<unsigned char>(text[end + 2]));
  return lower ? "" : text.substr(0, end + 2);
}

class SubtitleReader {
 public:
  SubtitleReader(std::string_view part, SubtitleSyntax syntax, const DocumentOptions& options)
      : part_(part), syntax_(syntax), options_(options), patience_(options) {}

  Passages Read() && {
    ASSIGN_OR_RETURN(cues_, ReadSubtitleCues(part_, syntax_, options_, &patience_));
    RETURN_IF_ERROR(FindUnits());
    for (size_t i = 0; i < units_.size();) {
      if (!patience_.Lasts(sizeof(Passage))) return patience_.status();
      size_t end = i + 1;
      while (end < units_.size() && end - i < kMostCues && GoesOn(units_[end - 1], units_[end])) {
        ++end;
      }
      if (units_[i].words) AddSentence(i, end);
      i = end;
    }
    return passages_.Take();
  }

 private:
  struct Unit : SubtitleUnit {
    size_t cue = 0;
    bool alone = true;   // in its cue
    bool words = false;  // it is translated
    bool tags = false;   // in its text
    bool timed = false;  // some of these are times
  };
  // Where a stretch of the translation belongs.
  struct Piece {
    std::string before, after;  // of the unit, and up to the next one
  };

  bool braces() const { return syntax_ == SubtitleSyntax::kAss; }

  absl::Status FindUnits() {
    overlaps_.assign(cues_.size(), false);
    size_t last = 0;  // the cue that is shown longest so far
    for (size_t cue = 0; cue < cues_.size(); ++cue) {
      if (cue > 0 && cues_[cue].begin_time < cues_[last].end_time) {
        overlaps_[cue] = overlaps_[last] = true;
      }
      if (cues_[cue].end_time >= cues_[last].end_time) last = cue;
      const size_t size = cues_[cue].lines.back().end - cues_[cue].lines[0].begin;
      const size_t layout = kBytesOfLayout * size;
      if (!patience_.Lasts(size) || !patience_.Takes(layout)) return patience_.status();
      std::vector<SubtitleUnit> units = SubtitleUnits(part_, cues_[cue], braces());
      patience_.Returns(layout);
      patience_.Takes(2 * size + 2 * sizeof(Unit) * units.size());
      for (SubtitleUnit& unit : units) {
        units_.push_back({std::move(unit), cue, units.size() == 1});
        Unit& added = units_.back();
        added.words = HasWords(Characters(PlainOf(added.text)));
        const std::vector<SubtitleToken> tokens = SubtitleTokens(added.text, braces());
        added.tags = std::any_of(tokens.begin(), tokens.end(), IsTag);
        added.timed = std::any_of(tokens.begin(), tokens.end(), IsTime);
      }
    }
    return patience_.status();
  }

  // Whether a sentence runs from one unit into the next.
  bool GoesOn(const Unit& unit, const Unit& next) const {
    const SubtitleCue &cue = cues_[unit.cue], &other = cues_[next.cue];
    const bool can = unit.words && !unit.tags && !unit.ends && next.words && !next.tags;
    const bool speaks = next.speaks || (!next.voice.empty() && next.voice != unit.voice);
    return can && !speaks && next.cue == unit.cue + 1 && cue.style == other.style &&
           !overlaps_[unit.cue] && !overlaps_[next.cue] && !BeginsSentence(unit, next) &&
           other.begin_time - cue.end_time <= kMostSilence;
  }

  // Whether a capital letter says so: not "I", not in capitals alone, nor in German, which writes
  // nouns with them.
  bool BeginsSentence(const Unit& unit, const Unit& next) const {
    const auto lower = [](char c) { return absl::ascii_islower(static_cast<unsigned char>(c)); };
    const auto first = static_cast<unsigned char>(next.text[0]);
    const bool pronoun = first == 'I' && !(next.text.size() > 1 && lower(next.text[1]));
    return absl::ascii_isupper(first) && !pronoun &&
           std::any_of(unit.text.begin(), unit.text.end(), lower) && !unit.text.ends_with(',') &&
           !options_.source_language.starts_with("de");
  }

  // The characters that raw text stands for.
  std::string Characters(std::string_view raw) const {
    if (braces()) {
      return absl::StrReplaceAll(std::string(raw),
                                 {{"\\h", std::string(kNoBreakSpace)}, {"\\n", " "}});
    }
    return ReadReferences(raw);
  }

  // Players read references in SubRip, but not every "&" begins one.
  Spelling Spell(bool references) const {
    if (braces()) {
      return [](std::string_view text) {
        return absl::StrReplaceAll(std::string(text), {{"{", "("}, {"}", ")"}});
      };
    }
    if (references || syntax_ == SubtitleSyntax::kVtt) {
      return [](std::string_view text) { return EscapeXml(text); };
    }
    return [](std::string_view text) {
      std::string spelled;
      for (const char c : absl::StrReplaceAll(std::string(text), {{"-->", "->"}})) {
        // A "<" that began no tag where it stood could begin one where the model has put it.
        if (spelled.ends_with('<') &&
            (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '/'))
          spelled += ' ';
        spelled += c;
      }
      return spelled;
    };
  }

  InlineText Describe(std::string_view text) {
    InlineText inside(&patience_);
    if (const std::string_view label = LabelInFront(text); !label.empty()) {
      inside.Break(std::string(label.substr(0, 1)));
      inside.Text(Characters(label.substr(1, label.size() - 3)));
      inside.Break(std::string(label.substr(label.size() - 2)));
      text.remove_prefix(label.size());
    }
    const std::vector<SubtitleToken> tokens = SubtitleTokens(text, braces());
    for (const SubtitleToken& token : tokens) {
      if (!patience_.Lasts(1)) break;
      switch (token.kind) {
        case SubtitleToken::kText:
          inside.Text(Characters(token.raw));
          break;
        case SubtitleToken::kOpen:
          inside.Open(std::string(token.raw), std::string(tokens[token.partner].raw));
          break;
        case SubtitleToken::kClose:
          inside.Close();
          break;
        case SubtitleToken::kSingle:
          inside.Symbol(std::string(token.raw), Characters(token.raw));
          break;
      }
    }
    return inside;
  }

  // Adds the passage of a unit with times between its words: its tags stay where they are, whatever
  // the words around them become.
  void AddTimed(const Unit& unit) {
    const size_t layout = kBytesOfLayout * unit.text.size();
    if (!patience_.Takes(layout + kBytesOfSentence + 2 * unit.text.size())) return;
    std::vector<SubtitleToken> tokens = SubtitleTokens(unit.text);
    tokens.push_back({SubtitleToken::kSingle, "<"});
    std::string text, words;
    std::vector<SubtitleGap> gaps(1);
    std::vector<SubtitleShare> shares;
    bool spaced = false;  // since the last word
    for (const SubtitleToken& token : tokens) {
      if (!IsTag(token)) {
        words += token.raw;
        continue;
      }
      const std::string_view core = StripWhiteSpace(words);
      spaced = spaced || words.starts_with(' ');
      if (!core.empty()) {
        absl::StrAppend(&text, spaced && !text.empty() ? " " : "", std::string(core));
        shares.push_back({SubtitleColumns(core), unit.lines > 1 ? 0 : kSubtitleWidth});
        gaps.emplace_back();
        spaced = words.ends_with(' ');
      }
      words.clear();
      if (token.raw != "<") (spaced ? gaps.back().after : gaps.back().before) += token.raw;
    }
    patience_.Returns(layout);
    patience_.Takes(2 * gaps.size() * (sizeof(SubtitleGap) + sizeof(SubtitleShare)));
    Passage passage = ToPassage(text, unit.begin, unit.end, unit.line);
    passage.write = [write = std::move(passage.write), gaps, shares, before = unit.before,
                     after = unit.after, newline = newline_](std::string_view translation) {
      const std::string whole = write(translation);
      return absl::StrCat(before, SpreadSubtitle(SubtitleWords(whole), shares, gaps, newline),
                          after);
    };
    passages_.Add(std::move(passage));
  }

  // The passage of a text, which is written in one line.
  Passage ToPassage(std::string_view text, size_t begin, size_t end, int line) {
    const std::string plain = PlainOf(text);
    return Describe(text).ToPassage(begin, end, line, Spell(Characters(plain) != plain));
  }

  // Adds the passage of units [begin, end).
  void AddSentence(size_t begin, size_t end) {
    if (units_[begin].timed) return AddTimed(units_[begin]);
    std::string text;
    std::vector<SubtitleShare> shares;
    std::vector<Piece> pieces;
    for (size_t i = begin; i < end; ++i) {
      const Unit& unit = units_[i];
      size_t width = unit.alone && !braces() ? kSubtitleWidth : kAnyWidth;
      if (unit.lines > 1) width = 0;
      absl::StrAppend(&text, i == begin ? "" : " ", unit.text);
      shares.push_back({SubtitleColumns(unit.text, braces()), width});
      pieces.push_back({unit.before, unit.after});
      if (i + 1 == end) break;
      absl::StrAppend(&pieces.back().after,
                      std::string(part_.substr(unit.end, units_[i + 1].begin - unit.end)));
    }
    const size_t layout = kBytesOfLayout * text.size();
    if (!patience_.Takes(layout + kBytesOfSentence + 2 * text.size())) return;
    Passage passage = ToPassage(text, units_[begin].begin, units_[end - 1].end, units_[begin].line);
    patience_.Returns(layout);
    passage.write = [write = std::move(passage.write), shares, pieces, braces = braces(),
                     newline = newline_](std::string_view translation) {
      const std::string whole = write(translation);
      const auto texts = LayOutSubtitles(SubtitleWords(whole, braces), shares, newline);
      std::string out;
      for (size_t i = 0; i < texts.size(); ++i) {
        absl::StrAppend(&out, pieces[i].before, texts[i], pieces[i].after);
      }
      return out;
    };
    passages_.Add(std::move(passage));
  }

  // What of a text is not in tags.
  std::string PlainOf(std::string_view text) const {
    std::string out;
    for (const SubtitleToken& token : SubtitleTokens(text, braces())) {
      if (token.kind == SubtitleToken::kText) out += token.raw;
    }
    return out;
  }

  const std::string_view part_;
  const SubtitleSyntax syntax_;
  const DocumentOptions& options_;
  Patience patience_;
  const std::string newline_ = syntax_ == SubtitleSyntax::kAss ? "\\N" : NewlineOf(part_);
  std::vector<SubtitleCue> cues_;
  std::vector<bool> overlaps_;  // another cue is shown at the same time
  std::vector<Unit> units_;
  PassageList passages_{&patience_};
};

}  // namespace

Passages ReadSrt(std::string_view part, const DocumentOptions& options) {
  return SubtitleReader(part, SubtitleSyntax::kSrt, options).Read();
}
Passages ReadVtt(std::string_view part, const DocumentOptions& options) {
  return SubtitleReader(part, SubtitleSyntax::kVtt, options).Read();
}
Passages ReadAss(std::string_view part, const DocumentOptions& options) {
  return SubtitleReader(part, SubtitleSyntax::kAss, options).Read();
}

}  // namespace dragoman
