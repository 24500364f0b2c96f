#include "server/http/router.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace dragoman
