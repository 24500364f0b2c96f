// SubRip (.srt) and WebVTT (.vtt): cues, each a time and a text.
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
// A line of a dialogue, which begins with a dash, is a passage of its own.  Times, numbers, notes,
// styles and the tags of players are kept.

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "documents/inline_text.h"
#include "documents/passage_list.h"
#include "documents/patience.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "documents/subtitle_layout.h"
#include "documents/xml_events.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr size_t kMostCues = 6;         // of a passage
constexpr size_t kMostJoined = 4096;    // bytes of text in which tags are joined
// What is kept of a cue and of its sentence, and what each byte of a text can take while it is laid
// out: its words have the tags around them.
constexpr size_t kBytesOfCue = 256, kBytesOfSentence = 512, kBytesOfLayout = 256;
constexpr int64_t kMostSilence = 2000;  // milliseconds between cues of a sentence

struct SubtitleLine {
  size_t begin = 0, end = 0;  // without the line break
  int number = 1;
};

struct Cue {
  int64_t begin_time = 0, end_time = 0;  // milliseconds
  std::vector<SubtitleLine> lines;       // not empty
};

// Reads "01:02:03,456", "02:03.456" from the front of the text.
std::optional<int64_t> TakeTime(std::string_view* text) {
  text->remove_prefix(std::min(text->find_first_not_of(" \t"), text->size()));
  int64_t time = 0, number = 0;
  int digits = 0, colons = 0;
  for (; !text->empty(); text->remove_prefix(1)) {
    const char c = text->front();
    if (absl::ascii_isdigit(static_cast<unsigned char>(c)) && digits < 6) {
      number = number * 10 + (c - '0');
      ++digits;
    } else if (c == ':' && digits > 0 && colons < 2) {
      time = (time + number) * 60;
      number = digits = 0;
      ++colons;
    } else if ((c == ',' || c == '.') && digits > 0 && colons > 0) {
      text->remove_prefix(1);
      time = (time + number) * 1000;
      number = 0;
      const size_t size = std::min(text->find_first_not_of("0123456789"), text->size());
      if (size == 0 || size > 3) return std::nullopt;
      for (size_t i = 0; i < 3; ++i) number = number * 10 + (i < size ? (*text)[i] - '0' : 0);
      text->remove_prefix(size);
      return time + number;
    } else {
      break;
    }
  }
  return std::nullopt;
}

bool ReadTiming(std::string_view line, Cue* cue) {
  const auto begin = TakeTime(&line);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (!begin.has_value() || !line.starts_with("-->")) return false;
  line.remove_prefix(3);
  const auto end = TakeTime(&line);
  cue->begin_time = *begin;
  cue->end_time = end.value_or(0);
  return end.has_value() && (line.empty() || line[0] == ' ' || line[0] == '\t');
}

// Without the tags, quotes and brackets at its end.
std::string_view WithoutClosing(std::string_view text) {
  while (true) {
    text = StripWhiteSpace(text);
    const size_t size = text.size();
    if (text.ends_with('>')) text = text.substr(0, std::min(text.rfind('<'), size));
    for (const std::string_view mark : {"\"", "'", "”", "’", "»", "」", "』"}) {
      if (text.ends_with(mark)) text.remove_suffix(mark.size());
    }
    if (text.size() == size) return text;
  }
}

bool EndsSentence(std::string_view text) {
  text = WithoutClosing(text);
  constexpr std::string_view kEnds[] = {".", "!", "?", "…", "。", "！", "？", ")", "]", "♪", "）"};
  return text.empty() || std::any_of(std::begin(kEnds), std::end(kEnds),
                                     [&](std::string_view end) { return text.ends_with(end); });
}

class SubtitleReader {
 public:
  SubtitleReader(std::string_view part, bool vtt, const DocumentOptions& options)
      : part_(part), vtt_(vtt), patience_(options) {}

  Passages Read() && {
    RETURN_IF_ERROR(CheckUtf8(part_));
    RETURN_IF_ERROR(ReadCues());
    for (size_t i = 0; i < cues_.size();) {
      if (IsDialogue(cues_[i])) {
        for (const SubtitleLine& line : cues_[i].lines) AddDialogue(line);
        ++i;
        continue;
      }
      size_t end = i + 1;
      if (!patience_.Lasts(sizeof(Passage))) return patience_.status();
      while (end < cues_.size() && end - i < kMostCues && GoesOn(cues_[end - 1], cues_[end])) ++end;
      AddSentence(i, end);
      i = end;
    }
    return passages_.Take();
  }

