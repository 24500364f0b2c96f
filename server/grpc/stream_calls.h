// TranslateStream, TranslateBulk and TranslateDocument over gRPC: thin layers over
// stream_exchange.h, bulk_exchange.h and document_exchange.h.

#ifndef DRAGOMAN_SERVER_GRPC_STREAM_CALLS_H_
#define DRAGOMAN_SERVER_GRPC_STREAM_CALLS_H_

#include <grpcpp/grpcpp.h>

#include "server/api/call.h"

namespace dragoman {

// A call that has begun, and that deletes itself in gRPC's OnDone. `parts` must outlive it.
grpc::ServerWriteReactor<grpc::ByteBuffer>* NewStreamCall(const ServerParts* parts,
                                                          grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer& request);
grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* NewBulkCall(
    const ServerParts* parts, grpc::CallbackServerContext* context);
grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* NewDocumentCall(
    const ServerParts* parts, grpc::CallbackServerContext* context);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_STREAM_CALLS_H_
