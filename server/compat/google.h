// What the files for Google's API share: texts (google.cc), files (google_documents.cc) and
// glossaries (google_glossaries.cc).

#ifndef DRAGOMAN_SERVER_COMPAT_GOOGLE_H_
#define DRAGOMAN_SERVER_COMPAT_GOOGLE_H_

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/api/exchange.h"
#include "server/api/methods.h"
#include "server/compat/compat.h"

namespace dragoman::google_documents {
// The exchange of TranslateDocument over gRPC.
std::unique_ptr<UnaryExchange> NewRpc(const ServerParts* parts, const char* method, Caller caller,
                                      UnaryExchange::Done done);
}  // namespace dragoman::google_documents

namespace dragoman::google_glossaries {
std::vector<Method> RpcMethods();
}

namespace dragoman::google_translate {

extern const CompatApi kAdvanced;

// What an answer depends on besides the translations.
struct GoogleCall {
  bool detect = false;
  std::string model;     // that was requested
  std::string glossary;  // as it was named
};

HttpResponse Error(const absl::Status& status);
HttpResponse PlainError(int code, std::string_view message);

// Reads what the fields say besides texts and languages: the model and the glossary.
absl::Status ReadCall(const CompatFields& fields, GoogleCall* call, v1::TranslateRequest* request);

}  // namespace dragoman::google_translate

#endif  // DRAGOMAN_SERVER_COMPAT_GOOGLE_H_
