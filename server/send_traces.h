// Takes traces (observe/tracer.h) to an OpenTelemetry collector, over HTTP or HTTPS.

#ifndef DRAGOMAN_SERVER_SEND_TRACES_H_
#define DRAGOMAN_SERVER_SEND_TRACES_H_

#include <string>

#include "server/observe/tracer.h"

namespace dragoman {

// `endpoint` is "http://localhost:4318"; bodies go to /v1/traces below it.
Tracer::Post PostTraces(const std::string& endpoint);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_SEND_TRACES_H_
