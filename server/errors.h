// An absl::Status of the engine or the server as a client sees it: a gRPC status with the details
// of the richer error model (google/rpc/error_details.proto) in `grpc-status-details-bin`.
//
//   INVALID_ARGUMENT    BadRequest naming the field (FieldOf)
//   NOT_FOUND           ResourceInfo naming the model
//   UNAUTHENTICATED     no details: nothing that helps to guess
//   RESOURCE_EXHAUSTED  RetryInfo, and the trailer `grpc-retry-pushback-ms`
//   INTERNAL            no details and no internals: what went wrong is for the log

#ifndef DRAGOMAN_SERVER_ERRORS_H_
#define DRAGOMAN_SERVER_ERRORS_H_

#include <grpcpp/grpcpp.h>

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace dragoman {

// NOT_FOUND for a model, naming it and those there are ("en-de, en-fr").
absl::Status ModelNotFound(const std::string& name, const std::string& served);

// RESOURCE_EXHAUSTED because the caller has its `limit` of calls in flight, not because the server
// is busy; IsPrincipalLimit tells the two apart.
absl::Status PrincipalLimit(int limit);
bool IsPrincipalLimit(const absl::Status& status);

// The status with a code that clients know; any other is INTERNAL, and the message is lost.
absl::Status ForClient(const absl::Status& status);

// REQUIRES: !status.ok() and the status is ForClient.  `retry_delay` is what RESOURCE_EXHAUSTED
// tells the client to wait; the trailer goes into `context`, before the call is finished.
grpc::Status ToGrpcStatus(const absl::Status& status, absl::Duration retry_delay,
                          grpc::ServerContextBase* context);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_ERRORS_H_
