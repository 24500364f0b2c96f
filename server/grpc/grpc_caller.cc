#include "server/grpc/grpc_caller.h"

#include <grpc/grpc_security_constants.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/certificate_name.h"
#include "server/base/errors.h"

namespace dragoman {
namespace {

constexpr char kRequestIdKey[] = "x-request-id";

absl::Time DeadlineOf(const grpc::ServerContextBase& context) {
  const std::chrono::system_clock::time_point deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return absl::InfiniteFuture();
  return absl::FromChrono(deadline);
}

// The value of a metadata key that the client sent; empty if it sent none.
std::string_view Metadata(const grpc::ServerContextBase& context, const char* key) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find(key);
  if (found == metadata.end()) return {};
  return {found->second.data(), found->second.size()};
}

// "" if the client has shown none, which it need not or TLS would have refused it.
absl::StatusOr<std::string> NameInCertificate(const grpc::ServerContextBase& context) {
  const std::shared_ptr<const grpc::AuthContext> auth = context.auth_context();
  if (auth == nullptr) return "";
  const std::vector<grpc::string_ref> pem =
      auth->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  if (pem.empty()) return "";
  return CertificateNameInPem({pem.front().data(), pem.front().size()});
}

// The value of all `authorization` keys together (RFC 9110, 5.3): two tokens are none that is
// valid.
std::string Authorization(const grpc::ServerContextBase& context) {
  const auto [first, last] = context.client_metadata().equal_range("authorization");
  std::string all;
  for (auto value = first; value != last; ++value) {
    if (value != first) all += ", ";
    all.append(value->second.data(), value->second.size());
  }
  return all;
}

}  // namespace

Caller CallerOf(const grpc::ServerContextBase& context, const char* key) {
  const std::string authorization = Authorization(context);
  const std::string_view bearer = BearerToken(authorization);
  return {.token = std::string(bearer.empty() ? Metadata(context, key) : bearer),
          .certificate_name = NameInCertificate(context),
          .peer = context.peer(),
          .request_id = std::string(Metadata(context, kRequestIdKey)),
          .trace_parent = std::string(Metadata(context, "traceparent")),
          .deadline = DeadlineOf(context)};
}

grpc::Status ToGrpcStatus(const CallEnd& end, grpc::ServerContextBase* context) {
  context->AddTrailingMetadata(kRequestIdKey, end.request_id);
  if (!end.load.empty()) context->AddTrailingMetadata("endpoint-load-metrics-bin", end.load);
  if (end.status.ok()) return grpc::Status::OK;
  if (absl::IsResourceExhausted(end.status)) {
    // A negative number means: do not retry.
    const int64_t pushback =
        IsMessageTooLarge(end.status) ? -1 : absl::ToInt64Milliseconds(end.retry_delay);
    context->AddTrailingMetadata("grpc-retry-pushback-ms", std::to_string(pushback));
  }
  const google::rpc::Status rich = ToRpcStatus(end.status, end.retry_delay);
  return grpc::Status(static_cast<grpc::StatusCode>(rich.code()), rich.message(),
                      rich.details().empty() ? "" : rich.SerializeAsString());
}

}  // namespace dragoman
