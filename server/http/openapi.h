// The machine-readable description of the HTTP API, OpenAPI 3.0
// (https://spec.openapis.org/oas/v3.0.3).  It is generated from the descriptors of
// translation.proto, including its comments, when it is first requested, so it always matches what
// is served.

#ifndef DRAGOMAN_SERVER_HTTP_OPENAPI_H_
#define DRAGOMAN_SERVER_HTTP_OPENAPI_H_

#include <string>

#include "server/http/router.h"

namespace dragoman {

// The document as JSON. Thread-safe.
const std::string& OpenApi();

// GET /openapi.json
void AddOpenApi(HttpRouter* router);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_OPENAPI_H_