 private:
  std::string_view Of(const SubtitleLine& line) const {
    return part_.substr(line.begin, line.end - line.begin);
  }

  absl::Status ReadCues() {
    std::vector<SubtitleLine> block;
    size_t at = part_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    for (int number = 1; at < part_.size(); ++number) {
      const size_t newline = std::min(part_.find('\n', at), part_.size());
      size_t end = newline;
      if (!patience_.Lasts(newline + 1 - at)) return patience_.status();
      if (end > at && part_[end - 1] == '\r') --end;
      if (part_.substr(at, end - at).find_first_not_of(" \t") != part_.npos) {
        patience_.Takes(2 * sizeof(SubtitleLine));
        block.push_back({at, end, number});
      } else {
        RETURN_IF_ERROR(ReadBlock(std::exchange(block, {})));
      }
      at = newline + 1;
    }
    RETURN_IF_ERROR(ReadBlock(std::move(block)));
    return vtt_ && !header_ ? DamagedLine(1, "want WEBVTT") : absl::OkStatus();
  }

  absl::Status ReadBlock(std::vector<SubtitleLine> block) {
    if (block.empty()) return absl::OkStatus();
    const std::string_view first = Of(block[0]);
    if (vtt_ && !header_) {
      header_ = first == "WEBVTT" || first.starts_with("WEBVTT ") || first.starts_with("WEBVTT\t");
      return header_ ? absl::OkStatus() : DamagedLine(block[0].number, "want WEBVTT");
    }
    for (const std::string_view kind : {"NOTE", "STYLE", "REGION"}) {
      const std::string_view rest = first.substr(std::min(kind.size(), first.size()));
      if (vtt_ && first.starts_with(kind) && (rest.empty() || rest[0] == ' ' || rest[0] == '\t')) {
        return absl::OkStatus();
      }
    }
    Cue cue;
    const size_t timing = first.find("-->") == first.npos && block.size() > 1 ? 1 : 0;
    if (!ReadTiming(Of(block[timing]), &cue)) {
      return DamagedLine(block[timing].number, "want a time such as 00:00:01,000 --> 00:00:02,000");
    }
    cue.lines.assign(block.begin() + static_cast<std::ptrdiff_t>(timing) + 1, block.end());
    patience_.Takes(kBytesOfCue);
    if (!cue.lines.empty()) cues_.push_back(std::move(cue));
    return absl::OkStatus();
  }

  // The bytes of the dash that a line of a dialogue begins with.
  size_t DashSize(const SubtitleLine& line) const {
    const std::string_view text = Of(line);
    for (const std::string_view dash : {"- ", "-", "– ", "–", "— ", "—"}) {
      if (text.starts_with(dash)) return dash.size();
    }
    return 0;
  }
  bool IsDialogue(const Cue& cue) const {
    return std::any_of(cue.lines.begin() + 1, cue.lines.end(),
                       [&](const SubtitleLine& line) { return DashSize(line) > 0; });
  }

  // Whether a sentence runs from one cue into the next.
  bool GoesOn(const Cue& cue, const Cue& next) const {
    return !EndsSentence(Of(cue.lines.back())) && !IsDialogue(next) &&
           DashSize(next.lines[0]) == 0 && next.begin_time - cue.end_time <= kMostSilence;
  }

  // What stands in front of the text of a cue, such as "{\an8}".
  static std::string Prefix(std::string_view text) {
    size_t size = 0;
    for (const SubtitleToken& token : SubtitleTokens(text)) {
      if (token.kind != SubtitleToken::kSingle) break;
      size += token.raw.size();
    }
    return std::string(text.substr(0, size));
  }

  // Joins the texts of two lines or cues.  An element that ends with one and begins again with the
  // next goes on.
  static void Join(std::string_view next, std::string* text) {
    const bool tags = text->size() < kMostJoined && text->ends_with('>') && next.starts_with('<');
    const auto before = SubtitleTokens(tags ? std::string_view(*text) : ""),
               after = SubtitleTokens(next);
    if (!before.empty() && !after.empty() && before.back().kind == SubtitleToken::kClose &&
        after[0].kind == SubtitleToken::kOpen &&
        before[before.back().partner].raw == after[0].raw) {
      text->resize(text->size() - before.back().raw.size());
      next.remove_prefix(after[0].raw.size());
    }
    if (!text->empty()) absl::StrAppend(text, " ");
    absl::StrAppend(text, std::string(next));
  }

