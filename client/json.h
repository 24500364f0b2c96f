// What the commands print as JSON.

#ifndef DRAGOMAN_CLIENT_JSON_H_
#define DRAGOMAN_CLIENT_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "client/load_generator.h"
#include "dragoman/v1/translation.pb.h"

namespace dragoman {

using Json = nlohmann::ordered_json;

// {"source": ..., "hypotheses": [{"text", "score", "tokens", "token_ids", "finish_reason"}, ...],
//  "truncated": ..., "source_tokens": ..., "model": ...}
Json ToJson(const std::string& source, const v1::Translation& translation,
            const std::string& model);

// {"source": ..., "error": {"code": "INVALID_ARGUMENT", "message": ...}}
Json ToJson(const std::string& source, const absl::Status& error);

Json ToJson(const v1::Model& model);
Json ToJson(const LoadReport& report);

// "ready", "loading", "draining" or "unknown".
std::string NameOf(v1::Model::State state);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_JSON_H_
