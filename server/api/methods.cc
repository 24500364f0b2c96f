#include "server/api/methods.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "engine/base/work_threads.h"
#include "server/api/admin.h"
#include "server/api/detect_languages.h"
#include "server/api/glossaries.h"
#include "server/api/list_models.h"
#include "server/api/memories.h"
#include "server/api/score_exchange.h"
#include "server/api/translate_exchange.h"
#include "server/base/methods.h"

namespace dragoman {
namespace {

// An exchange that asks the store, on a thread that may wait.
template <typename Request, typename Response>
class StoreExchange final : public UnaryExchange {
 public:
  StoreExchange(StoreMethod<Request, Response>* answer, const ServerParts* parts,
                const char* method, Caller caller, Done done)
      : answer_(answer),
        parts_(parts),
        call_(parts, method, std::move(caller)),
        state_(call_.deadline()),
        done_(std::move(done)) {}

  void Start(Parse parse) override {
    if (const absl::Status status = TryStart(parse); !status.ok()) End(status);
  }
  void Cancel() override { state_.Cancel(absl::Now()); }

 private:
  absl::Status TryStart(Parse parse) {
    RETURN_IF_ERROR(call_.Admit());
    ASSIGN_OR_RETURN(Request request, Parsed<Request>(parse));
    return parts_->store_threads->Run(
        call_.principal(), [this](absl::Time now) { return state_.Wanted(now); },
        [this, request = std::move(request)](const absl::Status& wanted) {
          End(wanted.ok() ? answer_(request, *parts_, call_) : wanted);
        });
  }

  void End(absl::StatusOr<Response> answered) {
    if (absl::IsUnavailable(answered.status())) {  // perhaps only before the deadline
      if (absl::Status late = state_.Wanted(absl::Now()); !late.ok()) answered = std::move(late);
    }
    const Done done = std::move(done_);  // outlives this exchange, which done may destroy
    done(call_.End(answered.status()), answered.ok() ? &*answered : nullptr);
  }

  StoreMethod<Request, Response>* const answer_;
  const ServerParts* const parts_;
  Call call_;
  RequestState state_;
  Done done_;
};

template <typename Request, typename Response>
Method::Exchange Stored(StoreMethod<Request, Response>* answer) {
  return [answer](const ServerParts* parts, const char* method, Caller caller,
                  UnaryExchange::Done done) {
    return std::make_unique<StoreExchange<Request, Response>>(answer, parts, method,
                                                              std::move(caller), std::move(done));
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

      {"CreateGlossary", Stored(CreateGlossary), "POST", "/v1/glossaries", "glossary"},
      {"ListGlossaries", Stored(ListGlossaries), "GET", "/v1/glossaries"},
      {"GetGlossary", Stored(GetGlossary), "GET", "/v1/glossaries/{id}"},
      {"ReplaceGlossary", Stored(ReplaceGlossary), "PUT", "/v1/glossaries/{id}", "glossary"},
      {"DeleteGlossary", Stored(DeleteGlossary), "DELETE", "/v1/glossaries/{id}"},
      {"GetGlossaryEntries", Stored(GetGlossaryEntries), "GET", "/v1/glossaries/{id}/entries"},

      {"CreateMemory", Stored(CreateMemory), "POST", "/v1/memories"},
      {"ListMemories", Stored(ListMemories), "GET", "/v1/memories"},
      {"GetMemory", Stored(GetMemory), "GET", "/v1/memories/{id}"},
      {"DeleteMemory", Stored(DeleteMemory), "DELETE", "/v1/memories/{id}"},
      {"GetMemorySegments", Stored(GetMemorySegments), "GET", "/v1/memories/{id}/segments"},
      {"LearnSegments", Stored(LearnSegments), "POST", "/v1/memories/{id}/segments"},

      {"AdminService/ListModels", AtOnce(AdminListModels)},
      {"AdminService/LoadModel", AtOnce(LoadModel)},
      {"AdminService/UnloadModel", AtOnce(UnloadModel)},
      {"AdminService/PinModel", AtOnce(PinModel)},
      {"AdminService/UnpinModel", AtOnce(UnpinModel)},
      {"AdminService/SetLogLevel", AtOnce(SetLogLevel)},
      {"AdminService/Drain", AtOnce(Drain)}};
  return methods;
}

std::string RpcOf(const Method& method) {
  return method.rpc != nullptr ? method.rpc : FullNameOf(method.name);
}

const Method& MethodOf(std::string_view name) {
  const auto found = std::find_if(Methods().begin(), Methods().end(),
                                  [&](const Method& method) { return method.name == name; });
  DRAGOMAN_CHECK(found != Methods().end());
  return *found;
}

}  // namespace dragoman
