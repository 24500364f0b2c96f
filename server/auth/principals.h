// Who calls, what each may do (permit.h), how many calls each may have in flight, and how much work
// each may ask for over time.
//
// A principal is the name that the token file gives to the call's bearer token, if the server has
// such a file; otherwise the name in the client's certificate (crypto/certificate_name.h), if clients
// show one; otherwise "", anonymous.

#ifndef DRAGOMAN_SERVER_AUTH_PRINCIPALS_H_
#define DRAGOMAN_SERVER_AUTH_PRINCIPALS_H_

#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "engine/decode/quota.h"
#include "server/auth/caller.h"
#include "server/auth/permit.h"
#include "server/auth/token_file.h"

namespace dragoman {

struct AuthOptions {
  std::string tokens;                  // the path of the token file; empty: tokens are not required
  int max_requests_per_principal = 0;  // in flight; 0: unlimited
  Quota quota;                         // of each principal without one in the token file
};

// Thread-safe.
class Principals {
 public:
  // An error names the token file, if there is one.  `watcher` must end before the principals, and
  // `on_read` is called each time that it has read the file.
  static absl::StatusOr<std::unique_ptr<Principals>> Create(
      const AuthOptions& options, FileWatcher* watcher, TokenFile::ReadListener on_read = nullptr);

  // The principal that makes a call, and what it may do.  UNAUTHENTICATED if a token is required
  // and none, or a wrong one, is shown; or if the name in the certificate that counts instead
  // cannot be a caller's (CheckCallerName).
  absl::StatusOr<Permit> Identify(const Caller& caller);

  // Whether calls need a token.
  bool wants_tokens() const { return tokens_ != nullptr; }

  // The work that it may ask for.
  Quota QuotaOf(const std::string& principal) const;

  // RESOURCE_EXHAUSTED (IsPrincipalLimit) if the principal has as many calls in flight as it may.
  // Each Enter that is OK is followed by one Leave.
  absl::Status Enter(const std::string& principal);
  void Leave(const std::string& principal);

 private:
  explicit Principals(const AuthOptions& options)
      : max_requests_(options.max_requests_per_principal), quota_(options.quota) {}

  const int max_requests_;
  const Quota quota_;
  std::unique_ptr<TokenFile> tokens_;  // null: tokens are not required
  TextBook texts_;
  absl::Mutex mutex_;
  std::map<std::string, int> in_flight_ ABSL_GUARDED_BY(mutex_);  // no zeros
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_AUTH_PRINCIPALS_H_
