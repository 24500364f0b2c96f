#include "server/api/methods.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "engine/base/status.h"
#include "server/api/admin.h"
#include "server/api/answered_call.h"
#include "server/api/detect_languages.h"
#include "server/api/glossaries.h"
#include "server/api/list_models.h"
#include "server/api/memories.h"
#include "server/api/score_exchange.h"
#include "server/api/translate_exchange.h"
#include "server/base/methods.h"

namespace dragoman {
namespace {

using enum ModelTurn;

template <typename Request, typename Response>
Method::Exchange Stored(AnswerMethod<Request, Response>* answer) {
  return Answered(answer, CallWork::kStore);
}

// Asks for a turn of the model that a request names.
template <ModelTurn turn, typename Request, typename Response>
Method::Exchange Asks() {
  const auto ask = [](const Request& request, Call* call) -> absl::StatusOr<Response> {
    RETURN_IF_ERROR(AskForTurn(turn, request.name(), call));
    return Response();
  };
  return Answered<Request, Response>(ask);
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
      {"DetectLanguage", Answered(DetectLanguage, CallWork::kLong), "POST", "/v1/detect"},

      {"ListModels", Answered(ListModels), "GET", "/v1/models"},
      {"GetModel", Answered(GetModel), "GET", "/v1/models/{name=**}"},

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

      {"AdminService/ListModels", Answered(AdminListModels)},
      {"AdminService/LoadModel", Asks<kLoad, v1::LoadModelRequest, v1::LoadModelResponse>()},
      {"AdminService/UnloadModel",
       Asks<kUnload, v1::UnloadModelRequest, v1::UnloadModelResponse>()},
      {"AdminService/PinModel", Asks<kPin, v1::PinModelRequest, v1::PinModelResponse>()},
      {"AdminService/UnpinModel", Asks<kUnpin, v1::UnpinModelRequest, v1::UnpinModelResponse>()},
      {"AdminService/SetLogLevel", Answered(SetLogLevel)},
      {"AdminService/Drain", Answered(Drain)}};
  return methods;
}

std::string RpcOf(const Method& method) {
  return method.rpc != nullptr ? method.rpc : FullNameOf(method.name);
}

const Method& MethodOf(std::string_view name) {
  const auto found =
      absl::c_find_if(Methods(), [&](const Method& method) { return method.name == name; });
  DRAGOMAN_CHECK(found != Methods().end());
  return *found;
}

absl::StatusOr<Share> RoomForMessage(const ServerParts& parts, const Method& method,
                                     const Caller& caller) {
  absl::StatusOr<Permit> permit = parts.principals->Identify(caller);
  if (method.of_anybody) permit = std::move(permit).value_or(Permit());
  RETURN_IF_ERROR(permit.status());
  if (!method.of_anybody) RETURN_IF_ERROR(permit->MayCall(method.name));
  return parts.requests->Take(HolderOf(permit->principal(), caller.peer), parts.max_message_bytes);
}

}  // namespace dragoman
