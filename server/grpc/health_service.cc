#include "server/grpc/health_service.h"

#include <utility>

#include "grpc/health/v1/health.grpc.pb.h"
#include "server/grpc/raw_message.h"

namespace dragoman {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

HealthCheckResponse::ServingStatus StatusOf(std::optional<bool> serves) {
  if (!serves.has_value()) return HealthCheckResponse::SERVICE_UNKNOWN;
  return *serves ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
}

// Reads which service is meant.
grpc::Status ReadName(const absl::Status& waited, FirstMessage* message, std::string* name) {
  HealthCheckRequest request;
  const absl::Status read =
      waited.ok() ? ReadMessage(*message->bytes(), kMostOfSmall, &request) : waited;
  message->bytes()->Clear();
  *name = request.service();
  return {static_cast<grpc::StatusCode>(read.code()), std::string(read.message())};
}

// Like HealthWatch, it owns itself until OnDone.
class HealthCheck final : public grpc::ServerUnaryReactor,
                          public std::enable_shared_from_this<HealthCheck> {
 public:
  HealthCheck(const HealthService* service, HealthCheckResponse* response)
      : service_(service), response_(response) {}

  HealthCheck* Start(const Incoming& incoming, absl::FunctionRef<absl::StatusOr<Share>()> room) {
    self_ = shared_from_this();
    message_.Read(incoming, self_, room, [this](const absl::Status& waited) { Answer(waited); });
    return this;
  }
  void OnDone() override { const auto last = std::move(self_); }
  bool InternalInlineable() override { return true; }

 private:
  void Answer(const absl::Status& waited) {
    std::string name;
    const grpc::Status read = ReadName(waited, &message_, &name);
    if (!read.ok()) return Finish(read);
    const std::optional<bool> serves = service_->Serves(name);
    if (!serves.has_value()) return Finish({grpc::StatusCode::NOT_FOUND, "no such service"});
    response_->set_status(StatusOf(serves));
    Finish(grpc::Status::OK);
  }

  const HealthService* const service_;
  HealthCheckResponse* const response_;
  std::shared_ptr<HealthCheck> self_;
  FirstMessage message_;
};

}  // namespace

// Writes a status, and each that follows once the last one was written.
class HealthWatch final : public grpc::ServerWriteReactor<HealthCheckResponse>,
                          public std::enable_shared_from_this<HealthWatch> {
 public:
  explicit HealthWatch(HealthService* service) : service_(service) {}

  HealthWatch* Start(const Incoming& incoming, absl::FunctionRef<absl::StatusOr<Share>()> room) {
    self_ = shared_from_this();
    message_.Read(incoming, self_, room, [this](const absl::Status& waited) { Begin(waited); });
    return this;
  }

  // The status may have changed.
  void Update() {
    bool ends;
    {
      absl::MutexLock lock(&mutex_);
      if (!begun_ || writing_ || over_) return;
      const auto status = StatusOf(service_->Serves(name_));
      if (!cancelled_ && response_.status() == status) return;
      ends = cancelled_;
      (ends ? over_ : writing_) = true;
      response_.set_status(status);
    }
    if (ends) return Finish(grpc::Status::CANCELLED);
    StartWrite(&response_);
  }

  void OnWriteDone(bool ok) override { Change(&writing_, false, /*cancelled=*/!ok); }
  void OnCancel() override { Change(&cancelled_, true, /*cancelled=*/true); }
  void OnDone() override {
    service_->Remove(self_);
    const auto last = std::move(self_);
  }

 private:
  void Begin(const absl::Status& waited) {
    const grpc::Status read = ReadName(waited, &message_, &name_);
    if (!read.ok()) return Finish(read);
    service_->Add(shared_from_this());
    Change(&begun_, true, /*cancelled=*/false);
  }

  void Change(bool* what, bool value, bool cancelled) {
    {
      absl::MutexLock lock(&mutex_);
      *what = value;
      if (cancelled) cancelled_ = true;
    }
    Update();
  }

  HealthService* const service_;
  std::shared_ptr<HealthWatch> self_;
  FirstMessage message_;
  std::string name_;  // before begun_
  absl::Mutex mutex_;
  HealthCheckResponse response_;  // the last one
  bool begun_ = false, writing_ = false, cancelled_ = false, over_ = false;
};

HealthService::HealthService(RoomForAnybody room) : room_(std::move(room)) {
  using grpc::internal::RpcMethod;
  using grpc::internal::RpcServiceMethod;
  AddMethod(
      new RpcServiceMethod("/grpc.health.v1.Health/Check", RpcMethod::CLIENT_STREAMING, nullptr));
  MarkMethodCallback(
      0, new HeadersFirst<grpc::internal::CallbackUnaryHandler<Incoming, HealthCheckResponse>>(
             [this](grpc::CallbackServerContext* context, const Incoming* incoming,
                    HealthCheckResponse* response) {
               return std::make_shared<HealthCheck>(this, response)->Start(*incoming, [&] {
                 return room_(context->peer());
               });
             }));
  AddMethod(
      new RpcServiceMethod("/grpc.health.v1.Health/Watch", RpcMethod::BIDI_STREAMING, nullptr));
  MarkMethodCallback(
      1, new HeadersFirst<
             grpc::internal::CallbackServerStreamingHandler<Incoming, HealthCheckResponse>>(
             [this](grpc::CallbackServerContext* context, const Incoming* incoming) {
               return std::make_shared<HealthWatch>(this)->Start(
                   *incoming, [&] { return room_(context->peer()); });
             }));
}

HealthService::~HealthService() = default;

void HealthService::Set(const std::string& service, bool serving) {
  std::set<std::shared_ptr<HealthWatch>> watches;
  {
    absl::MutexLock lock(&mutex_);
    services_[service] = serving;
    watches = watches_;
  }
  for (const auto& watch : watches) watch->Update();
}

std::optional<bool> HealthService::Serves(const std::string& service) const {
  absl::MutexLock lock(&mutex_);
  const auto found = services_.find(service);
  return found == services_.end() ? std::nullopt : std::optional(found->second);
}

void HealthService::Add(const std::shared_ptr<HealthWatch>& watch) {
  absl::MutexLock lock(&mutex_);
  watches_.insert(watch);
}

void HealthService::Remove(const std::shared_ptr<HealthWatch>& watch) {
  absl::MutexLock lock(&mutex_);
  watches_.erase(watch);
}

}  // namespace dragoman
