#include "server/memories/memory_text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/text/language_tag.h"
#include "server/base/owned_files.h"

namespace dragoman {
namespace {

constexpr size_t kMaxMemoryName = 256;     // bytes
constexpr size_t kMaxSentence = 16 << 10;  // bytes

// Segments that are learned together.
struct Lesson {
  size_t begin = 0;  // byte of the text
  size_t first = 0, count = 0;
  int64_t version = 0;
};

absl::StatusOr<LanguagePair> LanguagesFrom(const std::string& value) {
  std::vector<std::string> tags = absl::StrSplit(value, ' ', absl::SkipEmpty());
  if (tags.size() > 2) return absl::InvalidArgumentError("languages: want two tags, such as en de");
  tags.resize(2);
  for (std::string& tag : tags) {
    if (tag == "*") tag.clear();
  }
  return LanguagePair{tags[0], tags[1]};
}

absl::StatusOr<Lesson> LessonFrom(const std::string& value, const MemoryText& memory) {
  const std::vector<std::string> numbers = absl::StrSplit(value, ' ', absl::SkipEmpty());
  Lesson lesson = {.first = memory.segments.size()};
  const bool is_read = numbers.size() == 2 && absl::SimpleAtoi(numbers[0], &lesson.count) &&
                       absl::SimpleAtoi(numbers[1], &lesson.version);
  if (is_read && lesson.count <= kMaxSegments) return lesson;
  return absl::InvalidArgumentError("learn: want a number of segments and a version");
}

absl::Status CheckSentence(const std::string& field, const std::string& text) {
  if (!IsValidUtf8(text)) return InvalidField(field, "is not valid UTF-8");
  if (text.size() > kMaxSentence) {
    return InvalidField(field,
                        absl::StrCat("has ", text.size(), " bytes, the most is ", kMaxSentence));
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(text.begin(), text.end(), is_control)) {
    return InvalidField(field, "has a control character");
  }
  return absl::OkStatus();
}

absl::Status CheckSegment(const std::string& field, const MemorySegment& segment) {
  for (const auto& [name, text] :
       {std::pair(".source", &segment.source), {".target", &segment.target}}) {
    RETURN_IF_ERROR(CheckSentence(field + name, *text));
    if (StripWhiteSpace(*text).empty()) return InvalidField(field + name, "is empty");
  }
  RETURN_IF_ERROR(CheckSentence(field + ".previous_source", segment.previous));
  return CheckSentence(field + ".next_source", segment.next);
}

absl::StatusOr<MemorySegment> SegmentFrom(std::string_view line) {
  if (!IsValidUtf8(line)) return absl::InvalidArgumentError("is not valid UTF-8");
  if (line.starts_with('\\')) line.remove_prefix(1);
  std::vector<std::string> fields =
      absl::StrSplit(absl::string_view(line.data(), line.size()), '\t');
  if (fields.size() < 2) return absl::InvalidArgumentError("want a source, a tab and a target");
  fields.resize(4);
  for (std::string& field : fields) field = std::string(StripWhiteSpace(field));
  MemorySegment segment = {fields[0], fields[1], fields[2], fields[3]};
  RETURN_IF_ERROR(CheckSegment("segment", segment));
  return segment;
}

// Reads a text line by line.
class MemoryReader {
 public:
  explicit MemoryReader(std::string_view text) : text_(text) {}

  absl::StatusOr<MemoryText> Run() {
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    memory_.bytes = text_.size();
    for (int number = 1; at_ < text_.size(); ++number) {
      const size_t end = std::min(text_.find('\n', at_), text_.size());
      std::string_view line = text_.substr(at_, end - at_);
      if (line.ends_with('\r')) line.remove_suffix(1);
      // A last line without an end may be the beginning of something.
      const bool is_open = end == text_.size();
      if (is_open && (lesson_.has_value() || line.starts_with('#'))) {
        if (!lesson_.has_value()) memory_.bytes = at_;
        break;
      }
      if (is_open) memory_.bytes = 0;
      const absl::Status status = ReadLine(line);
      // What was not finished may be anything.
      if (!status.ok() && lesson_.has_value()) break;
      if (!status.ok()) return Annotate(status, absl::StrCat("line ", number, ": "));
      at_ = std::min(end + 1, text_.size());
      EndLesson();
    }
    if (lesson_.has_value()) {
      memory_.segments.resize(lesson_->first);
      memory_.bytes = lesson_->begin;
    }
    RETURN_IF_ERROR(CheckMemory(memory_));
    return std::move(memory_);
  }

