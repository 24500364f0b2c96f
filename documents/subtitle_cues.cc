#include "documents/subtitle_cues.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "documents/document.h"
#include "documents/source_text.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr size_t kBytesOfCue = 256;  // what is kept of one
constexpr std::string_view kArrow = "-->";
constexpr char kWantTime[] = "want a time such as 00:00:01,000 --> 00:00:02,000";

// Reads "01:02:03,456", "02:03.4" or "1:02:03" from the front of the text.
std::optional<int64_t> TakeTime(std::string_view* text) {
  const auto take_digits = [&] {
    const size_t size = std::min(text->find_first_not_of("0123456789"), text->size());
    const std::string_view digits = text->substr(0, size);
    text->remove_prefix(size);
    return digits;
  };
  text->remove_prefix(std::min(text->find_first_not_of(" \t"), text->size()));
  int64_t time = 0;
  for (int groups = 1;; ++groups) {
    const std::string_view digits = take_digits();
    if (digits.empty() || digits.size() > 6) return std::nullopt;
    int64_t number = 0;
    for (const char c : digits) number = number * 10 + (c - '0');
    time = time * 60 + number;
    const bool more = groups < 3 && text->starts_with(':');
    if (!more && groups == 1) return std::nullopt;
    if (!more) break;
    text->remove_prefix(1);
  }
  int64_t fraction = 0;
  if (text->starts_with(',') || text->starts_with('.')) {
    text->remove_prefix(1);
    const std::string_view digits = take_digits();
    if (digits.empty()) return std::nullopt;
    for (size_t i = 0; i < 3; ++i)
      fraction = fraction * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  }
  return time * 1000 + fraction;
}

bool ReadTiming(std::string_view line, SubtitleCue* cue) {
  const auto begin = TakeTime(&line);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (!begin.has_value() || !line.starts_with(kArrow)) return false;
  line.remove_prefix(kArrow.size());
  const auto end = TakeTime(&line);
  cue->begin_time = *begin;
  cue->end_time = end.value_or(0);
  return end.has_value() && (line.empty() || line[0] == ' ' || line[0] == '\t');
}

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789 \t") == text.npos;
}

class CueReader {
 public:
  CueReader(std::string_view part, SubtitleSyntax syntax, const DocumentOptions& options,
            Patience* patience)
      : part_(part), vtt_(syntax == SubtitleSyntax::kVtt), options_(options), patience_(patience) {}

  absl::StatusOr<std::vector<SubtitleCue>> ReadBlocks() && {
    SubtitleLine line;
    while (NextLine(&line)) {
      const std::string_view text = Of(line);
      const bool blank = vtt_ ? text.empty() : text.find_first_not_of(" \t") == text.npos;
      if (blank) {
        RETURN_IF_ERROR(ReadBlock());
        continue;
      }
      if (BeginsCue(text)) RETURN_IF_ERROR(CutBlock());
      if (!patience_->Takes(2 * sizeof(SubtitleLine))) break;
      block_.push_back(line);
    }
    RETURN_IF_ERROR(patience_->status());
    RETURN_IF_ERROR(ReadBlock());
    if (vtt_ && !header_) return DamagedLine(1, "want WEBVTT");
    if (!vtt_ && cues_.empty() && damaged_ > 0) return DamagedLine(damaged_, kWantTime);
    return std::move(cues_);
  }

  absl::StatusOr<std::vector<SubtitleCue>> ReadEvents() && {
    SubtitleLine line;
    bool events = false, any = false;
    while (NextLine(&line)) {
      const std::string_view text = StripWhiteSpace(Of(line));
      if (text.starts_with('[')) events = IsNamed(text, "[Events]");
      any = any || events;
      if (events && text.starts_with("Format:")) RETURN_IF_ERROR(ReadFormat(text, line.number));
      if (events && text.starts_with("Dialogue:")) ReadDialogue(line);
    }
    RETURN_IF_ERROR(patience_->status());
    if (!any) return DamagedLine(1, "want [Script Info] and [Events]");
    return std::move(cues_);
  }

 private:
  std::string_view Of(const SubtitleLine& line) const {
    return part_.substr(line.begin, line.end - line.begin);
  }

  // A line ends with "\n", "\r\n" or "\r".  False at the end, or if patience does not last.
  bool NextLine(SubtitleLine* line) {
    if (at_ >= part_.size()) return false;
    const size_t end = std::min(part_.find_first_of("\r\n", at_), part_.size());
    *line = {at_, end, ++number_};
    at_ = end + (part_.substr(end).starts_with("\r\n") ? 2 : 1);
    return patience_->Lasts(at_ - line->begin);
  }

  // In SubRip, a text may have an arrow.
  bool BeginsCue(std::string_view text) const {
    SubtitleCue cue;
    return text.find(kArrow) != text.npos && (vtt_ || ReadTiming(text, &cue));
  }

  // Ends the block in front of a time, unless it is the name or number of the cue.
  absl::Status CutBlock() {
    const bool timed =
        std::any_of(block_.begin(), block_.end(), [&](auto& line) { return BeginsCue(Of(line)); });
    if (block_.size() < 2 && !timed && !(vtt_ && !header_)) return absl::OkStatus();
    std::vector<SubtitleLine> kept;
    if (!vtt_ && block_.size() > 1 && IsDigits(Of(block_.back()))) {
      kept.push_back(block_.back());
      block_.pop_back();
    }
    RETURN_IF_ERROR(ReadBlock());
    block_ = std::move(kept);
    return absl::OkStatus();
  }

