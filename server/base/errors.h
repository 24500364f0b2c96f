// An absl::Status of the engine or the server as a client sees it: a google.rpc.Status with the
// details of the richer error model (google/rpc/error_details.proto).  gRPC carries it in
// `grpc-status-details-bin`.
//
//   INVALID_ARGUMENT    BadRequest naming the field (FieldOf)
//   NOT_FOUND           ResourceInfo naming the model
//   UNAUTHENTICATED     no details: nothing that helps to guess
//   RESOURCE_EXHAUSTED  RetryInfo
//   DEADLINE_EXCEEDED   ErrorInfo with the reason CANNOT_BE_MET where the deadline is still to come
//   INTERNAL            no details and no internals: what went wrong is for the log

#ifndef DRAGOMAN_SERVER_BASE_ERRORS_H_
#define DRAGOMAN_SERVER_BASE_ERRORS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/rpc/error_details.pb.h"

namespace dragoman {

// NOT_FOUND for a model, naming it and those there are ("en-de, en-fr").
absl::Status ModelNotFound(const std::string& name, const std::string& served);

// RESOURCE_EXHAUSTED because the caller has its `limit` of calls in flight, not because the server
// is busy; IsPrincipalLimit tells the two apart.
absl::Status PrincipalLimit(int limit);
bool IsPrincipalLimit(const absl::Status& status);

// RESOURCE_EXHAUSTED because a message of `bytes` is over the limit: it will be so next time.
absl::Status MessageTooLarge(size_t bytes, size_t limit);
bool IsMessageTooLarge(const absl::Status& status);

// The status with a code that clients know, its message cut to what fits into headers; any other
// code is INTERNAL, and the message is lost.
absl::Status ForClient(const absl::Status& status);

// The status as google.rpc.Status, with the details of its code.  `retry_delay` is what
// RESOURCE_EXHAUSTED tells the client to wait.  REQUIRES: the status is ForClient.
google::rpc::Status ToRpcStatus(const absl::Status& status, absl::Duration retry_delay);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_BASE_ERRORS_H_
