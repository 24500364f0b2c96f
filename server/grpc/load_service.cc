#include "server/grpc/load_service.h"

#include <grpcpp/alarm.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/grpc/grpc_caller.h"
#include "server/observe/load_meter.h"

namespace dragoman {
namespace {

using xds::data::orca::v3::OrcaLoadReport;

// Writes a report, waits, writes the next one, until the client leaves or the server ends.  Either
// a write is under way or an alarm is set.  It owns itself until OnDone.
class ReportStream final : public grpc::ServerWriteReactor<OrcaLoadReport> {
 public:
  ReportStream(const LoadMeter* meter, absl::Duration interval)
      : meter_(meter), interval_(interval) {
    Write();
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
  void OnDone() override { delete this; }

 private:
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
    report_.ParseFromString(meter_->report());
    StartWrite(&report_);
  }

  const LoadMeter* const meter_;
  const absl::Duration interval_;
  OrcaLoadReport report_;  // being written
  absl::Mutex mutex_;
  std::unique_ptr<grpc::Alarm> alarm_ ABSL_GUARDED_BY(mutex_);
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

// A stream that ends at once.  It owns itself until OnDone.
class RefusedStream final : public grpc::ServerWriteReactor<OrcaLoadReport> {
 public:
  explicit RefusedStream(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

}  // namespace

grpc::ServerWriteReactor<OrcaLoadReport>* LoadService::StreamCoreMetrics(
    grpc::CallbackServerContext* context,
    const xds::service::orca::v3::OrcaLoadReportRequest* request) {
  Call call(parts_, "StreamCoreMetrics", CallerOf(*context));
  const CallEnd end = call.End(call.Admit());
  if (!end.status.ok()) return new RefusedStream(ToGrpcStatus(end, context));
  const auto& wanted = request->report_interval();
  const absl::Duration interval =
      absl::Seconds(wanted.seconds()) + absl::Nanoseconds(wanted.nanos());
  return new ReportStream(parts_->load, std::clamp(interval, absl::Seconds(1), absl::Hours(1)));
}

}  // namespace dragoman
