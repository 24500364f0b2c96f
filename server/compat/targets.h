// The translation of texts into several languages, as one answer: a translation call for each
// language, all at the same time.
//
// If one of them fails, its error is that of the whole, and the others are cancelled, as they all
// are if the caller goes away.

#ifndef DRAGOMAN_SERVER_COMPAT_TARGETS_H_
#define DRAGOMAN_SERVER_COMPAT_TARGETS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/call.h"
#include "server/http/api_context.h"
#include "server/http/message.h"

namespace dragoman {

// One response for each request, in their order; none after an error.
using RenderTargets = std::function<HttpResponse(
    const CallEnd& end, const std::vector<v1::TranslateResponse>& responses)>;

// As TranslateOverHttp (api_context.h).  `read` returns at least one request.
void TranslateToTargets(const ApiContext& context, const char* api, const HttpRequest& http,
                        std::shared_ptr<HttpAnswer> answer,
                        absl::FunctionRef<absl::StatusOr<std::vector<v1::TranslateRequest>>()> read,
                        RenderTargets render);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_COMPAT_TARGETS_H_
