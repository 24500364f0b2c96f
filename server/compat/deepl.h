// What the files for DeepL's API share: texts (deepl.cc), files (deepl_documents.cc), glossaries
// and translation memories (deepl_glossaries.cc, deepl_memories.cc).

#ifndef DRAGOMAN_SERVER_COMPAT_DEEPL_H_
#define DRAGOMAN_SERVER_COMPAT_DEEPL_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/compat/compat.h"
#include "server/store/owned.h"

namespace dragoman::deepl {

extern const CompatApi kApi;

HttpResponse Error(const absl::Status& status);
HttpResponse PlainError(int code, std::string_view message);

// INVALID_ARGUMENT names the first option that matters and is not supported.
absl::Status RefuseUnsupported(const CompatFields& fields);

// Adds the glossaries and the translation memory that a call names.
absl::Status AddKeptIds(const CompatFields& fields, v1::TranslateRequest* request);

// With milliseconds, as DeepL sends it: its Python library refuses a time without a fraction.
std::string TimeText(absl::Time time);

// What a handler knows of a call about what is kept, which was admitted.
struct KeptCall {
  const HttpRequest& http;
  const CompatFields& fields;
  Call* call;
  std::string id;  // what stands for the * of the path
  bool several;    // version 3: several pairs of languages
  Asker asker;
};

struct KeptRoute {
  const char* method;
  std::string path;
  const char* call;  // as the metrics and the log name it
  std::function<CompatAnswer(const KeptCall& call)> answer;
};

// The handler answers on a thread that may wait for the store.
HttpHandler KeptHandler(const ApiContext& context, const KeptRoute& to);
void AddKeptRoute(const ApiContext& context, const KeptRoute& to, HttpRouter* router);

// What stands for the * of this path.
std::string IdIn(const HttpRequest& http, std::string_view path);

}  // namespace dragoman::deepl

#endif  // DRAGOMAN_SERVER_COMPAT_DEEPL_H_
