// The books that the server keeps on one call: who makes it, and that it is counted, timed and
// logged, whatever becomes of it.  The services answer through it, so that no answer is forgotten
// in the metrics.

#ifndef DRAGOMAN_SERVER_CALL_H_
#define DRAGOMAN_SERVER_CALL_H_

#include <grpcpp/grpcpp.h>

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/decode/worker_pool.h"
#include "server/gate.h"
#include "server/metrics.h"
#include "server/model_registry.h"
#include "server/principals.h"
#include "server/trace.h"

namespace dragoman {

// What the services share.  Owned by the Server, which outlives them.
struct ServerParts {
  const ModelRegistry* models = nullptr;
  const WorkerPool* pool = nullptr;
  Gate* gate = nullptr;
  Principals* principals = nullptr;
  Metrics* metrics = nullptr;
};

// How much work a call was, for the log.
struct CallSize {
  int texts = 0;
  int source_tokens = 0;
  int target_tokens = 0;  // of the best hypotheses
};

// Lives as long as its call.  Not thread-safe; End may be called on another thread than the rest.
class Call {
 public:
  // `method` is "Translate": a literal.  `parts` and `context` must outlive the call.
  Call(const ServerParts* parts, const char* method, grpc::CallbackServerContext* context);

  // Whether the caller may make this call; UNAUTHENTICATED or RESOURCE_EXHAUSTED if not.  REQUIRES:
  // called once, before anything is done for the call.
  absl::Status Admit();

  // The model that answers; nullptr while none was found.
  void set_model(const Model* model) { model_ = model; }
  const Model* model() const { return model_; }

  absl::Time deadline() const { return deadline_; }
  absl::Duration Elapsed() const;

  // Books the end of the call and returns what the client is told.  The trailing metadata get the
  // request id as `x-request-id`; initial ones would keep clients from trying again (gRPC retries
  // no call whose response has begun).  REQUIRES: called once.
  grpc::Status End(const absl::Status& status, const CallSize& size = {});

 private:
  void WriteLog(const absl::Status& status, const CallSize& size) const;

  const ServerParts* const parts_;
  const char* const method_;
  grpc::CallbackServerContext* const context_;
  const absl::Time start_;
  const absl::Time deadline_;
  const std::string request_id_;  // the client's, or a new one
  const std::optional<TraceContext> trace_;
  std::string principal_;
  bool admitted_ = false;
  const Model* model_ = nullptr;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_CALL_H_