  absl::Status ReadBlock() {
    const std::vector<SubtitleLine> block = std::exchange(block_, {});
    if (block.empty()) return absl::OkStatus();
    if (vtt_ && !header_) {
      const std::string_view first = Of(block[0]);
      header_ = first == "WEBVTT" || first.starts_with("WEBVTT ") || first.starts_with("WEBVTT\t");
      return header_ ? absl::OkStatus() : DamagedLine(block[0].number, "want WEBVTT");
    }
    SubtitleCue cue;
    const size_t timing = block.size() > 1 && Of(block[0]).find(kArrow) == part_.npos ? 1 : 0;
    if (!ReadTiming(Of(block[timing]), &cue)) {
      if (damaged_ == 0) damaged_ = block[timing].number;
      Warn(block[0], block[timing].number);
      return absl::OkStatus();
    }
    cue.lines.assign(block.begin() + static_cast<std::ptrdiff_t>(timing) + 1, block.end());
    patience_->Takes(kBytesOfCue);
    if (!cue.lines.empty()) cues_.push_back(std::move(cue));
    return absl::OkStatus();
  }

  void Warn(const SubtitleLine& first, int number) const {
    const std::string_view name = Of(first).substr(0, Of(first).find_first_of(" \t"));
    if (options_.warn == nullptr || (vtt_ && IsAmong(name, " NOTE STYLE REGION "))) return;
    options_.warn(absl::StrCat("line ", number, ": stays as it is, ", kWantTime));
  }

  // "Format: Layer, Start, End, Style, ..., Text"
  absl::Status ReadFormat(std::string_view format, int number) {
    format.remove_prefix(format.find(':') + 1);
    std::string_view name;
    for (fields_ = 0; !format.empty(); ++fields_) {
      const size_t comma = std::min(format.find(','), format.size());
      name = StripWhiteSpace(format.substr(0, comma));
      if (IsNamed(name, "Start")) start_ = fields_;
      if (IsNamed(name, "End")) end_ = fields_;
      format.remove_prefix(std::min(comma + 1, format.size()));
    }
    return IsNamed(name, "Text") ? absl::OkStatus()
                                 : DamagedLine(number, "want Text as the last field");
  }

  void ReadDialogue(const SubtitleLine& line) {
    SubtitleCue cue;
    size_t at = part_.find(':', line.begin) + 1, times = at;
    for (size_t field = 0; field + 1 < fields_; ++field) {
      const size_t comma = std::min(part_.find(',', at), line.end);
      if (comma == line.end) return;
      std::string_view value = part_.substr(at, comma - at);
      if (field == start_) cue.begin_time = TakeTime(&value).value_or(0);
      if (field == end_) cue.end_time = TakeTime(&value).value_or(0);
      at = comma + 1;
      if (field == end_ || field == start_) times = at;
    }
    cue.style = part_.substr(times, at - times);
    AddLines(at, line, &cue);
    patience_->Takes(kBytesOfCue + cue.lines.size() * 2 * sizeof(SubtitleLine));
    if (!cue.lines.empty()) cues_.push_back(std::move(cue));
  }

  // Cuts the text at "\N".  Drawings, and the syllables of karaoke, are no text.
  void AddLines(size_t begin, const SubtitleLine& line, SubtitleCue* cue) const {
    bool override = false;
    const size_t begin_of_text = begin;
    const size_t last_brace = part_.substr(begin, line.end - begin).rfind('}');
    for (size_t at = begin; at < line.end; ++at) {
      const std::string_view rest = part_.substr(at, line.end - at);
      if (rest[0] == '{') override = last_brace != part_.npos && begin_of_text + last_brace > at;
      if (rest[0] == '}') override = false;
      if (rest[0] != '\\' || rest.size() < 2) continue;
      const bool drawing = rest.size() > 2 && rest[1] == 'p' && rest[2] >= '1' && rest[2] <= '9';
      if (override && (drawing || rest[1] == 'k' || rest[1] == 'K')) return cue->lines.clear();
      if (override || rest[1] != 'N') continue;
      cue->lines.push_back({begin, at, line.number});
      begin = at + 2;
    }
    cue->lines.push_back({begin, line.end, line.number});
  }

  const std::string_view part_;
  const bool vtt_;
  const DocumentOptions& options_;
  Patience* const patience_;
  size_t at_ = 0;
  int number_ = 0;   // of the line
  int damaged_ = 0;  // the first line that wants a time
  bool header_ = false;
  size_t fields_ = 10, start_ = 1, end_ = 2;  // of a "Dialogue:"
  std::vector<SubtitleLine> block_;           // lines since the last empty one
  std::vector<SubtitleCue> cues_;
};

}  // namespace

absl::StatusOr<std::vector<SubtitleCue>> ReadSubtitleCues(std::string_view part,
                                                          SubtitleSyntax syntax,
                                                          const DocumentOptions& options,
                                                          Patience* patience) {
  CueReader reader(part, syntax, options, patience);
  return syntax == SubtitleSyntax::kAss ? std::move(reader).ReadEvents()
                                        : std::move(reader).ReadBlocks();
}

}  // namespace dragoman
