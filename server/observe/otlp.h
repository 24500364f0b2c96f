// Calls as spans in OTLP's JSON: the message ExportTraceServiceRequest of opentelemetry-proto 1.x
// (https://opentelemetry.io/docs/specs/otlp), with the names of the semantic conventions for RPC
// and HTTP servers (https://opentelemetry.io/docs/specs/semconv).
//
//   dragoman.v1.TranslationService/Translate      or, over HTTP: POST /v1/translate
//     queue     waits for a place in a batch
//     encode    the encoder
//     decode    the decoder
//     answer    from there until the call ends
//   dragoman.v1.TranslationService/TranslateBulk  and TranslateDocument
//     part      one of the first requests, or passages, from when it came until it was answered
//
// A stage is as long as that of the request's slowest sentence, and the stages are laid end to end
// before the moment when the engine was done; so with many sentences the first ones may be cut off
// at the call's beginning.

#ifndef DRAGOMAN_SERVER_OBSERVE_OTLP_H_
#define DRAGOMAN_SERVER_OBSERVE_OTLP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "server/observe/tracer.h"

namespace dragoman {

std::string OtlpBody(const std::vector<TracedCall>& calls);

// How many spans a call has.
int64_t SpanCount(const TracedCall& call);

// The number of spans that an answer, ExportTraceServiceResponse, says were rejected; 0 if it says
// nothing that can be read.
int64_t RejectedSpans(const std::string& answer);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_OBSERVE_OTLP_H_
