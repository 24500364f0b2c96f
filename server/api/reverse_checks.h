// Finds who can check translations in reverse (engine/request/running_request.h).

#ifndef DRAGOMAN_SERVER_API_REVERSE_CHECKS_H_
#define DRAGOMAN_SERVER_API_REVERSE_CHECKS_H_

#include "absl/status/statusor.h"
#include "engine/request/running_request.h"
#include "server/auth/permit.h"
#include "server/models/model_registry.h"

namespace dragoman {

// The model for the other direction of these languages, as a request named them, which `route`
// translates; the same model, if it has both.  FAILED_PRECONDITION if there is none, and
// PERMISSION_DENIED if the caller may not use it.
absl::StatusOr<ReverseRoute> FindReverse(const ModelRegistry& models, const Route& route,
                                         const LanguagePair& asked, const Permit& permit);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_REVERSE_CHECKS_H_
