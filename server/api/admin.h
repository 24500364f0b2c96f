// What operators may do to a running server (admin.proto), for any transport.  Permit::MayCall
// judges who is an operator; the log has a line for each call and one for each change.

#ifndef DRAGOMAN_SERVER_API_ADMIN_H_
#define DRAGOMAN_SERVER_API_ADMIN_H_

#include <functional>
#include <string>

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

// Asks for a turn of the model that a request names.
absl::Status AskForTurn(ModelTurn turn, const std::string& name, Call* call);

AnswerMethod<v1::ListModelsRequest, v1::ListModelsResponse> AdminListModels;
AnswerMethod<v1::SetLogLevelRequest, v1::SetLogLevelResponse> SetLogLevel;
AnswerMethod<v1::DrainRequest, v1::DrainResponse> Drain;

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_ADMIN_H_
