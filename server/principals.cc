#include "server/principals.h"

#include <strings.h>

#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "server/errors.h"

namespace dragoman {
namespace {

constexpr std::string_view kScheme = "Bearer ";

// The token of `authorization: Bearer TOKEN`; empty without one.
std::string_view TokenOf(const grpc::ServerContextBase& context) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find("authorization");
  if (found == metadata.end()) return {};
  const std::string_view value(found->second.data(), found->second.size());
  if (value.size() <= kScheme.size() ||
      strncasecmp(value.data(), kScheme.data(), kScheme.size()) != 0) {
    return {};
  }
  return value.substr(kScheme.size());
}

std::string NameInCertificate(const grpc::ServerContextBase& context) {
  const std::shared_ptr<const grpc::AuthContext> auth = context.auth_context();
  if (auth == nullptr || !auth->IsPeerAuthenticated()) return "";
  const std::vector<grpc::string_ref> names = auth->GetPeerIdentity();
  return names.empty() ? "" : std::string(names.front().data(), names.front().size());
}

}  // namespace

absl::StatusOr<std::unique_ptr<Principals>> Principals::Create(const AuthOptions& options,
                                                               const WatchOptions& watch) {
  std::unique_ptr<Principals> principals(new Principals(options.max_requests_per_principal));
  if (!options.tokens.empty()) {
    ASSIGN_OR_RETURN(principals->tokens_, TokenFile::Open(options.tokens, watch));
  }
  return principals;
}

absl::StatusOr<std::string> Principals::Identify(const grpc::ServerContextBase& context) const {
  if (tokens_ == nullptr) return NameInCertificate(context);
  const std::string_view token = TokenOf(context);
  if (token.empty()) {
    return absl::UnauthenticatedError("no token: want the metadata `authorization: Bearer TOKEN`");
  }
  const std::optional<std::string> principal = tokens_->Find(token);
  if (!principal.has_value()) return absl::UnauthenticatedError("the token is not valid");
  return *principal;
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
