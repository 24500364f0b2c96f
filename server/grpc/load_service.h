// xds.service.orca.v3.OpenRcaService: sends a client that balances by load a report (load_meter.h)
// again and again, also while it sends no calls.  Like the health service it asks for no token.

#ifndef DRAGOMAN_SERVER_GRPC_LOAD_SERVICE_H_
#define DRAGOMAN_SERVER_GRPC_LOAD_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include "server/observe/load_meter.h"
#include "xds/service/orca/v3/orca.grpc.pb.h"

namespace dragoman {

// Thread-safe.
class LoadService final
    : public xds::service::orca::v3::OpenRcaService::WithCallbackMethod_StreamCoreMetrics<
          xds::service::orca::v3::OpenRcaService::Service> {
 public:
  // `meter` must outlive the service.
  explicit LoadService(const LoadMeter* meter) : meter_(meter) {}

  // Reports come as often as the client asks, but at most once a second.
  grpc::ServerWriteReactor<xds::data::orca::v3::OrcaLoadReport>* StreamCoreMetrics(
      grpc::CallbackServerContext* context,
      const xds::service::orca::v3::OrcaLoadReportRequest* request) override;

 private:
  const LoadMeter* const meter_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_LOAD_SERVICE_H_
