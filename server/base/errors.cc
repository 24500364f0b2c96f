#include "server/base/errors.h"

#include <google/protobuf/util/time_util.h>

#include <iterator>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "engine/base/limit.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "store/database.h"

namespace dragoman {
namespace {

constexpr char kModelPayload[] = "dragoman.model";
// Of what principals keep: its type, and its id.
constexpr char kKeptPayload[] = "dragoman.kept";
constexpr char kIdPayload[] = "dragoman.id";
constexpr char kPrincipalPayload[] = "dragoman.principal";
constexpr char kRightPayload[] = "dragoman.right";
constexpr char kShownPayload[] = "dragoman.shown";
constexpr char kBudgetPayload[] = "dragoman.budget";
constexpr char kMessageSizePayload[] = "dragoman.message_size";

constexpr size_t kLongestName = 128;  // no model, and nothing that is kept, has a longer one

std::string Payload(const absl::Status& status, const char* type) {
  const absl::optional<absl::Cord> payload = status.GetPayload(type);
  return payload.has_value() ? std::string(*payload) : std::string();
}

// At most `size` bytes of a text, without splitting a character.
std::string Clip(absl::string_view text, size_t size) {
  if (text.size() <= size) return std::string(text);
  return std::string(BeginningOf({text.data(), text.size()}, size)) + "...";
}

void AddDetail(const google::protobuf::Message& detail, google::rpc::Status* status) {
  status->add_details()->PackFrom(detail);
}

google::rpc::BadRequest BadField(const std::string& field, const std::string& description) {
  google::rpc::BadRequest detail;
  auto* const violation = detail.add_field_violations();
  violation->set_field(field);
  violation->set_description(description);
  return detail;
}

google::rpc::ResourceInfo Missing(const char* type, const std::string& name,
                                  const std::string& description) {
  google::rpc::ResourceInfo detail;
  detail.set_resource_type(type);
  detail.set_resource_name(name);
  detail.set_description(description);
  return detail;
}

google::rpc::RetryInfo RetryIn(absl::Duration delay) {
  google::rpc::RetryInfo detail;
  *detail.mutable_retry_delay() =
      google::protobuf::util::TimeUtil::MillisecondsToDuration(absl::ToInt64Milliseconds(delay));
  return detail;
}

google::rpc::ErrorInfo Because(const char* reason) {
  google::rpc::ErrorInfo detail;
  detail.set_reason(reason);
  detail.set_domain("dragoman.v1");
  return detail;
}

// `right` is "models=en-de".
google::rpc::ErrorInfo Missing(const std::string& right) {
  google::rpc::ErrorInfo detail = Because("MISSING_RIGHT");
  const size_t equals = right.find('=');
  (*detail.mutable_metadata())["right"] = right.substr(0, equals);
  (*detail.mutable_metadata())["value"] = right.substr(equals + 1);
  return detail;
}

// A message quotes what the client sent, and gRPC drops the whole status if its headers grow too
// large.
absl::Status Clipped(const absl::Status& status) {
  constexpr size_t kLongest = 1024;
  if (status.message().size() <= kLongest) return status;
  absl::Status clipped(status.code(), Clip(status.message(), kLongest));
  status.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) {
    clipped.SetPayload(type, payload);
  });
  return clipped;
}

}  // namespace

absl::Status ModelNotFound(const std::string& name, const std::string& served) {
  const std::string shown = Clip(name, kLongestName);
  absl::Status status = NotFoundError("model: no model is named \"", shown, "\"; there is ",
                                      (served.empty() ? "none that you may use" : served));
  status.SetPayload(kModelPayload, absl::Cord(shown));
  return status;
}

absl::Status KeptNotFound(const char* noun, const char* type, const std::string& id) {
  const std::string shown = Clip(id, kLongestName);
  absl::Status status = NotFoundError("there is no ", noun, " \"", shown, "\"");
  status.SetPayload(kKeptPayload, absl::Cord(type));
  status.SetPayload(kIdPayload, absl::Cord(shown));
  return status;
}

absl::Status MissingRight(const std::string& principal, const std::string& right,
                          const std::string& value) {
  const std::string missing = absl::StrCat(right, "=", Clip(value, kLongestName));
  absl::Status status =
      absl::PermissionDeniedError(absl::StrCat("\"", principal, "\" lacks the right ", missing));
  status.SetPayload(kRightPayload, absl::Cord(missing));
  return status;
}

std::string MissingRightOf(const absl::Status& status) { return Payload(status, kRightPayload); }

absl::Status PrincipalLimit(int limit) {
  absl::Status status =
      ResourceExhaustedError("you have ", limit, " calls in flight, which is your limit");
  status.SetPayload(kPrincipalPayload, absl::Cord());
  return OverLimit(std::move(status), "max_requests_per_principal");
}

absl::Status UnreadAnswers(size_t bytes) {
  absl::Status status =
      ResourceExhaustedError(bytes, " bytes of answers wait for you: read them first");
  status.SetPayload(kPrincipalPayload, absl::Cord());
  return OverLimit(std::move(status), "unread_answers");
}

absl::Status OverBudget(const BudgetUse& use) {
  const std::string held =
      use.held.has_value() ? absl::StrCat(", ", *use.held, " of them by you") : "";
  absl::Status status = ResourceExhaustedError("there is no room now: ", use.name, " may take ",
                                               use.limit, ", of which ", use.used, " are taken",
                                               held, "; this takes ", use.wanted);
  status.SetPayload(kBudgetPayload, absl::Cord());
  return OverLimit(std::move(status), use.name);
}

