#include "server/api/admin.h"

#include <memory>
#include <string>

#include "engine/base/status.h"
#include "server/api/list_models.h"
#include "server/observe/logging.h"

namespace dragoman {
namespace {

// Who changed what.
void LogChange(const Call& call, const char* what, const std::string& value) {
  Log(LogLevel::kInfo, what,
      {{"value", value}, {"principal", call.principal()}, {"request_id", call.request_id()}});
}

}  // namespace

absl::Status AskForTurn(ModelTurn turn, const std::string& name, Call* call) {
  constexpr const char* kEvents[] = {"admin: load", "admin: unload", "admin: pin", "admin: unpin"};
  if (name.empty()) return InvalidField("name", "is empty, want that of a model");
  const std::shared_ptr<const ModelSet> models = call->parts().models->Models();
  ASSIGN_OR_RETURN(const ServedModel* const model, models->FindModel(name));
  if (turn == ModelTurn::kUnload && !models->ServesWithout(model->name)) {
    return absl::FailedPreconditionError("name: no other model serves, so this one has to stay");
  }
  if (turn == ModelTurn::kUnpin && model->shelf == nullptr) {
    return absl::FailedPreconditionError(
        "name: this model always stays; only those of --models make room, with --model-memory");
  }
  LogChange(*call, kEvents[static_cast<size_t>(turn)], model->name);
  call->parts().admin->turn(model->name, turn);
  return absl::OkStatus();
}

absl::StatusOr<v1::ListModelsResponse> AdminListModels(const v1::ListModelsRequest&, Call* call) {
  return ListedModels(call->parts(), Permit());
}

absl::StatusOr<v1::SetLogLevelResponse> SetLogLevel(const v1::SetLogLevelRequest& request,
                                                    Call* call) {
  if (const absl::Status status = Validate(LogOptions{.level = request.level()}); !status.ok()) {
    return InvalidField("level", "is unknown, want trace, debug, info, warn, error or off");
  }
  LogChange(*call, "admin: log level", request.level());
  ChangeLogLevel(request.level());
  return v1::SetLogLevelResponse();
}

absl::StatusOr<v1::DrainResponse> Drain(const v1::DrainRequest&, Call* call) {
  LogChange(*call, "admin: drain", "");
  call->parts().admin->drain();
  return v1::DrainResponse();
}

}  // namespace dragoman
