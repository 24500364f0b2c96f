// grpc.health.v1: tells probes and balancers whether the server and its services serve.  gRPC's own
// health service takes messages of any size from anybody.

#ifndef DRAGOMAN_SERVER_GRPC_HEALTH_SERVICE_H_
#define DRAGOMAN_SERVER_GRPC_HEALTH_SERVICE_H_

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/grpc/first_message.h"

namespace dragoman {

class HealthWatch;

// Thread-safe.
class HealthService final : public grpc::Service {
 public:
  explicit HealthService(RoomForAnybody room);
  ~HealthService() override;

  // "" is the server.
  void Set(const std::string& service, bool serving);
  // Nothing for a service that was never set.
  std::optional<bool> Serves(const std::string& service) const;

 private:
  friend class HealthWatch;
  void Add(const std::shared_ptr<HealthWatch>& watch);
  void Remove(const std::shared_ptr<HealthWatch>& watch);

  const RoomForAnybody room_;
  mutable absl::Mutex mutex_;
  std::map<std::string, bool> services_ ABSL_GUARDED_BY(mutex_);
  std::set<std::shared_ptr<HealthWatch>> watches_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_HEALTH_SERVICE_H_