  InlineText Describe(std::string_view text) {
    InlineText inside(&patience_);
    const std::vector<SubtitleToken> tokens = SubtitleTokens(text);
    for (const SubtitleToken& token : tokens) {
      if (!patience_.Lasts(1)) break;
      switch (token.kind) {
        case SubtitleToken::kText:
          inside.Text(
              vtt_ ? XmlText(absl::StrReplaceAll(std::string(token.raw), {{"&nbsp;", "\u00a0"}}))
                   : std::string(token.raw));
          break;
        case SubtitleToken::kOpen:
          inside.Open(std::string(token.raw), std::string(tokens[token.partner].raw));
          break;
        case SubtitleToken::kClose:
          inside.Close();
          break;
        case SubtitleToken::kSingle:
          inside.Empty(std::string(token.raw));
          break;
      }
    }
    return inside;
  }

  Spelling Spell() const {
    if (vtt_) return [](std::string_view text) { return EscapeXml(text); };
    return [](std::string_view text) { return std::string(text); };
  }

  void AddDialogue(const SubtitleLine& line) {
    const size_t begin = line.begin + DashSize(line);
    const size_t layout = kBytesOfLayout * (line.end - begin);
    if (!patience_.Takes(layout)) return;
    InlineText text = Describe(part_.substr(begin, line.end - begin));
    patience_.Returns(layout);
    if (!text.has_words()) return;
    passages_.Add(std::move(text).ToPassage(begin, line.end, line.number, Spell()));
  }

  // Adds the passage of cues [begin, end).
  void AddSentence(size_t begin, size_t end) {
    size_t layout = 0;
    for (size_t i = begin; i < end; ++i) {
      layout += kBytesOfLayout * (cues_[i].lines.back().end - cues_[i].lines[0].begin);
    }
    if (!patience_.Takes(layout + kBytesOfSentence)) return;
    std::string text;
    std::vector<size_t> shares;
    std::vector<std::string> prefixes, between;
    for (size_t i = begin; i < end; ++i) {
      const Cue& cue = cues_[i];
      std::string cue_text;
      for (const SubtitleLine& line : cue.lines) Join(Of(line), &cue_text);
      prefixes.push_back(Prefix(cue_text));
      cue_text.erase(0, prefixes.back().size());
      shares.push_back(SubtitleColumns(cue_text));
      Join(cue_text, &text);
      if (i + 1 == end) break;
      const size_t stop = cue.lines.back().end;
      between.emplace_back(part_.substr(stop, cues_[i + 1].lines[0].begin - stop));
    }
    between.emplace_back();
    const size_t first = cues_[begin].lines[0].begin, last = cues_[end - 1].lines.back().end;
    InlineText inside = Describe(text);
    patience_.Returns(layout);
    if (!inside.has_words()) return;
    Passage passage =
        std::move(inside).ToPassage(first, last, cues_[begin].lines[0].number, Spell());
    passage.write = [write = std::move(passage.write), shares, prefixes, between,
                     newline = newline_](std::string_view translation) {
      const std::string whole = write(translation);
      const auto cues = LayOutSubtitles(SubtitleWords(whole), shares, newline);
      std::string out;
      for (size_t i = 0; i < cues.size(); ++i) {
        absl::StrAppend(&out, prefixes[i], cues[i], between[i]);
      }
      return out;
    };
    passages_.Add(std::move(passage));
  }

  const std::string_view part_;
  const bool vtt_;
  Patience patience_;
  const std::string newline_ = part_.find("\r\n") == part_.npos ? "\n" : "\r\n";
  bool header_ = false;
  std::vector<Cue> cues_;
  PassageList passages_{&patience_};
};

}  // namespace

Passages ReadSrt(std::string_view part, const DocumentOptions& options) {
  return SubtitleReader(part, false, options).Read();
}
Passages ReadVtt(std::string_view part, const DocumentOptions& options) {
  return SubtitleReader(part, true, options).Read();
}

}  // namespace dragoman
