// The gRPC API (proto/dragoman/v1/translation.proto) as JSON over HTTP:
//
//   POST /v1/translate      Translate
//   POST /v1/score          Score
//   POST /v1/tokenize       Tokenize
//   GET  /v1/models         ListModels
//   GET  /v1/models/NAME    GetModel
//   POST /v1/glossaries     CreateGlossary, and so on
//
// Bodies are the messages of these calls in protobuf's JSON mapping (json.h); an error is a
// google.rpc.Status.

#ifndef DRAGOMAN_SERVER_HTTP_API_H_
#define DRAGOMAN_SERVER_HTTP_API_H_

#include "server/http/api_context.h"
#include "server/http/router.h"

namespace dragoman {

void AddApi(const ApiContext& context, HttpRouter* router);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_API_H_
