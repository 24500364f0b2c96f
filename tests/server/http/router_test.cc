#include "server/http/router.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "server/compat/compat.h"
#include "server/http/api.h"
#include "server/http/document_api.h"
#include "server/http/openapi.h"
#include "server/http/pages.h"
#include "server/http/site.h"
#include "server/http/stream_api.h"

namespace dragoman {
namespace {

HttpRequest Get(const std::string& path, const std::string& query = "") {
  return {.method = "GET", .path = path, .query = query};
}

TEST(HttpRouter, AParameterOfTheQueryDecides) {
  HttpRouter router;
  router.Add({.method = "GET", .path = "/list", .parameter = "version"});
  router.Add({.method = "GET", .path = "/list"});
  router.Add({.method = "POST", .path = "/new", .parameter = "version"});
  EXPECT_EQ(router.Find(Get("/list", "a=1&version=")).route, &router.routes()[0]);
  EXPECT_EQ(router.Find(Get("/list", "ver%73ion=3")).route, &router.routes()[0]);
  EXPECT_EQ(router.Find(Get("/list", "a=version&versions=3")).route, &router.routes()[1]);
  EXPECT_EQ(router.Find(Get("/list")).route, &router.routes()[1]);
  EXPECT_EQ(router.Find(Get("/new", "version=3")).refusal->code, 405);
  EXPECT_EQ(router.Find(Get("/new")).refusal->code, 404);
}

TEST(HttpRouter, OneStarIsOneSegmentAndTwoAreTheRest) {
  HttpRouter router;
  router.Add({.method = "GET", .path = "/ids/*"});
  router.Add({.method = "GET", .path = "/ids/*/parts"});
  router.Add({.method = "GET", .path = "/ids/*/parts/*"});
  router.Add({.method = "GET", .path = "/names/**:say"});
  router.Add({.method = "GET", .path = "/names/**"});
  for (const auto& [path, pattern] : {std::pair("/ids/a", "/ids/*"),
                                      {"/ids/parts", "/ids/*"},
                                      {"/ids/a/parts", "/ids/*/parts"},
                                      {"/ids/a/parts/b", "/ids/*/parts/*"},
                                      {"/names/a", "/names/**"},
                                      {"/names/a/b", "/names/**"},
                                      {"/names/:say", "/names/**"},
                                      {"/names/a/b:say", "/names/**:say"}}) {
    const HttpRouter::Match match = router.Find(Get(path));
    ASSERT_NE(match.route, nullptr) << path;
    EXPECT_EQ(match.route->path, pattern) << path;
  }
  for (const char* path : {"/ids", "/ids/", "/ids/a/", "/ids/a/b", "/ids//parts", "/ids/a/b/parts",
                           "/ids/a/parts/b/c", "/names", "/names/"}) {
    ASSERT_TRUE(router.Find(Get(path)).refusal.has_value()) << path;
    EXPECT_EQ(router.Find(Get(path)).refusal->code, 404) << path;
  }
}

// ---- Everything that the HTTP port serves ------------------------------------------------------

HttpRouter WholeRouter() {
  HttpRouter router;
  AddPages({.metrics = [] { return std::string(); }}, &router);
  AddApi({}, &router);
  AddStreamApi({}, &router);
  AddDocumentApi({}, &router);
  AddOpenApi(&router);
  AddSite(nullptr, &router);
  AddCompat({kCompatNames.begin(), kCompatNames.end()}, {}, &router);
  return router;
}

using Methods = std::set<std::string>;

// What Allow lists; fails the test if it lists a method twice.
Methods AllowedBy(const HttpResponse& response) {
  Methods methods;
  for (const auto& [name, value] : response.headers) {
    if (name != "Allow") continue;
    for (const absl::string_view method : absl::StrSplit(value, ", ")) {
      EXPECT_TRUE(methods.insert(std::string(method)).second) << value;
    }
  }
  return methods;
}

// The methods that the routes with this path have, given this query.
Methods MethodsOf(const HttpRouter& router, const std::string& pattern, const std::string& query) {
  Methods methods = {"OPTIONS"};
  for (const HttpRoute& route : router.routes()) {
    if (route.path != pattern || (query.empty() && !route.parameter.empty())) continue;
    methods.insert(route.method);
    if (route.method == "GET") methods.insert("HEAD");
  }
  return methods;
}

TEST(HttpRouter, EachPathOfTheServerHasItsOwnMethodsAndNoOther) {
  const HttpRouter router = WholeRouter();
  const std::vector<std::pair<std::string, std::string>> names = {{"**", "a"}, {"*", "a"}};
  const std::vector<std::pair<std::string, std::string>> longer = {{"**", "a/b"}, {"*", "a-b.c"}};
  for (const HttpRoute& route : router.routes()) {
    for (const auto& [query, stars] :
         {std::pair("", names), {"", longer}, {"api-version=3.0", names}}) {
      if (!route.parameter.empty() && std::string_view(query).empty()) continue;
      HttpRequest request = Get(absl::StrReplaceAll(route.path, stars), query);
      const Methods methods = MethodsOf(router, route.path, query);
      for (const char* method :
           {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"}) {
        SCOPED_TRACE(std::string(method) + " " + request.path + "?" + query);
        request.method = method;
        const HttpRouter::Match match = router.Find(request);
        if (methods.contains(method) && request.method != "OPTIONS") {
          ASSERT_NE(match.route, nullptr);
          EXPECT_EQ(match.route->path, route.path);
          EXPECT_EQ(match.route->method, request.method == "HEAD" ? "GET" : request.method);
          continue;
        }
        ASSERT_TRUE(match.refusal.has_value());
        EXPECT_EQ(match.refusal->code, request.method == "OPTIONS" ? 204 : 405);
        EXPECT_EQ(AllowedBy(*match.refusal), methods);
      }
    }
  }
}

TEST(HttpRouter, NoMethodOfAShorterPathIsReached) {
  const HttpRouter router = WholeRouter();
  const Methods reads = {"GET", "HEAD", "OPTIONS"};
  for (const auto& [method, path, allowed] :
       {std::tuple<const char*, const char*, Methods>{"DELETE", "/v1/glossaries/id/entries", reads},
        {"PUT", "/v1/glossaries/id/entries", reads},
        {"DELETE", "/v1/memories/id/segments", {"GET", "HEAD", "POST", "OPTIONS"}},
        {"DELETE", "/v2/glossaries/id/entries", reads},
        {"DELETE", "/v3/glossaries/id/entries", reads},
        {"PATCH", "/v3/glossaries/id/dictionaries", {"PUT", "DELETE", "OPTIONS"}},
        {"PUT", "/v2/translate", {"GET", "HEAD", "POST", "OPTIONS"}},
        {"GET", "/v3/projects/p:translateDocument", {"POST", "OPTIONS"}},
        {"GET", "/v3/projects/p/locations/l:translateText", {"POST", "OPTIONS"}}}) {
    HttpRequest request = Get(path);
    request.method = method;
    const HttpRouter::Match match = router.Find(request);
    ASSERT_TRUE(match.refusal.has_value()) << method << " " << path;
    EXPECT_EQ(match.refusal->code, 405) << method << " " << path;
    EXPECT_EQ(AllowedBy(*match.refusal), allowed) << method << " " << path;
  }
}

}  // namespace
}  // namespace dragoman
