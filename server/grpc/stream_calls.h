// TranslateStream, TranslateBulk and TranslateDocument over gRPC: thin layers over
// stream_exchange.h, bulk_exchange.h and document_exchange.h.

#ifndef DRAGOMAN_SERVER_GRPC_STREAM_CALLS_H_
#define DRAGOMAN_SERVER_GRPC_STREAM_CALLS_H_

#include <grpcpp/grpcpp.h>

#include <string_view>

#include "server/api/call.h"

namespace dragoman {

// A new handler of a method that streams, which gRPC is to call when a call's headers have come
// (BIDI_STREAMING).  Its calls begin at once, and delete themselves in gRPC's OnDone.  `parts` must
// outlive them.  REQUIRES: the method streams.
grpc::internal::MethodHandler* NewStreamHandler(const ServerParts* parts, std::string_view method);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_STREAM_CALLS_H_
