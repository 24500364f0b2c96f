// Blocks of bytes with names, in a file that is written once and then mapped read-only: processes
// that map it share its pages.
//
// A file has a key, which says what its blocks were made from.  A file that is not whole, has
// another key or could have been written by another user is as good as none.

#ifndef DRAGOMAN_ENGINE_BASE_PACKED_FILE_H_
#define DRAGOMAN_ENGINE_BASE_PACKED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/mapped_file.h"
#include "engine/base/not_copyable.h"

namespace dragoman {

// Immutable, so safe for concurrent use.
class PackedFile {
 public:
  static constexpr size_t kAlignment = 64;  // of blocks

  // Null if there is no such file with that key.  Reads all of it, to see that it is whole.
  static std::shared_ptr<const PackedFile> Open(const std::string& path, const std::string& key);

  // False once bytes were read that the file had lost by then: it was cut after it was opened.
  // (They read as zeros.)
  bool whole() const { return file_->whole().ok(); }

  // What its writer noted.
  const std::string& note() const { return note_; }
  // Empty if there is no block of that name.
  absl::Span<const std::byte> Find(const std::string& name) const;

 private:
  PackedFile() = default;

  std::shared_ptr<const MappedFile> file_;
  std::string note_;
  std::map<std::string, absl::Span<const std::byte>> blocks_;
};

// Belongs to one thread.
class PackedFileWriter : private NotCopyable {
 public:
  // Creates a file beside `path`, which takes its place when it is finished.
  static absl::StatusOr<std::unique_ptr<PackedFileWriter>> Create(const std::string& path,
                                                                  const std::string& key);
  // Removes what was not finished.
  ~PackedFileWriter();

  // Adds a block made of these parts, unless there is one of that name.  An error is that of
  // Finish.
  void Add(const std::string& name, std::initializer_list<absl::Span<const std::byte>> parts);
  absl::Status Finish(const std::string& note);

 private:
  struct State;
  explicit PackedFileWriter(std::unique_ptr<State> state);
  void Write(absl::Span<const std::byte> bytes);

  const std::unique_ptr<State> state_;
};

template <typename T>
absl::Span<const std::byte> BytesOf(absl::Span<const T> values) {
  return {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(T)};
}

// Where a network that is being created finds its packed weights, and where it leaves them; either
// may be null.
struct PackedWeights {
  std::shared_ptr<const PackedFile> from;
  PackedFileWriter* to = nullptr;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_PACKED_FILE_H_
