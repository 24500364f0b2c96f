// The translations of a file's passages as they come, kept beside the output until it is complete,
// so that a run that was killed can go on:
//
//   {"journal":"1f3a..."}                                                     what is translated
//   {"source":"9c0e...","version":"...","text":"Guten Morgen."}               passage 1
//   {"source":"44b1...","version":"...","error":"INVALID_ARGUMENT: ..."}      passage 2
//
// A passage is known again if the journal has it at the same place with the digest of the same
// text; from the first one that it has not, the journal is written anew.  An unfinished last line,
// which a killed run may leave, is removed (output_file.h).
//
// Used by one thread at a time.

#ifndef DRAGOMAN_CLIENT_JOURNAL_H_
#define DRAGOMAN_CLIENT_JOURNAL_H_

#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/output_file.h"
#include "documents/part_loop.h"
#include "engine/base/not_copyable.h"

namespace dragoman {

struct JournalEntry {
  std::string source;   // a digest of the passage
  std::string version;  // of the model (VersionOf)
  PassageAnswer answer;
};

class Journal : private NotCopyable {
 public:
  // Opens the journal at `path`, or creates it.  One that was begun for something else than `what`,
  // or that cannot be read, begins again.  FAILED_PRECONDITION if another process writes it.
  static absl::StatusOr<std::unique_ptr<Journal>> Open(const std::string& path,
                                                       const std::string& what);
  ~Journal();

  // Whether it has no entry, so that nothing is lost if it is removed.
  bool empty() const { return empty_; }
  // The next entry, without taking it; nothing at the end, or if it cannot be read.
  const std::optional<JournalEntry>& next() const { return next_; }
  // Takes the next entry if it is that of the passage with this digest.  If not, all that follow
  // are removed, and Add may be called.
  std::optional<JournalEntry> Take(const std::string& source);
  // Forgets all entries that were not taken.
  void Cut();

  // Appends an entry.  REQUIRES: there is no next().
  void Add(const JournalEntry& entry);
  // Hands what was added to the system.  UNAVAILABLE if it could not be written.
  absl::Status Flush();

  // Removes the file.
  void Remove();

 private:
  Journal(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  absl::Status Start(const std::string& what);
  void Read();

  const std::string path_;
  const int lock_;  // a descriptor that holds the lock
  OutputFile file_;
  std::ifstream in_;
  std::optional<JournalEntry> next_;
  uintmax_t taken_ = 0;  // bytes of the entries that were taken
  size_t next_bytes_ = 0;
  bool empty_ = true;
};

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_JOURNAL_H_
