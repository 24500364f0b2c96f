// An absl::Status of the engine or the server as a client sees it: a google.rpc.Status with the
// details of the richer error model (google/rpc/error_details.proto). gRPC sends it in
// `grpc-status-details-bin`.
//
//   INVALID_ARGUMENT    BadRequest naming the field (FieldOf)
//   NOT_FOUND           ResourceInfo naming the model, the glossary or the memory
//   UNAUTHENTICATED     no details: nothing that helps to guess
//   PERMISSION_DENIED   ErrorInfo with the reason MISSING_RIGHT, the right and its value
//   RESOURCE_EXHAUSTED  RetryInfo
//   DEADLINE_EXCEEDED   ErrorInfo with the reason CANNOT_BE_MET if the deadline has not passed yet
//   INTERNAL            no details and no internals: what went wrong goes to the log

#ifndef DRAGOMAN_SERVER_BASE_ERRORS_H_
#define DRAGOMAN_SERVER_BASE_ERRORS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/rpc/error_details.pb.h"

namespace dragoman {

// NOT_FOUND for a model, with its name and the names of those that are served and that the caller
// may use ("en-de, en-fr").
absl::Status ModelNotFound(const std::string& name, const std::string& served);

// NOT_FOUND for what is kept, such as a "glossary", which is a "dragoman.v1.Glossary": there is
// none with that id, or the caller must not know of it.
absl::Status KeptNotFound(const char* noun, const char* type, const std::string& id);

// PERMISSION_DENIED because `principal` lacks a right: "models" with the value "en-de".
absl::Status MissingRight(const std::string& principal, const std::string& right,
                          const std::string& value);
// "models=en-de" of that; "" for any other status.
std::string MissingRightOf(const absl::Status& status);

// RESOURCE_EXHAUSTED because the caller has `limit` calls in flight, rather than because the server
// is busy; IsPrincipalLimit tells the two apart.
absl::Status PrincipalLimit(int limit);
bool IsPrincipalLimit(const absl::Status& status);

// RESOURCE_EXHAUSTED (IsPrincipalLimit) because `bytes` of the caller's answers wait for it to read
// them.
absl::Status UnreadAnswers(size_t bytes);

// RESOURCE_EXHAUSTED because others, or the caller's other requests, have what this one would take
// of the budget `name` (shared_budget.h).
struct BudgetUse {
  const char* name;
  size_t limit, used;          // in all, by all
  std::optional<size_t> held;  // by the caller, where that is counted
  size_t wanted;               // by this request
};
absl::Status OverBudget(const BudgetUse& use);

// RESOURCE_EXHAUSTED because a message of `bytes` is over the limit: trying again will not help.
absl::Status MessageTooLarge(size_t bytes, size_t limit);
// Likewise, because it takes more memory than anybody may have.
absl::Status MessageTakesTooMuch(size_t bytes, size_t most);
bool IsMessageTooLarge(const absl::Status& status);

// The status (RESOURCE_EXHAUSTED), of a document that takes too much memory, as IsMessageTooLarge.
absl::Status DocumentTooLarge(absl::Status status);

// INTERNAL that clients see with its message, because it is about their data.
absl::Status ShownToClients(absl::Status status);

// Why a call was refused before it began, as metrics and the log name it: "queue_full", "quota",
// "principal_limit", "budget", "message_size", "cannot_be_met" (its deadline), "draining" (the
// server), "not_loaded" (the model), "store", "unauthenticated" or "missing_right".  "" for any
// other status.
std::string ReasonOfRefusal(const absl::Status& status, bool draining);

// Whether a call with this code failed for reasons of the server, as OpenTelemetry's conventions
// count them; the others are its client's.
bool IsServersError(absl::StatusCode code);

// The status with a code that clients know, its message cut to what fits into headers; any other
// code becomes INTERNAL without its message, and so does INTERNAL unless it is ShownToClients.
absl::Status ForClient(const absl::Status& status);

// The HTTP code that google/rpc/code.proto assigns to a status; 413 for a message that is too
// large.
int HttpCodeOf(const absl::Status& status);

// The status as google.rpc.Status, with the details of its code.  `retry_delay` is how long
// RESOURCE_EXHAUSTED asks the client to wait.  REQUIRES: the status came from ForClient.
google::rpc::Status ToRpcStatus(const absl::Status& status, absl::Duration retry_delay);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_BASE_ERRORS_H_