absl::Status MessageTooLarge(size_t bytes, size_t limit) {
  absl::Status status = ResourceExhaustedError("the message has ", bytes, " bytes, the most is ",
                                               limit, "; send fewer texts at a time");
  status.SetPayload(kMessageSizePayload, absl::Cord());
  return OverLimit(std::move(status), "max_message_bytes");
}

absl::Status MessageTakesTooMuch(size_t bytes, size_t most) {
  absl::Status status =
      ResourceExhaustedError("the message takes ", bytes, " bytes of memory, the most is ", most,
                             "; send fewer texts or entries at a time");
  status.SetPayload(kMessageSizePayload, absl::Cord());
  return OverLimit(std::move(status), "requests");
}

absl::Status DocumentTooLarge(absl::Status status) {
  status.SetPayload(kMessageSizePayload, absl::Cord());
  return OverLimit(std::move(status), "document_memory");
}

bool IsMessageTooLarge(const absl::Status& status) {
  return status.GetPayload(kMessageSizePayload).has_value();
}

bool IsPrincipalLimit(const absl::Status& status) {
  return status.GetPayload(kPrincipalPayload).has_value();
}

absl::Status ShownToClients(absl::Status status) {
  status.SetPayload(kShownPayload, absl::Cord());
  return status;
}

std::string ReasonOfRefusal(const absl::Status& status, bool draining) {
  switch (status.code()) {
    case absl::StatusCode::kResourceExhausted:
      if (IsPrincipalLimit(status)) return "principal_limit";
      if (IsMessageTooLarge(status)) return "message_size";
      if (status.GetPayload(kBudgetPayload).has_value()) return "budget";
      return RetryAfterOf(status).has_value() ? "quota" : "queue_full";
    case absl::StatusCode::kUnavailable:
      if (status.GetPayload(kStorePayload).has_value()) return "store";
      return draining ? "draining" : "not_loaded";
    case absl::StatusCode::kUnauthenticated:
      return "unauthenticated";
    case absl::StatusCode::kPermissionDenied:
      return "missing_right";
    case absl::StatusCode::kDeadlineExceeded:
      return IsCannotBeMet(status) ? "cannot_be_met" : "";
    default:
      return "";
  }
}

bool IsServersError(absl::StatusCode code) {
  constexpr absl::StatusCode kCodes[] = {
      absl::StatusCode::kUnknown,       absl::StatusCode::kDeadlineExceeded,
      absl::StatusCode::kUnimplemented, absl::StatusCode::kInternal,
      absl::StatusCode::kUnavailable,   absl::StatusCode::kDataLoss};
  return absl::c_linear_search(kCodes, code);
}

absl::Status ForClient(const absl::Status& status) {
  constexpr absl::StatusCode kHidden[] = {absl::StatusCode::kUnknown, absl::StatusCode::kAborted,
                                          absl::StatusCode::kOutOfRange,
                                          absl::StatusCode::kInternal, absl::StatusCode::kDataLoss};
  const bool hidden = absl::c_linear_search(kHidden, status.code());
  if (!hidden || status.GetPayload(kShownPayload).has_value()) return Clipped(status);
  return absl::InternalError("internal error");
}

int HttpCodeOf(const absl::Status& status) {
  constexpr std::pair<absl::StatusCode, int> kCodes[] = {
      {absl::StatusCode::kOk, 200},
      {absl::StatusCode::kInvalidArgument, 400},
      {absl::StatusCode::kFailedPrecondition, 400},
      {absl::StatusCode::kOutOfRange, 400},
      {absl::StatusCode::kUnauthenticated, 401},
      {absl::StatusCode::kPermissionDenied, 403},
      {absl::StatusCode::kNotFound, 404},
      {absl::StatusCode::kAlreadyExists, 409},
      {absl::StatusCode::kResourceExhausted, 429},
      {absl::StatusCode::kCancelled, 499},  // in case anybody reads it
      {absl::StatusCode::kUnimplemented, 501},
      {absl::StatusCode::kUnavailable, 503},
      {absl::StatusCode::kDeadlineExceeded, 504}};
  if (absl::IsResourceExhausted(status) && IsMessageTooLarge(status)) return 413;
  for (const auto& [code, http] : kCodes) {
    if (code == status.code()) return http;
  }
  return 500;
}

google::rpc::Status ToRpcStatus(const absl::Status& status, absl::Duration retry_delay) {
  google::rpc::Status rich;
  rich.set_code(static_cast<int>(status.code()));  // absl's codes are gRPC's
  rich.set_message(std::string(status.message()));
  const std::string field = FieldOf(status), right = MissingRightOf(status);
  const std::string type = Payload(status, kKeptPayload);
  if (absl::IsInvalidArgument(status) && !field.empty()) {
    AddDetail(BadField(field, rich.message()), &rich);
  } else if (absl::IsNotFound(status) && !type.empty()) {
    AddDetail(Missing(type.c_str(), Payload(status, kIdPayload), rich.message()), &rich);
  } else if (absl::IsNotFound(status)) {
    const std::string name = Payload(status, kModelPayload);
    AddDetail(Missing("dragoman.v1.Model", name, rich.message()), &rich);
  } else if (absl::IsResourceExhausted(status)) {
    AddDetail(RetryIn(retry_delay), &rich);
  } else if (IsCannotBeMet(status)) {
    AddDetail(Because("CANNOT_BE_MET"), &rich);
  } else if (absl::IsPermissionDenied(status) && !right.empty()) {
    AddDetail(Missing(right), &rich);
  }
  return rich;
}

}  // namespace dragoman
