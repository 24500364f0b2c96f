// Takes traces (observe/tracer.h) to an OpenTelemetry collector, over HTTP or HTTPS.

#ifndef DRAGOMAN_SERVER_SEND_TRACES_H_
#define DRAGOMAN_SERVER_SEND_TRACES_H_

#include <string>

#include "absl/status/statusor.h"
#include "server/observe/tracer.h"

namespace dragoman {

// `endpoint` is "http://localhost:4318"; bodies go to /v1/traces below it, with the headers in a
// file, whose lines are `name: value`, comments that begin with #, or empty; "": none.
// INVALID_ARGUMENT names the line that is none of these, and never quotes it.
absl::StatusOr<Tracer::Post> PostTraces(const std::string& endpoint,
                                        const std::string& headers_file);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_SEND_TRACES_H_
