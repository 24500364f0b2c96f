// What the files for DeepL's API share: texts (deepl.cc) and files (deepl_documents.cc).

#ifndef DRAGOMAN_SERVER_COMPAT_DEEPL_H_
#define DRAGOMAN_SERVER_COMPAT_DEEPL_H_

#include <string_view>

#include "absl/status/status.h"
#include "server/compat/compat.h"

namespace dragoman {

extern const CompatApi kDeepL;

HttpResponse DeepLError(const absl::Status& status);
HttpResponse DeepLPlainError(int code, std::string_view message);

// INVALID_ARGUMENT names the first option that matters and is not supported.
absl::Status RefuseUnsupportedByDeepL(const CompatFields& fields);

// Adds the glossaries that a call names.
absl::Status AddDeepLGlossaryIds(const CompatFields& fields, v1::TranslateRequest* request);

void AddDeepLGlossaries(const ApiContext& context, HttpRouter* router);
void AddDeepLDocuments(const ApiContext& context, HttpRouter* router);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_COMPAT_DEEPL_H_
