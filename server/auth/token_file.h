// The bearer tokens that callers show, from a file that is read again when it changes:
//
//   # who        token
//   web-shop     ZvB4yJp0m1oUKQ3x
//   web-shop     8yD2hWc7sLr5tNqe     # two at a time, while one is replaced by the other
//   reports      q0Vt7uXk2mPz4aRw     quota=600000 burst=50000
//
// The last line gives its principal a quota of its own: rows of work a minute, and at once.
// A token is never logged and never part of a message; what is kept of it is its SHA-256.

#ifndef DRAGOMAN_SERVER_AUTH_TOKEN_FILE_H_
#define DRAGOMAN_SERVER_AUTH_TOKEN_FILE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "crypto/pem_files.h"
#include "engine/decode/quota.h"
#include "server/auth/file_watch.h"

namespace dragoman {

// What such a file says.  Immutable.
class TokenTable {
 public:
  // INVALID_ARGUMENT names the line: it is not `principal token [quota=N] [burst=N]`, numbers are
  // not 1 or more, the quotas of one principal differ, the principal is not made of 1 to 128 of A-Z
  // a-z 0-9 . _ - @ : /, the token is not made of 16 to 4096 of A-Z a-z 0-9 - . _ ~ + / = or stands
  // there twice; or there is no token at all.
  static absl::StatusOr<TokenTable> Parse(const std::string& text);

  // Whose token it is.  The time it takes depends on the length of `token` and on how many there
  // are, not on its letters nor on its place.
  std::optional<std::string> Find(std::string_view token) const;

  // The quota that the file gives a principal, if it does.
  std::optional<Quota> QuotaOf(const std::string& principal) const;

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string principal;
    Sha256Digest digest;  // of the token
  };
  std::vector<Entry> entries_;
  std::map<std::string, Quota, std::less<>> quotas_;
};

// Thread-safe.
class TokenFile {
 public:
  // An error names the file.  It is read again when it changes; a new one that cannot be used is
  // logged, and the old tokens stay valid.
  static absl::StatusOr<std::unique_ptr<TokenFile>> Open(const std::string& path,
                                                         const WatchOptions& options = {});

  // Reads the file soon, whether or not it has changed.
  void ReadAgain() { watch_->ReadAgain(); }

  std::optional<std::string> Find(std::string_view token) const { return table()->Find(token); }
  std::optional<Quota> QuotaOf(const std::string& principal) const {
    return table()->QuotaOf(principal);
  }

 private:
  explicit TokenFile(const std::string& path) : path_(path) {}
  absl::Status Read();
  std::shared_ptr<const TokenTable> table() const;

  const std::string path_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<const TokenTable> table_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<FileWatch> watch_;  // ends before the rest: it reads
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_AUTH_TOKEN_FILE_H_
