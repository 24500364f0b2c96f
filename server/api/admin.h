// What operators may do to a running server (admin.proto), for any transport.  Permit::MayCall
// judges who is an operator; the log has a line for each call and one for each change.

#ifndef DRAGOMAN_SERVER_API_ADMIN_H_
#define DRAGOMAN_SERVER_API_ADMIN_H_

#include <functional>

#include "dragoman/v1/admin.pb.h"
#include "server/api/call.h"
#include "server/models/model_set.h"

namespace dragoman {

// What the methods act on.  None of it may block.
struct AdminActions {
  // The model is one of the configuration's.
  std::function<void(const std::string& model, ModelTurn turn)> turn;
  std::function<void()> drain;
};

AnswerMethod<v1::ListModelsRequest, v1::ListModelsResponse> AdminListModels;
AnswerMethod<v1::LoadModelRequest, v1::LoadModelResponse> LoadModel;
AnswerMethod<v1::UnloadModelRequest, v1::UnloadModelResponse> UnloadModel;
AnswerMethod<v1::PinModelRequest, v1::PinModelResponse> PinModel;
AnswerMethod<v1::UnpinModelRequest, v1::UnpinModelResponse> UnpinModel;
AnswerMethod<v1::SetLogLevelRequest, v1::SetLogLevelResponse> SetLogLevel;
AnswerMethod<v1::DrainRequest, v1::DrainResponse> Drain;

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_ADMIN_H_
