// The bearer tokens of callers, from a file that is read again when it changes:
//
//   # who        token
//   web-shop     ZvB4yJp0m1oUKQ3x
//   web-shop     8yD2hWc7sLr5tNqe     # two at a time, while one replaces the other
//   reports      q0Vt7uXk2mPz4aRw     models=en-de priority=batch quota=600000
//
// The last line says what its principal may do (rights.h); the others are not restricted.  A token
// is never logged and never part of a message; only its SHA-256 is kept.

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
#include "server/auth/file_watcher.h"
#include "server/auth/rights.h"

namespace dragoman {

// The content of such a file.  Immutable.
class TokenTable {
 public:
  // INVALID_ARGUMENT names a line that is not `principal token [RIGHT=VALUE]...`, whose rights
  // (ReadRights) are wrong or differ from those on another line of the same principal, whose
  // principal is not 1 to 128 of A-Z a-z 0-9 . _ - @ : /, or whose token is not 16 to 4096 of A-Z
  // a-z 0-9 - . _ ~ + / = or occurs twice.  Tabs and spaces separate them; another control
  // character is an error, and so is a file without a token.
  static absl::StatusOr<TokenTable> Parse(const std::string& text);

  // The principal with this token.  The time taken depends on the length of `token` and on the
  // number of tokens, not on its characters or its position.
  std::optional<std::string> Find(std::string_view token) const;

  // Whether a token is that principal's.
  bool Knows(const std::string& principal) const;

  // What the file says that a principal may do; null if it says nothing.
  std::shared_ptr<const Rights> RightsOf(const std::string& principal) const;

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string principal;
    Sha256Digest digest;  // of the token
  };
  std::vector<Entry> entries_;
  std::map<std::string, std::shared_ptr<const Rights>> rights_;
};

// Thread-safe.
class TokenFile {
 public:
  // Called with the result each time the file was read.
  using ReadListener = std::function<void(const absl::Status&)>;

  // An error names the file.  `watcher`, which must end before the tokens, reads it again when it
  // changes; if the new content cannot be used, the old tokens stay valid.
  static absl::StatusOr<std::unique_ptr<TokenFile>> Open(const std::string& path,
                                                         FileWatcher* watcher,
                                                         ReadListener on_read = nullptr);

  // As the file was when it was read last.
  std::shared_ptr<const TokenTable> table() const;

 private:
  explicit TokenFile(const std::string& path) : path_(path) {}
  absl::Status Read();

  const std::string path_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<const TokenTable> table_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_AUTH_TOKEN_FILE_H_
