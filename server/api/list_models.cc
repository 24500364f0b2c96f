#include "server/api/list_models.h"

#include <memory>

#include "engine/base/status.h"
#include "server/api/convert.h"

namespace dragoman {
namespace {

void Describe(const ServerParts& parts, const ServedModel& served, bool is_default,
              v1::Model* model) {
  if (served.stable != nullptr) {
    ToProto(served.stable->model(), parts.models->limits(), model);
    model->set_state(parts.gate->shut() ? v1::Model::STATE_DRAINING : v1::Model::STATE_READY);
  }
  ToProto(served, model);
  model->set_is_default(is_default);
}

}  // namespace

absl::Status ListModels(const ServerParts& parts, Call* call, v1::ListModelsResponse* response) {
  RETURN_IF_ERROR(call->Admit());
  const std::shared_ptr<const ModelSet> models = parts.models->Models();
  for (const ServedModel& model : models->models()) {
    Describe(parts, model, &model == models->default_model(), response->add_models());
  }
  return absl::OkStatus();
}

absl::Status GetModel(const ServerParts& parts, const std::string& name, Call* call,
                      v1::Model* model) {
  RETURN_IF_ERROR(call->Admit());
  const std::shared_ptr<const ModelSet> models = parts.models->Models();
  ASSIGN_OR_RETURN(const ServedModel* const found, models->FindModel(name));
  call->set_translator(found->stable);
  Describe(parts, *found, found == models->default_model(), model);
  return absl::OkStatus();
}

}  // namespace dragoman
