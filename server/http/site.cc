#include "server/http/site.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "server/page/page_files.h"

namespace dragoman {
namespace {

// Only resources of the same origin, nothing inline, and no embedding in other pages' frames.
constexpr char kPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

HttpHeaders HeadersOf(const PageFile& file) {
  // Revalidated each time, and answered 304 while unchanged: pages of a new server version must not
  // run the scripts of an old one.
  return {{"Cache-Control", "no-cache"},
          {"Content-Security-Policy", kPolicy},
          {"ETag", std::string(file.etag)},
          {"Referrer-Policy", "no-referrer"}};
}

HttpResponse FileOf(const HttpRequest& request) {
  const auto file =
      absl::c_find_if(PageFiles(), [&](const PageFile& one) { return one.path == request.path; });
  if (file == PageFiles().end()) return PlainTextBody(404, "no such page");
  if (request.Header("if-none-match") == file->etag) {
    return {.code = 304, .headers = HeadersOf(*file)};
  }
  return {.content_type = std::string(file->content_type),
          .body = std::string(file->contents),
          .headers = HeadersOf(*file)};
}

}  // namespace

void AddSite(std::function<std::string()> settings, HttpRouter* router) {
  const auto add = [router](const char* path, auto answer) {
    router->Add({.method = "GET",
                 .path = path,
                 .handler = AnswerAtOnce(std::move(answer)),
                 .error = PlainTextBody});
  };
  add("/page/settings.json", [settings = std::move(settings)](const HttpRequest&) {
    return HttpResponse{.content_type = "application/json",
                        .body = settings(),
                        .headers = {{"Cache-Control", "no-store"}}};
  });
  for (const char* path : {"/", "/status", "/api", "/page/**"}) add(path, FileOf);
}

}  // namespace dragoman
