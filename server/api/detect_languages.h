// DetectLanguage: the languages that texts are probably written in.

#ifndef DRAGOMAN_SERVER_API_DETECT_LANGUAGES_H_
#define DRAGOMAN_SERVER_API_DETECT_LANGUAGES_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/call.h"

namespace dragoman {

// Answers a call at once.  `parse` creates the request, if the caller is admitted.  Sets the number
// of texts in *size.
absl::StatusOr<v1::DetectLanguageResponse> DetectLanguage(
    absl::FunctionRef<absl::StatusOr<v1::DetectLanguageRequest>()> parse, const ServerParts& parts,
    Call* call, CallSize* size);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_DETECT_LANGUAGES_H_
