#include "server/http/site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/page/page_files.h"

namespace dragoman::site_test {
namespace {

using ::testing::HasSubstr;

class KeptAnswer : public HttpAnswer {
 public:
  void Send(HttpResponse response) override { response_ = std::move(response); }
  void Begin(HttpResponse) override {}
  void Write(std::string, std::function<void()>) override {}
  void End() override {}
  void OnGone(std::function<void()>) override {}

  HttpResponse response_ = {.code = 0};
};

HttpResponse Get(const std::string& path, HttpHeaders headers = {}) {
  HttpRouter router;
  AddSite([] { return "{\"maxCharacters\": 7}"; }, &router);
  HttpRequest request = {.method = "GET", .path = path, .headers = std::move(headers)};
  const HttpRouter::Match match = router.Find(request);
  if (match.route == nullptr) return *match.refusal;
  const auto answer = std::make_shared<KeptAnswer>();
  match.route->handler(std::move(request), answer);
  return answer->response_;
}

std::string HeaderOf(const HttpResponse& response, const std::string& name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

TEST(Site, ServesEveryFileUnderAPolicy) {
  for (const PageFile& file : PageFiles()) {
    const HttpResponse response = Get(std::string(file.path));
    EXPECT_EQ(response.code, 200) << file.path;
    EXPECT_EQ(response.body, file.contents) << file.path;
    EXPECT_EQ(response.content_type, file.content_type);
    EXPECT_THAT(HeaderOf(response, "Content-Security-Policy"), HasSubstr("default-src 'none'"));
  }
  EXPECT_THAT(Get("/").body, HasSubstr("<textarea"));
  EXPECT_THAT(Get("/status").body, HasSubstr("Dragoman: status"));
  EXPECT_THAT(Get("/api").body, HasSubstr("Dragoman: API"));
}

TEST(Site, TellsThePagesWhatTheServerAllows) {
  const HttpResponse response = Get("/page/settings.json");
  EXPECT_EQ(response.body, "{\"maxCharacters\": 7}");
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(HeaderOf(response, "Cache-Control"), "no-store");
}

TEST(Site, SendsNothingThatTheBrowserHasCached) {
  const HttpResponse first = Get("/");
  const HttpResponse again = Get("/", {{"if-none-match", HeaderOf(first, "ETag")}});
  EXPECT_EQ(again.code, 304);
  EXPECT_TRUE(again.body.empty());
  EXPECT_EQ(Get("/", {{"if-none-match", "\"old\""}}).code, 200);
}

TEST(Site, HasNoOtherFiles) {
  for (const char* path :
       {"/page/", "/page/none.js", "/page/../server.cc", "/page/index.html", "/index.html"}) {
    EXPECT_EQ(Get(path).code, 404) << path;
  }
}

}  // namespace
}  // namespace dragoman::site_test
