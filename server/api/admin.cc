#include "server/api/admin.h"

#include <memory>
#include <string>

#include "absl/algorithm/container.h"
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

// The model of a request, by its whole name.
absl::StatusOr<std::string> FindConfigured(const Call& call, const std::string& name) {
  if (name.empty()) return InvalidField("name", "is empty, want that of a model");
  const std::shared_ptr<const ModelSet> models = call.parts().models->Models();
  ASSIGN_OR_RETURN(const ServedModel* const found, models->FindModel(name));
  return found->name;
}

}  // namespace

absl::StatusOr<v1::ListModelsResponse> AdminListModels(const v1::ListModelsRequest&, Call* call) {
  return ListedModels(call->parts(), Permit());
}

absl::StatusOr<v1::LoadModelResponse> LoadModel(const v1::LoadModelRequest& request, Call* call) {
  ASSIGN_OR_RETURN(const std::string model, FindConfigured(*call, request.name()));
  LogChange(*call, "admin: load", model);
  call->parts().admin->load(model);
  return v1::LoadModelResponse();
}

absl::StatusOr<v1::UnloadModelResponse> UnloadModel(const v1::UnloadModelRequest& request,
                                                    Call* call) {
  ASSIGN_OR_RETURN(const std::string name, FindConfigured(*call, request.name()));
  const std::shared_ptr<const ModelSet> set = call->parts().models->Models();
  const bool another = absl::c_any_of(set->models(), [&](const ServedModel& model) {
    return model.name != name && model.serves();
  });
  if (!another) {
    return absl::FailedPreconditionError("name: no other model serves, so this one has to stay");
  }
  LogChange(*call, "admin: unload", name);
  call->parts().admin->unload(name);
  return v1::UnloadModelResponse();
}

absl::StatusOr<v1::PinModelResponse> PinModel(const v1::PinModelRequest& request, Call* call) {
  ASSIGN_OR_RETURN(const std::string model, FindConfigured(*call, request.name()));
  LogChange(*call, "admin: pin", model);
  call->parts().admin->pin(model);
  return v1::PinModelResponse();
}

absl::StatusOr<v1::UnpinModelResponse> UnpinModel(const v1::UnpinModelRequest& request,
                                                  Call* call) {
  ASSIGN_OR_RETURN(const std::string name, FindConfigured(*call, request.name()));
  const std::shared_ptr<const ModelSet> set = call->parts().models->Models();
  ASSIGN_OR_RETURN(const ServedModel* const model, set->FindModel(name));
  if (model->shelf == nullptr) {
    return absl::FailedPreconditionError(
        "name: this model always stays; only those of --models make room, with --model-memory");
  }
  LogChange(*call, "admin: unpin", name);
  call->parts().admin->unpin(name);
  return v1::UnpinModelResponse();
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
