#include "server/grpc/load_service.h"

#include <grpcpp/alarm.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/grpc/first_message.h"
#include "server/grpc/grpc_caller.h"
#include "server/grpc/raw_message.h"
#include "server/observe/load_meter.h"

namespace dragoman {
namespace {

using xds::data::orca::v3::OrcaLoadReport;

// Reads what the client asks for, writes a report, waits, writes the next one, until the client
// leaves or the server ends.  Either a write is under way or an alarm is set.  It owns itself until
// OnDone.
class ReportStream final : public grpc::ServerWriteReactor<OrcaLoadReport>,
                           public std::enable_shared_from_this<ReportStream> {
 public:
  explicit ReportStream(const ServerParts* parts) : parts_(parts) {}

  ReportStream* Start(grpc::CallbackServerContext* context, const Incoming& incoming) {
    self_ = shared_from_this();
    Call call(parts_, "StreamCoreMetrics", CallerOf(*context));
    const CallEnd end = call.End(call.Admit());
    if (!end.status.ok()) {
      Finish(ToGrpcStatus(end, context));
      return this;
    }
    message_.Read(
        incoming, self_,
        [&] {
          return parts_->requests->Take(HolderOf(call.principal(), context->peer()),
                                        parts_->max_message_bytes);
        },
        [this](const absl::Status& waited) { Begin(waited); });
    return this;
  }

  // Each wait has its own alarm, because one that has fired may still be in its callback.
  void OnWriteDone(bool ok) override {
    {
      absl::MutexLock lock(&mutex_);
      if (ok && !cancelled_) {
        alarm_ = std::make_unique<grpc::Alarm>();
        return alarm_->Set(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(interval_),
                           [this](bool) { OnAlarm(); });
      }
    }
    Finish(grpc::Status::CANCELLED);
  }
  void OnCancel() override {
    absl::MutexLock lock(&mutex_);
    cancelled_ = true;
    if (alarm_ != nullptr) alarm_->Cancel();  // calls OnAlarm, unless it did so already
  }
  void OnDone() override { const auto last = std::move(self_); }

 private:
  void Begin(absl::Status status) {
    xds::service::orca::v3::OrcaLoadReportRequest request;
    if (status.ok()) status = ReadMessage(*message_.bytes(), kMostOfSmall, &request);
    message_.bytes()->Clear();
    if (!status.ok()) {
      return Finish({static_cast<grpc::StatusCode>(status.code()), std::string(status.message())});
    }
    const auto& wanted = request.report_interval();
    interval_ = std::clamp(absl::Seconds(wanted.seconds()) + absl::Nanoseconds(wanted.nanos()),
                           absl::Seconds(1), absl::Hours(1));
    Write();
  }
  void OnAlarm() {
    bool cancelled = false;
    {
      absl::MutexLock lock(&mutex_);
      cancelled = cancelled_;
    }
    if (cancelled) return Finish(grpc::Status::CANCELLED);
    Write();
  }
  void Write() {
    report_.ParseFromString(parts_->load->report());
    StartWrite(&report_);
  }

  const ServerParts* const parts_;
  std::shared_ptr<ReportStream> self_;
  FirstMessage message_;
  absl::Duration interval_;
  OrcaLoadReport report_;  // being written
  absl::Mutex mutex_;
  std::unique_ptr<grpc::Alarm> alarm_ ABSL_GUARDED_BY(mutex_);
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

LoadService::LoadService(const ServerParts* parts) {
  AddMethod(
      new grpc::internal::RpcServiceMethod("/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics",
                                           grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
  MarkMethodCallback(
      0, new HeadersFirst<grpc::internal::CallbackServerStreamingHandler<Incoming, OrcaLoadReport>>(
             [parts](grpc::CallbackServerContext* context, const Incoming* incoming) {
               return std::make_shared<ReportStream>(parts)->Start(context, *incoming);
             }));
}

}  // namespace dragoman
