// What the files for Google's API share: texts (google.cc) and files (google_documents.cc).

#ifndef DRAGOMAN_SERVER_COMPAT_GOOGLE_H_
#define DRAGOMAN_SERVER_COMPAT_GOOGLE_H_

#include <string_view>

#include "absl/status/status.h"
#include "server/compat/compat.h"

namespace dragoman {

extern const CompatApi kGoogleAdvanced;

// What an answer depends on besides the translations.
struct GoogleCall {
  bool detect = false;
  bool model = false;  // whether one was requested
};

HttpResponse GoogleError(const absl::Status& status);
HttpResponse GooglePlainError(int code, std::string_view message);

// REQUIRES: before the other methods of the advanced edition, whose path fits, too.
void AddGoogleDocuments(const ApiContext& context, HttpRouter* router);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_COMPAT_GOOGLE_H_
