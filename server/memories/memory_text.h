// A translation memory as text: lines of a source, its target and, where they are known, the
// sentences before and after the source, separated by tabs; and comments.
//
//   # bytes: 178 bd726080335326ba
//   # name: Manuals
//   # owner: alice
//   # version: 3
//   # created: 2026-01-31T12:00:00+00:00
//   # languages: en de
//   The house is old.	Das Haus ist alt.	It was built in 1900.	Nobody lives there.
//   # learn: 2 4 75 a17e95049f796913 03f4f8d48c1d0581
//   The house is new.	Das Haus ist neu.
//   The house is old.	Das Haus ist betagt.
//
// A later segment takes the place of one with the same source and context.  A source that begins
// with # or a backslash is written with a backslash in front of it.  Every comment may be left out:
// a plain table is a memory for everybody and any languages.
//
// Servers up to version 0.1 wrote such files themselves, and added what a memory learned at the
// end: so many segments, the version that it has with them, how many bytes they are, a digest of
// these, and one of the line so far.  If the text ends before the last of these bytes, then the
// writer was stopped, and none of them counts; a file system may also have left zeros in their
// place.  Whatever else does not fit its digest is damaged, and so is what does not begin with
// `learn` after such a lesson, or after the bytes that the first line counts.  Older lessons end
// with the version; they count if all their segments are there.

#ifndef DRAGOMAN_SERVER_MEMORIES_MEMORY_TEXT_H_
#define DRAGOMAN_SERVER_MEMORIES_MEMORY_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/request/memory.h"
#include "server/store/owned.h"

namespace dragoman {

struct MemoryText : OwnedHead {
  LanguagePair languages = {};  // tags; "": any
  std::vector<MemorySegment> segments = {};
};

inline constexpr size_t kMaxSegments = 500'000;  // of a memory

// INVALID_ARGUMENT names the line and its first byte.
absl::StatusOr<MemoryText> ParseMemory(std::string_view text);
// TMX; segments without text on one side do not count.
absl::StatusOr<MemoryText> ParseTmxMemory(std::string_view text);

// INVALID_ARGUMENT with the field, such as "segments[7].source", if it cannot be stored.
absl::Status CheckMemory(const MemoryText& memory);
absl::Status CheckSegments(const std::vector<MemorySegment>& segments);

// Makes line breaks and tabs spaces, and removes white space at the ends of all texts, which a file
// does not keep.
void TidySegments(std::vector<MemorySegment>* segments);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_MEMORIES_MEMORY_TEXT_H_
