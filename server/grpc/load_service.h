// xds.service.orca.v3.OpenRcaService: sends a client that balances by load a report (load_meter.h)
// again and again, also while it sends no calls.  It asks for a token as all methods do, but for no
// right: the end of every call tells the same.  For the log, the metrics and the limits a
// subscription has ended when it was admitted.

#ifndef DRAGOMAN_SERVER_GRPC_LOAD_SERVICE_H_
#define DRAGOMAN_SERVER_GRPC_LOAD_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include "server/api/call.h"
#include "xds/service/orca/v3/orca.grpc.pb.h"

namespace dragoman {

// Thread-safe.
class LoadService final
    : public xds::service::orca::v3::OpenRcaService::WithCallbackMethod_StreamCoreMetrics<
          xds::service::orca::v3::OpenRcaService::Service> {
 public:
  // `parts`, which have a meter when the service is called, must outlive it.
  explicit LoadService(const ServerParts* parts) : parts_(parts) {}

  // Reports come as often as the client asks, but at most once a second.
  grpc::ServerWriteReactor<xds::data::orca::v3::OrcaLoadReport>* StreamCoreMetrics(
      grpc::CallbackServerContext* context,
      const xds::service::orca::v3::OrcaLoadReportRequest* request) override;

 private:
  const ServerParts* const parts_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_LOAD_SERVICE_H_
