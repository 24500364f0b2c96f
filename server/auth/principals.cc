#include "server/auth/principals.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "server/base/errors.h"

namespace dragoman {
namespace {

absl::StatusOr<Permit> PermitByCertificate(const absl::StatusOr<std::string>& name) {
  const absl::Status wrong = name.ok() ? CheckCallerName(*name) : name.status();
  if (wrong.ok()) return Permit(*name);
  return absl::UnauthenticatedError(absl::StrCat("the client's certificate: ", wrong.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Principals>> Principals::Create(const AuthOptions& options,
                                                               FileWatcher* watcher,
                                                               TokenFile::ReadListener on_read) {
  std::unique_ptr<Principals> principals(new Principals(options));
  if (!options.tokens.empty()) {
    ASSIGN_OR_RETURN(principals->tokens_,
                     TokenFile::Open(options.tokens, watcher, std::move(on_read)));
  }
  return principals;
}

absl::StatusOr<Permit> Principals::Identify(const Caller& caller) {
  if (caller.on_behalf_of.has_value()) {
    if (tokens_ == nullptr) return Permit(*caller.on_behalf_of);
    const std::shared_ptr<const TokenTable> table = tokens_->table();
    if (!table->Knows(*caller.on_behalf_of)) {
      return absl::UnauthenticatedError("the principal is not known any more");
    }
    return Permit(*caller.on_behalf_of, table->RightsOf(*caller.on_behalf_of), &texts_);
  }
  if (tokens_ == nullptr && caller.is_owner) return Permit::OfOwner();
  if (tokens_ == nullptr) return PermitByCertificate(caller.certificate_name);
  if (caller.token.empty()) {
    return absl::UnauthenticatedError("no token: want the header `authorization: Bearer TOKEN`");
  }
  // One and the same version of the file says who it is and what it may do.
  const std::shared_ptr<const TokenTable> table = tokens_->table();
  const std::optional<std::string> principal = table->Find(caller.token);
  if (!principal.has_value()) return absl::UnauthenticatedError("the token is not valid");
  return Permit(*principal, table->RightsOf(*principal), &texts_);
}

Quota Principals::QuotaOf(const std::string& principal) const {
  if (tokens_ == nullptr) return quota_;
  const std::shared_ptr<const Rights> rights = tokens_->table()->RightsOf(principal);
  return rights != nullptr && rights->quota.per_minute > 0 ? rights->quota : quota_;
}

absl::Status Principals::Enter(const std::string& principal) {
  if (max_requests_ == 0) return absl::OkStatus();
  absl::MutexLock lock(&mutex_);
  int& calls = in_flight_[principal];
  if (calls >= max_requests_) return PrincipalLimit(max_requests_);
  ++calls;
  return absl::OkStatus();
}

void Principals::Leave(const std::string& principal) {
  if (max_requests_ == 0) return;
  absl::MutexLock lock(&mutex_);
  const auto found = in_flight_.find(principal);
  DRAGOMAN_CHECK(found != in_flight_.end());
  if (--found->second == 0) in_flight_.erase(found);
}

}  // namespace dragoman
