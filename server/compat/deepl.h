// What the files for DeepL's API share: texts (deepl.cc) and files (deepl_documents.cc).

#ifndef DRAGOMAN_SERVER_COMPAT_DEEPL_H_
#define DRAGOMAN_SERVER_COMPAT_DEEPL_H_

#include <string_view>

#include "absl/status/status.h"
#include "server/compat/compat.h"

namespace dragoman::deepl {

extern const CompatApi kApi;

HttpResponse Error(const absl::Status& status);
HttpResponse PlainError(int code, std::string_view message);

// INVALID_ARGUMENT names the first option that matters and is not supported.
absl::Status RefuseUnsupported(const CompatFields& fields);

// Adds the glossaries and the translation memory that a call names.
absl::Status AddKeptIds(const CompatFields& fields, v1::TranslateRequest* request);

}  // namespace dragoman::deepl

#endif  // DRAGOMAN_SERVER_COMPAT_DEEPL_H_
