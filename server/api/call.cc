#include "server/api/call.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/time/clock.h"
#include "engine/base/limit.h"
#include "engine/base/status.h"
#include "engine/base/work_threads.h"
#include "server/base/errors.h"
#include "server/observe/logging.h"
#include "store/database.h"

namespace dragoman {
namespace {

// How long a refused client should wait: a newcomer would wait about as long as the first in the
// queue has waited.
absl::Duration RetryDelay(const WorkerPool& pool, Priority priority) {
  return std::clamp(pool.StatsOf(priority).oldest_wait, absl::Milliseconds(100), absl::Seconds(10));
}

// A missing right, without its value if that is a model that does not exist: it may be any text.
std::string RightForLog(const std::string& right, const ModelRegistry* models) {
  constexpr std::string_view kModels = "models=";
  if (!right.starts_with(kModels)) return right;
  const bool exists = models->Models()->FindModel(right.substr(kModels.size())).ok();
  return exists ? right : "models";
}

}  // namespace

absl::Status OrLate(const absl::Status& status, absl::Time deadline) {
  const bool store = status.GetPayload(kStorePayload).has_value();
  const bool late = absl::Now() + RequestState::kSlack >= deadline;
  return store && late ? RequestState(deadline).Wanted(deadline) : status;
}

absl::Status DoWork(CallWork work, const ServerParts& parts,
                    const std::shared_ptr<RequestState>& request,
                    const std::function<void(const absl::Status& wanted)>& then) {
  switch (work) {
    case CallWork::kShort:
      then(absl::OkStatus());
      return absl::OkStatus();
    case CallWork::kLong:
      return parts.pool->Prepare(request, then);
    case CallWork::kStore:
      break;
  }
  return parts.store_threads->Run(
      request->terms().principal, [request](absl::Time now) { return request->Wanted(now); }, then);
}

void CallSize::SetTimes(const TranslateTimes& times, bool ok) {
  queue = times.queue;
  encode = times.encode;
  decode = times.decode;
  if (ok) decoded = absl::Now() - times.detokenize;
}

Call::Call(const ServerParts* parts, const char* method, Caller caller)
    : parts_(parts),
      method_(method),
      caller_(std::move(caller)),
      start_(absl::Now()),
      request_id_(IsRequestId(caller_.request_id) ? caller_.request_id : NewRequestId()),
      trace_(ParseTraceParent(caller_.trace_parent)),
      span_(parts_->tracer == nullptr ? std::nullopt : parts_->tracer->Sample(trace_)) {
  parts_->metrics->OnCallStarted(caller_.over_grpc() ? method_ : "");
}

absl::Status Call::Admit() {
  ASSIGN_OR_RETURN(permit_, parts_->principals->Identify(caller_));
  RETURN_IF_ERROR(permit_->MayCall(method_));
  return AdmitAs(*permit_);
}

absl::Status Call::AdmitAnybody() {
  return AdmitAs(parts_->principals->Identify(caller_).value_or(Permit()));
}

absl::Status Call::AdmitAs(Permit permit) {
  permit_ = std::move(permit);
  RETURN_IF_ERROR(CheckAnswers());
  RETURN_IF_ERROR(parts_->principals->Enter(principal()));
  admitted_ = true;
  RETURN_IF_ERROR(caller_.wrong);
  ASSIGN_OR_RETURN(memory_, TakeMemory(caller_.message_bytes, caller_.more_bytes));
  return absl::OkStatus();
}

absl::StatusOr<Share> Call::TakeMemory(size_t message_bytes, size_t more_bytes) const {
  const size_t read = std::min(message_bytes, static_cast<size_t>(parts_->max_message_bytes));
  const size_t wanted = MemoryOfMessage(read) + more_bytes, most = parts_->requests->most();
  if (wanted > most) return MessageTakesTooMuch(wanted, most);
  return parts_->requests->Take(Holder(), wanted);
}

std::shared_ptr<HeldAnswer> Call::Hold() const {
  return std::make_shared<HeldAnswer>(parts_->answers, AnswerReader{Holder(), caller_.peer});
}

std::optional<std::string> Call::principal_if_known() const {
  return permit_.has_value() ? std::optional(principal()) : std::nullopt;
}

absl::Duration Call::Elapsed() const { return absl::Now() - start_; }

CallEnd Call::End(const absl::Status& status) {
  if (admitted_) parts_->principals->Leave(principal());
  absl::Status told = ForClient(OrLate(status, deadline()));
  if (absl::IsInternal(told)) {
    Log(LogLevel::kError, "internal error",
        {{"request_id", request_id_}, {"error", status.ToString()}});
  }
  parts_->metrics->OnCallEnded({.method = method_,
                                .model = ModelName(),
                                .status = told,
                                .duration = Elapsed(),
                                .draining = parts_->gate->shut(),
                                .over_grpc = caller_.over_grpc(),
                                .principal = principal_if_known()});
  WriteLog(told);
  if (span_.has_value()) Trace(told);
  const bool come_again = absl::IsResourceExhausted(told);
  const bool ok = told.ok();
  return {.method = method_,
          .status = std::move(told),
          .retry_delay = come_again
                             ? RetryAfterOf(status).value_or(RetryDelay(*parts_->pool, priority_))
                             : absl::ZeroDuration(),
          .request_id = request_id_,
          .load = parts_->load != nullptr && caller_.over_grpc() ? parts_->load->report() : "",
          .held = ok ? Hold() : nullptr};
}

void Call::AddPart(TracedPart part) {
  if (span_.has_value() && parts_traced_.size() < kMostParts) {
    parts_traced_.push_back(std::move(part));
  }
}

// Empty if no model was found.
std::string_view Call::ModelName() const {
  return translator_ == nullptr ? std::string_view() : translator_->name();
}

// Logs only names and numbers: a message may quote what the client sent.
void Call::WriteLog(const absl::Status& status) const {
  const std::string code = absl::StatusCodeToString(status.code());
  const std::string field = FieldOf(status);
  const std::string reason = ReasonOfRefusal(status, parts_->gate->shut());
  const std::string limit = LimitOf(status);
  const std::string right = RightForLog(MissingRightOf(status), parts_->models);
  const bool own = span_.has_value(), callers = trace_.has_value();
  const std::string trace_id = own ? span_->trace_id : callers ? trace_->trace_id : "";
  const std::string span_id = own ? span_->span_id : callers ? trace_->span_id : "";
  const bool names_peer = !status.ok() && parts_->config->log_peers();
  Log(LogLevel::kInfo, "request",
      {{"method", method_},
       {"api", caller_.api},
       {"model", ModelName()},
       {"code", code},
       {"field", field},
       {"reason", reason},
       {"limit", limit},
       {"right", right},
       {"peer", names_peer ? std::string_view(caller_.peer) : std::string_view()},
       {"texts", size_.texts},
       {"source_tokens", size_.source_tokens},
       {"target_tokens", size_.target_tokens},
       {"queue_ms", absl::ToDoubleMilliseconds(size_.queue)},
       {"ms", absl::ToDoubleMilliseconds(Elapsed())},
       {"principal", permit_.has_value() ? std::string_view(principal()) : std::string_view()},
       {"request_id", request_id_},
       {"trace_id", trace_id},
       {"span_id", span_id}});
}

void Call::Trace(const absl::Status& status) const {
  // Other APIs have codes of their own for some errors, and a stream may have begun with a 200.
  const std::string_view method = method_;
  const bool unary = method != "TranslateStream" && method != "TranslateDocument";
  const bool code_is_known =
      !caller_.over_grpc() && (status.ok() || (unary && std::string_view(caller_.api) == "http"));
  parts_->tracer->Add({.ids = *span_,
                       .api = caller_.api,
                       .method = method_,
                       .http_method = caller_.http_method,
                       .http_route = caller_.http_route,
                       .http_code = code_is_known ? HttpCodeOf(status) : 0,
                       .code = status.code(),
                       .principal = principal_if_known().value_or(""),
                       .model = std::string(ModelName()),
                       .texts = size_.texts,
                       .source_tokens = size_.source_tokens,
                       .target_tokens = size_.target_tokens,
                       .start = start_,
                       .end = absl::Now(),
                       .translated = size_.decoded,
                       .queue = size_.queue,
                       .encode = size_.encode,
                       .decode = size_.decode,
                       .parts = parts_traced_});
}

}  // namespace dragoman
