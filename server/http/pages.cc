#include "server/http/pages.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace dragoman {
namespace {

constexpr char kPrometheusText[] = "text/plain; version=0.0.4; charset=utf-8";

HttpHandler StatePage(const char* state, std::function<absl::Status()> look) {
  return [state, look = std::move(look)](const HttpRequest&,
                                         const std::shared_ptr<HttpAnswer>& answer) {
    const absl::Status status = look();
    answer->Send(status.ok()
                     ? PlainTextBody(200, state)
                     : PlainTextBody(503, absl::StrCat("not ", state, ": ", status.message())));
  };
}

}  // namespace

void AddPages(HttpPages pages, HttpRouter* router) {
  const auto add = [router](const char* path, HttpHandler handler) {
    router->Add({.method = "GET",
                 .path = path,
                 .handler = std::move(handler),
                 .error = PlainTextBody,
                 .for_probes = true});
  };
  const auto text = [](const char* type, std::function<std::string()> body) -> HttpHandler {
    return [type, body = std::move(body)](const HttpRequest&,
                                          const std::shared_ptr<HttpAnswer>& answer) {
      answer->Send({.content_type = type, .body = body()});
    };
  };
  add("/metrics", text(kPrometheusText, std::move(pages.metrics)));
  add("/metrics/history", text("application/json", std::move(pages.history)));
  add("/healthz", StatePage("alive", std::move(pages.alive)));
  add("/readyz", StatePage("ready", std::move(pages.ready)));
}

}  // namespace dragoman
