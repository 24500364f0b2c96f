#include "server/api/list_models.h"

#include <memory>

#include "engine/base/status.h"
#include "server/api/convert.h"

namespace dragoman {
namespace {

void Describe(const ServerParts& parts, const ServedModel& served, bool is_default,
              v1::Model* model) {
  const bool waits = served.stable == nullptr && served.serves() && served.versions.empty();
  if (served.stable != nullptr) {
    ToProto(served.stable->model(), parts.models->limits(), model);
  } else if (served.serves()) {
    ToProto(*served.profile, parts.models->limits(), model);
  }
  ToProto(served, model);
  // One that is loaded when it is asked for is as ready as one in memory.
  if (served.stable != nullptr || (waits && !served.shelf->Look(served.name).unloaded)) {
    model->set_state(parts.gate->shut() ? v1::Model::STATE_DRAINING : v1::Model::STATE_READY);
  }
  model->set_is_default(is_default);
}

}  // namespace

v1::ListModelsResponse ListedModels(const ServerParts& parts, const Permit& permit) {
  const std::shared_ptr<const ModelSet> models = parts.models->Models();
  const ServedModel* const default_model = models->default_model(permit.Models());
  v1::ListModelsResponse response;
  for (const ServedModel& model : models->models()) {
    if (!permit.MayUse(model.name).ok()) continue;
    Describe(parts, model.Now(), &model == default_model, response.add_models());
  }
  return response;
}

absl::StatusOr<v1::ListModelsResponse> ListModels(const v1::ListModelsRequest&, Call* call) {
  return ListedModels(call->parts(), call->permit());
}

absl::StatusOr<v1::Model> NamedModel(const std::string& name, Call* call) {
  RETURN_IF_ERROR(call->permit().MayUse(name));
  const std::shared_ptr<const ModelSet> models = call->parts().models->Models();
  ASSIGN_OR_RETURN(const ServedModel* const found,
                   models->FindModel(name, call->permit().Models()));
  const ServedModel now = found->Now();
  call->set_translator(now.stable);
  v1::Model model;
  Describe(call->parts(), now, found == models->default_model(call->permit().Models()), &model);
  return model;
}

absl::StatusOr<v1::Model> GetModel(const v1::GetModelRequest& request, Call* call) {
  return NamedModel(request.name(), call);
}

}  // namespace dragoman
