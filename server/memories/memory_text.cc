#include "server/memories/memory_text.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "documents/tmx.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "server/store/kept_text.h"

namespace dragoman {
namespace {

constexpr size_t kMaxSentence = 16 << 10;  // bytes

constexpr std::string_view kLearn = "# learn: ";

// Segments that are learned together.
struct Lesson {
  size_t first = 0, count = 0;
  int64_t version = 0;
};

std::string DigestOf(std::string_view text) {
  return absl::StrCat(absl::Hex(XXH3_64bits(text.data(), text.size()), absl::kZeroPad16));
}

std::string BytesLine(std::string_view text) {
  return absl::StrCat("# bytes: ", text.size(), " ", DigestOf(text));
}

std::string LearnLine(size_t count, int64_t version, size_t bytes, const std::string& digest) {
  const std::string line =
      absl::StrCat(kLearn.data(), count, " ", version, " ", bytes, " ", digest, " ");
  return line + DigestOf(line);
}

absl::StatusOr<Lesson> LessonFrom(const std::string& value, const MemoryText& memory) {
  const std::vector<std::string> numbers = absl::StrSplit(value, ' ', absl::SkipEmpty());
  Lesson lesson = {.first = memory.segments.size()};
  const bool is_read = numbers.size() >= 2 && absl::SimpleAtoi(numbers[0], &lesson.count) &&
                       absl::SimpleAtoi(numbers[1], &lesson.version);
  if (is_read && lesson.count <= kMaxSegments) return lesson;
  return absl::InvalidArgumentError("learn: want a number of segments and a version");
}

// Whether a last line without an end may be the beginning of a lesson.
bool MayBeginLesson(std::string_view line) {
  if (line.size() <= kLearn.size()) return kLearn.starts_with(line);
  return line.starts_with(kLearn) &&
         line.find_first_not_of("0123456789abcdef ", kLearn.size()) == line.npos;
}

absl::Status CheckSegment(const std::string& field, const MemorySegment& segment) {
  for (const auto& [name, text] :
       {std::pair(".source", &segment.source), {".target", &segment.target}}) {
    RETURN_IF_ERROR(CheckLine(field + name, *text, kMaxSentence));
    if (StripWhiteSpace(*text).empty()) return InvalidField(field + name, "is empty");
  }
  RETURN_IF_ERROR(CheckLine(field + ".previous_source", segment.previous, kMaxSentence));
  return CheckLine(field + ".next_source", segment.next, kMaxSentence);
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

// The text without the zeros in the place of what was not written.  One zero is no such hole.
std::string_view WithoutHole(std::string_view text) {
  const size_t end = text.find_last_not_of('\0') + 1;
  return text.size() - end > 1 ? text.substr(0, end) : text;
}

// Reads a text line by line.
class MemoryReader {
 public:
  explicit MemoryReader(std::string_view text)
      : text_(WithoutHole(text)), has_hole_(text_.size() < text.size()) {}

  absl::StatusOr<MemoryText> Run() {
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    for (number_ = 1; at_ < text_.size() && !is_torn_; ++number_) {
      const size_t end = std::min(text_.find('\n', at_), text_.size());
      const std::string_view line = text_.substr(at_, end - at_);
      const absl::Status status = end == text_.size() ? ReadOpenLine(line) : ReadLine(line);
      if (!status.ok()) {
        return Annotate(status, "line ", number_, ", byte ", at_, ": ");
      }
      at_ = std::min(end + 1, text_.size());
      EndLesson();
    }
    if (lesson_.has_value()) memory_.segments.resize(lesson_->first);
    // Who writes an empty memory names its languages, if only as "any".
    if (memory_.segments.empty() && !has_languages_) {
      return absl::InvalidArgumentError("has no segments, want a source, a tab and a target");
    }
    RETURN_IF_ERROR(CheckMemory(memory_));
    return std::move(memory_);
  }

 private:
  // A last line without an end may be the beginning of something.
  absl::Status ReadOpenLine(std::string_view line) {
    if (lesson_.has_value()) {
      is_torn_ = true;
      return absl::OkStatus();
    }
    const bool is_checked = at_ >= checked_;
    if (is_checked ? MayBeginLesson(line) : line.starts_with('#')) {
      is_torn_ = true;
      return absl::OkStatus();
    }
    if (has_hole_) return absl::InvalidArgumentError("ends with zeros, want a line break");
    return ReadLine(line);
  }

  absl::Status ReadLine(std::string_view line) {
    if (at_ >= checked_ && !lesson_.has_value()) return ReadLesson(line);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with('#')) return ReadComment(line);
    if (absl::StripAsciiWhitespace(absl::string_view(line.data(), line.size())).empty()) {
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(MemorySegment segment, SegmentFrom(line));
    memory_.segments.push_back(std::move(segment));
    return absl::OkStatus();
  }

  absl::Status ReadComment(std::string_view line) {
    const auto [key, value] = SplitComment(line.substr(1));
    if (key == "bytes" && number_ == 1) return CheckBytes(line, value);
    if (key == "learn") {
      if (lesson_.has_value()) return absl::InvalidArgumentError("learn: within another lesson");
      return ReadLesson(line);
    }
    if (key == "languages") {
      has_languages_ = true;
      ASSIGN_OR_RETURN(memory_.languages, LanguagesFrom(value));
      return absl::OkStatus();
    }
    return ReadOwner(key, value, &memory_).status();
  }

  // What follows was written as a whole, and lessons follow it.
  absl::Status CheckBytes(std::string_view line, const std::string& value) {
    const std::string_view rest = text_.substr(std::min(at_ + line.size() + 1, text_.size()));
    size_t bytes = 0;
    if (!absl::SimpleAtoi(value.substr(0, value.find(' ')), &bytes) || bytes > rest.size()) {
      return InvalidArgumentError("bytes: want a number of at most ", rest.size(), " and a digest");
    }
    if (line != BytesLine(rest.substr(0, bytes))) {
      return InvalidArgumentError("the ", bytes, " bytes from ", text_.size() - rest.size(),
                                  " on are damaged: want those with the digest of this line");
    }
    checked_ = text_.size() - rest.size() + bytes;
    return absl::OkStatus();
  }

  absl::Status ReadLesson(std::string_view line) {
    if (!line.starts_with(kLearn)) return absl::InvalidArgumentError("want a lesson: # learn");
    const std::string value(line.substr(kLearn.size()));
    ASSIGN_OR_RETURN(Lesson lesson, LessonFrom(value, memory_));
    const std::vector<std::string> numbers = absl::StrSplit(value, ' ', absl::SkipEmpty());
    if (numbers.size() > 2 || at_ >= checked_) {
      RETURN_IF_ERROR(CheckLesson(line, lesson, numbers));
    }
    lesson_ = lesson;
    return absl::OkStatus();
  }

  absl::Status CheckLesson(std::string_view line, const Lesson& lesson,
                           const std::vector<std::string>& numbers) {
    size_t bytes = 0;
    if (numbers.size() != 5 || !absl::SimpleAtoi(numbers[2], &bytes) ||
        line != LearnLine(lesson.count, lesson.version, bytes, numbers[3])) {
      return absl::InvalidArgumentError(
          "learn: is damaged: want the digest of this line at its end");
    }
    const size_t begin = at_ + line.size() + 1;
    if (bytes > text_.size() - begin) {
      is_torn_ = true;
      return absl::OkStatus();
    }
    if (DigestOf(text_.substr(begin, bytes)) != numbers[3]) {
      return InvalidArgumentError("the ", bytes, " bytes from ", begin,
                                  " on are damaged: want those with the digest ", numbers[3]);
    }
    checked_ = begin + bytes;
    return absl::OkStatus();
  }

  void EndLesson() {
    if (is_torn_ || !lesson_.has_value()) return;
    if (memory_.segments.size() < lesson_->first + lesson_->count) return;
    memory_.version = lesson_->version;
    lesson_.reset();
  }

  const std::string_view text_;
  const bool has_hole_;
  size_t at_ = 0;
  int number_ = 1;  // of the line
  // From here on there are only lessons with digests.
  size_t checked_ = std::numeric_limits<size_t>::max();
  bool is_torn_ = false;  // what follows was not finished
  bool has_languages_ = false;
  MemoryText memory_;
  std::optional<Lesson> lesson_;  // that has not ended
};

}  // namespace

absl::StatusOr<MemoryText> ParseMemory(std::string_view text) { return MemoryReader(text).Run(); }

absl::StatusOr<MemoryText> ParseTmxMemory(std::string_view text) {
  ASSIGN_OR_RETURN(TmxMemory tmx, ReadTmx(text, "", ""));
  MemoryText memory;
  memory.languages = {tmx.source_language, tmx.target_language};
  for (TmxSegment& segment : tmx.segments) {
    memory.segments.push_back({std::move(segment.source), std::move(segment.target),
                               std::move(segment.previous), std::move(segment.next)});
  }
  TidySegments(&memory.segments);
  std::erase_if(memory.segments, [](const MemorySegment& segment) {
    return segment.source.empty() || segment.target.empty();
  });
  RETURN_IF_ERROR(CheckMemory(memory));
  return memory;
}

absl::Status CheckMemory(const MemoryText& memory) {
  RETURN_IF_ERROR(CheckLine("memory.name", memory.name, kMaxKeptName));
  RETURN_IF_ERROR(CheckLine("principal", memory.owner, kMaxSentence));
  RETURN_IF_ERROR(CheckLanguages("memory", memory.languages));
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
      for (const char c : {'\t', '\n', '\r'}) absl::c_replace(*text, c, ' ');
      if (IsValidUtf8(*text)) *text = std::string(StripWhiteSpace(*text));
    }
  }
}

}  // namespace dragoman
