// The description of the HTTP API for programs, OpenAPI 3.0 (https://spec.openapis.org/oas/v3.0.3):
// made of the descriptors of translation.proto, its comments included, when it is first asked for,
// so that it says what is served.

#ifndef DRAGOMAN_SERVER_HTTP_OPENAPI_H_
#define DRAGOMAN_SERVER_HTTP_OPENAPI_H_

#include <string>

#include "server/http/router.h"

namespace dragoman {

// As JSON.  Thread-safe.
const std::string& OpenApi();

// GET /openapi.json
void AddOpenApi(HttpRouter* router);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_OPENAPI_H_
