// Whether a model can serve requests that set no options: the search that its own files ask for,
// and the longest sentence that the limits allow.  Otherwise it would report ready and then refuse
// every request, blaming callers for options that they never set.

#ifndef DRAGOMAN_ENGINE_REQUEST_SERVABLE_H_
#define DRAGOMAN_ENGINE_REQUEST_SERVABLE_H_

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/model/model.h"
#include "engine/request/search_request.h"

namespace dragoman {

// Checks that a request without options is valid.  INVALID_ARGUMENT names the file in `directory`
// and the field: "generation_config.json: length_penalty is 50, want -10 to 10".
absl::Status CheckDefaults(const Model& model, const std::string& directory, const Limits& limits);

// The memory for keys and values that the longest sentence needs with the model's own search.
// REQUIRES: CheckDefaults is OK.
size_t LongestSentenceBytes(const std::shared_ptr<const Model>& model, const Limits& limits);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_SERVABLE_H_
