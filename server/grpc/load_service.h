// xds.service.orca.v3.OpenRcaService: sends a client that balances by load a report (load_meter.h)
// again and again, also while it sends no calls.  It asks for a token as all methods do, but for no
// right: the end of every call tells the same.  For the log, the metrics and the limits a
// subscription has ended when it was admitted.

#ifndef DRAGOMAN_SERVER_GRPC_LOAD_SERVICE_H_
#define DRAGOMAN_SERVER_GRPC_LOAD_SERVICE_H_

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>

#include "server/api/call.h"
#include "xds/service/orca/v3/orca.grpc.pb.h"

namespace dragoman {

// Thread-safe.  Reports come as often as the client asks, but at most once a second.
class LoadService final : public grpc::Service {
 public:
  // `parts`, which have a meter when the service is called, must outlive it.
  explicit LoadService(const ServerParts* parts);
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_LOAD_SERVICE_H_
