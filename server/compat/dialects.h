// The APIs that only translate: a row each of one table (dialects.cc).
//
// A path may belong to several rows.  Who is called is the first one that is enabled and whose
// fields the call has, or else the last one.

#ifndef DRAGOMAN_SERVER_COMPAT_DIALECTS_H_
#define DRAGOMAN_SERVER_COMPAT_DIALECTS_H_

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/compat/compat.h"

namespace dragoman {

// What an answer depends on besides the translations.
struct DialectCall {
  std::string source;    // as it was given; "": to be detected
  std::string target;    // as it was given
  std::string text;      // all of it, if the answer repeats it
  bool is_list = false;  // several texts
  bool as_object = false;
  int alternatives = 0;
};

struct Dialect {
  CompatApi api;
  const char* path;
  std::array<const char*, 2> fields;
  absl::StatusOr<v1::TranslateRequest> (*read)(const CompatApi& api, const CompatFields& fields,
                                               DialectCall* call);
  HttpResponse (*translated)(const DialectCall& call, const v1::TranslateResponse& response);
  HttpResponse (*error)(const absl::Status& status);
  HttpResponse (*plain_error)(int code, std::string_view message);
  const char* other_method = nullptr;  // besides POST
};

namespace libretranslate {
extern const Dialect kTranslate;
}

namespace dialects {
// Adds the rows of the enabled APIs.
void AddRoutes(const std::function<bool(std::string_view name)>& enabled, const ApiContext& context,
               HttpRouter* router);
}  // namespace dialects

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_COMPAT_DIALECTS_H_