 private:
  absl::Status ReadLine(std::string_view line) {
    if (line.starts_with('#')) return ReadComment(std::string(line.substr(1)));
    if (absl::StripAsciiWhitespace(absl::string_view(line.data(), line.size())).empty()) {
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(MemorySegment segment, SegmentFrom(line));
    memory_.segments.push_back(std::move(segment));
    return absl::OkStatus();
  }

  absl::Status ReadComment(const std::string& comment) {
    const std::pair<std::string, std::string> both =
        absl::StrSplit(comment, absl::MaxSplits(':', 1));
    const std::string key(absl::StripAsciiWhitespace(both.first));
    const std::string value(absl::StripAsciiWhitespace(both.second));
    if (key == "learn") {
      if (lesson_.has_value()) return absl::InvalidArgumentError("learn: within another lesson");
      ASSIGN_OR_RETURN(lesson_, LessonFrom(value, memory_));
      lesson_->begin = at_;
      return absl::OkStatus();
    }
    if (key == "languages") {
      ASSIGN_OR_RETURN(memory_.languages, LanguagesFrom(value));
      return absl::OkStatus();
    }
    return ReadOwner(key, value, &memory_).status();
  }

  void EndLesson() {
    if (!lesson_.has_value() || memory_.segments.size() < lesson_->first + lesson_->count) return;
    memory_.version = lesson_->version;
    lesson_.reset();
  }

  const std::string_view text_;
  size_t at_ = 0;
  MemoryText memory_;
  std::optional<Lesson> lesson_;  // that has not ended
};

void AppendSegments(const std::vector<MemorySegment>& segments, std::string* text) {
  for (const MemorySegment& segment : segments) {
    const bool is_escaped = segment.source[0] == '#' || segment.source[0] == '\\';
    absl::StrAppend(text, is_escaped ? "\\" : "", segment.source, "\t", segment.target);
    if (segment.HasContext()) absl::StrAppend(text, "\t", segment.previous, "\t", segment.next);
    *text += '\n';
  }
}

}  // namespace

absl::StatusOr<MemoryText> ParseMemory(std::string_view text) { return MemoryReader(text).Run(); }

std::string WriteMemory(const MemoryText& memory) {
  const auto& [source, target] = memory.languages;
  std::string text =
      absl::StrCat(WriteOwner(memory), "# languages: ", source.empty() ? "*" : source, " ",
                   target.empty() ? "*" : target, "\n");
  AppendSegments(memory.segments, &text);
  return text;
}

std::string WriteLearned(const std::vector<MemorySegment>& segments, int64_t version) {
  std::string text = absl::StrCat("# learn: ", segments.size(), " ", version, "\n");
  AppendSegments(segments, &text);
  return text;
}

absl::Status CheckMemory(const MemoryText& memory) {
  RETURN_IF_ERROR(CheckSentence("memory.name", memory.name));
  if (memory.name.size() > kMaxMemoryName) {
    return InvalidField("memory.name", absl::StrCat("has ", memory.name.size(),
                                                    " bytes, the most is ", kMaxMemoryName));
  }
  RETURN_IF_ERROR(CheckSentence("principal", memory.owner));
  for (const auto& [field, tag] : {std::pair("memory.source_language", &memory.languages.source),
                                   {"memory.target_language", &memory.languages.target}}) {
    const auto is_plain = [](char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_'; };
    if (tag->empty()) continue;
    if (!std::all_of(tag->begin(), tag->end(), is_plain) || !ParseLanguage(*tag).has_value()) {
      return InvalidField(field, "is not a language");
    }
  }
  return CheckSegments(memory.segments);
}

absl::Status CheckSegments(const std::vector<MemorySegment>& segments) {
  for (size_t i = 0; i < segments.size(); ++i) {
    RETURN_IF_ERROR(CheckSegment(absl::StrCat("segments[", i, "]"), segments[i]));
  }
  return absl::OkStatus();
}

void TidySegments(std::vector<MemorySegment>* segments) {
  for (MemorySegment& segment : *segments) {
    for (std::string* const text :
         {&segment.source, &segment.target, &segment.previous, &segment.next}) {
      for (const char c : {'\t', '\n', '\r'}) std::replace(text->begin(), text->end(), c, ' ');
      if (IsValidUtf8(*text)) *text = std::string(StripWhiteSpace(*text));
    }
  }
}

}  // namespace dragoman
