#include "server/call.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "server/errors.h"
#include "server/logging.h"

namespace dragoman {
namespace {

constexpr char kRequestIdKey[] = "x-request-id";

absl::Time DeadlineOf(const grpc::CallbackServerContext& context) {
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

std::string RequestId(const grpc::ServerContextBase& context) {
  const std::string_view sent = Metadata(context, kRequestIdKey);
  return IsRequestId(sent) ? std::string(sent) : NewRequestId();
}

// When a refused client may come again: who waits at the head of the line has waited about as long
// as a newcomer would.
absl::Duration RetryDelay(const WorkerPool& pool) {
  return std::clamp(pool.Stats().oldest_wait, absl::Milliseconds(100), absl::Seconds(10));
}

}  // namespace

Call::Call(const ServerParts* parts, const char* method, grpc::CallbackServerContext* context)
    : parts_(parts),
      method_(method),
      context_(context),
      start_(absl::Now()),
      deadline_(DeadlineOf(*context)),
      request_id_(RequestId(*context)),
      trace_(ParseTraceParent(Metadata(*context, "traceparent"))) {
  parts_->metrics->OnCallStarted();
}

absl::Status Call::Admit() {
  ASSIGN_OR_RETURN(principal_, parts_->principals->Identify(*context_));
  RETURN_IF_ERROR(parts_->principals->Enter(principal_));
  admitted_ = true;
  return absl::OkStatus();
}

absl::Duration Call::Elapsed() const { return absl::Now() - start_; }

grpc::Status Call::End(const absl::Status& status, const CallSize& size) {
  if (admitted_) parts_->principals->Leave(principal_);
  absl::Status told = ForClient(status);
  // The engine is told of a passed deadline by gRPC's cancellation, too.
  if (absl::IsCancelled(told) && absl::Now() >= deadline_) {
    told = absl::DeadlineExceededError("the deadline passed");
  }
  if (absl::IsInternal(told)) {
    Log(LogLevel::kError, "internal error",
        {{"request_id", request_id_}, {"error", status.ToString()}});
  }
  parts_->metrics->OnCallEnded({.method = method_,
                                .model = model_ == nullptr ? "" : model_->name(),
                                .status = told,
                                .duration = Elapsed(),
                                .draining = parts_->gate->shut()});
  WriteLog(told, size);
  context_->AddTrailingMetadata(kRequestIdKey, request_id_);
  if (told.ok()) return grpc::Status::OK;
  const absl::Duration retry_delay =
      absl::IsResourceExhausted(told) ? RetryDelay(*parts_->pool) : absl::ZeroDuration();
  return ToGrpcStatus(told, retry_delay, context_);
}

// Names and numbers only: a message may quote what the client sent.
void Call::WriteLog(const absl::Status& status, const CallSize& size) const {
  const std::string code = absl::StatusCodeToString(status.code());
  const std::string field = FieldOf(status);
  Log(LogLevel::kInfo, "request",
      {{"method", method_},
       {"model", model_ == nullptr ? std::string_view() : std::string_view(model_->name())},
       {"code", code},
       {"field", field},
       {"texts", size.texts},
       {"source_tokens", size.source_tokens},
       {"target_tokens", size.target_tokens},
       {"ms", absl::ToDoubleMilliseconds(Elapsed())},
       {"principal", principal_},
       {"request_id", request_id_},
       {"trace_id", trace_.has_value() ? std::string_view(trace_->trace_id) : std::string_view()},
       {"span_id", trace_.has_value() ? std::string_view(trace_->span_id) : std::string_view()}});
}

}  // namespace dragoman
