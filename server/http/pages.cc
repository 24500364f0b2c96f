#include "server/http/pages.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/http/gzip.h"

namespace dragoman {
namespace {

constexpr char kPrometheusText[] = "text/plain; version=0.0.4; charset=utf-8";

using Page = std::function<HttpResponse(const HttpRequest& request)>;

Page MetricsPage(std::function<std::string()> metrics) {
  return [metrics = std::move(metrics)](const HttpRequest& request) {
    HttpResponse response = {.content_type = kPrometheusText,
                             .body = metrics(),
                             .headers = {{"Vary", "Accept-Encoding"}}};
    if (AcceptsGzip(request.Header("accept-encoding"))) {
      response.body = Gzip(response.body);
      response.headers.emplace_back("Content-Encoding", "gzip");
    }
    return response;
  };
}

Page HistoryPage(std::function<std::string()> history) {
  return [history = std::move(history)](const HttpRequest&) {
    return HttpResponse{.content_type = "application/json", .body = history()};
  };
}

Page StatePage(const char* state, std::function<absl::Status()> look,
               std::function<std::string()> faults = nullptr) {
  return [state, look = std::move(look), faults = std::move(faults)](const HttpRequest&) {
    const absl::Status status = look();
    if (!status.ok()) {
      return PlainTextBody(503, absl::StrCat("not ", state, ": ", status.message()));
    }
    const std::string wrong = faults == nullptr ? "" : faults();
    return PlainTextBody(200, absl::StrCat(state, wrong.empty() ? "" : "\n", wrong));
  };
}

}  // namespace

void AddPages(HttpPages pages, HttpRouter* router) {
  const auto add = [router](const char* path, Page page) {
    router->Add({.method = "GET",
                 .path = path,
                 .handler = AnswerAtOnce(std::move(page)),
                 .error = PlainTextBody,
                 .for_probes = true});
  };
  if (pages.metrics != nullptr) add("/metrics", MetricsPage(std::move(pages.metrics)));
  add("/metrics/history", HistoryPage(std::move(pages.history)));
  add("/healthz", StatePage("alive", std::move(pages.alive)));
  add("/readyz", StatePage("ready", std::move(pages.ready), std::move(pages.faults)));
}

}  // namespace dragoman
