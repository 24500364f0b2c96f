#include "server/api/methods.h"

#include <algorithm>
#include <utility>

#include "engine/base/status.h"
#include "server/api/admin.h"
#include "server/api/detect_languages.h"
#include "server/api/glossaries.h"
#include "server/api/list_models.h"
#include "server/api/memories.h"
#include "server/api/score_exchange.h"
#include "server/api/translate_exchange.h"

namespace dragoman {
namespace {

// An exchange that is answered at once.
template <typename Request, typename Response>
class ImmediateExchange final : public UnaryExchange {
 public:
  ImmediateExchange(UnaryMethod<Request, Response>* answer, const ServerParts* parts,
                    const char* method, Caller caller, Done done)
      : answer_(answer),
        parts_(parts),
        call_(parts, method, std::move(caller)),
        done_(std::move(done)) {}

  void Start(Parse parse) override {
    absl::StatusOr<Response> answered =
        answer_([&] { return Parsed<Request>(parse); }, *parts_, &call_);
    const Done done = std::move(done_);  // outlives this exchange, which done may destroy
    done(call_.End(answered.status()), answered.ok() ? &*answered : nullptr);
  }
  void Cancel() override {}

 private:
  UnaryMethod<Request, Response>* const answer_;
  const ServerParts* const parts_;
  Call call_;
  Done done_;
};

template <typename Request, typename Response>
Method::Exchange AtOnce(UnaryMethod<Request, Response>* answer) {
  return [answer](const ServerParts* parts, const char* method, Caller caller,
                  UnaryExchange::Done done) {
    return std::make_unique<ImmediateExchange<Request, Response>>(
        answer, parts, method, std::move(caller), std::move(done));
  };
}

// An exchange that waits for the engine.
template <typename Exchange>
std::unique_ptr<UnaryExchange> Later(const ServerParts* parts, const char* method, Caller caller,
                                     UnaryExchange::Done done) {
  return std::make_unique<Exchange>(parts, method, std::move(caller), std::move(done));
}

}  // namespace

const std::vector<Method>& Methods() {
  static const auto& methods = *new std::vector<Method>{
      {"Translate", Later<TranslateExchange>, "POST", "/v1/translate"},
      {"TranslateStream", nullptr, "POST", "/v1/translate:stream"},
      {"TranslateBulk", nullptr},
      {"TranslateDocument", nullptr, "POST", "/v1/translate_file"},
      {"Score", Later<ScoreExchange>, "POST", "/v1/score"},
      {"Tokenize", Later<TokenizeExchange>, "POST", "/v1/tokenize"},
      {"DetectLanguage", AtOnce(DetectLanguage), "POST", "/v1/detect"},

      {"ListModels", AtOnce(ListModels), "GET", "/v1/models"},
      {"GetModel", AtOnce(GetModel), "GET", "/v1/models/{name=**}"},

      {"CreateGlossary", AtOnce(CreateGlossary), "POST", "/v1/glossaries", "glossary"},
      {"ListGlossaries", AtOnce(ListGlossaries), "GET", "/v1/glossaries"},
      {"GetGlossary", AtOnce(GetGlossary), "GET", "/v1/glossaries/{id}"},
      {"ReplaceGlossary", AtOnce(ReplaceGlossary), "PUT", "/v1/glossaries/{id}", "glossary"},
      {"DeleteGlossary", AtOnce(DeleteGlossary), "DELETE", "/v1/glossaries/{id}"},
      {"GetGlossaryEntries", AtOnce(GetGlossaryEntries), "GET", "/v1/glossaries/{id}/entries"},

      {"CreateMemory", AtOnce(CreateMemory), "POST", "/v1/memories"},
      {"ListMemories", AtOnce(ListMemories), "GET", "/v1/memories"},
      {"GetMemory", AtOnce(GetMemory), "GET", "/v1/memories/{id}"},
      {"DeleteMemory", AtOnce(DeleteMemory), "DELETE", "/v1/memories/{id}"},
      {"GetMemorySegments", AtOnce(GetMemorySegments), "GET", "/v1/memories/{id}/segments"},
      {"LearnSegments", AtOnce(LearnSegments), "POST", "/v1/memories/{id}/segments"},

      {"AdminService/ListModels", AtOnce(AdminListModels)},
      {"AdminService/LoadModel", AtOnce(LoadModel)},
      {"AdminService/UnloadModel", AtOnce(UnloadModel)},
      {"AdminService/PinModel", AtOnce(PinModel)},
      {"AdminService/UnpinModel", AtOnce(UnpinModel)},
      {"AdminService/SetLogLevel", AtOnce(SetLogLevel)},
      {"AdminService/Drain", AtOnce(Drain)}};
  return methods;
}

const Method& MethodOf(std::string_view name) {
  const auto found = std::find_if(Methods().begin(), Methods().end(),
                                  [&](const Method& method) { return method.name == name; });
  DRAGOMAN_CHECK(found != Methods().end());
  return *found;
}

}  // namespace dragoman
