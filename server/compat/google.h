// What the files for Google's API share: texts (google.cc) and files (google_documents.cc).

#ifndef DRAGOMAN_SERVER_COMPAT_GOOGLE_H_
#define DRAGOMAN_SERVER_COMPAT_GOOGLE_H_

#include <string_view>

#include "absl/status/status.h"
#include "server/compat/compat.h"

namespace dragoman::google_translate {

extern const CompatApi kAdvanced;

// What an answer depends on besides the translations.
struct GoogleCall {
  bool detect = false;
  std::string model;  // that was requested
};

HttpResponse Error(const absl::Status& status);
HttpResponse PlainError(int code, std::string_view message);

}  // namespace dragoman::google_translate

#endif  // DRAGOMAN_SERVER_COMPAT_GOOGLE_H_
