#include "server/base/methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "server/api/methods.h"

namespace dragoman {
namespace {

TEST(Methods, AreThoseOfTheProtos) {
  EXPECT_THAT(ApiMethods(), testing::IsSupersetOf({"Translate", "GetModel", "CreateGlossary"}));
  EXPECT_THAT(ApiMethods(), testing::Not(testing::Contains("Drain")));
  EXPECT_THAT(AdminServiceMethods(), testing::IsSupersetOf({"ListModels", "Drain"}));
}

TEST(Methods, AreAllInTheTable) {
  std::vector<std::string> names = ApiMethods(), rows;
  for (const std::string& method : AdminServiceMethods()) names.push_back("AdminService/" + method);
  for (const Method& method : Methods()) rows.push_back(method.name);
  EXPECT_THAT(rows, testing::UnorderedElementsAreArray(names));
}

TEST(Methods, AreInTheDocs) {
  const auto text_of = [](const char* path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  const std::string rights = text_of("docs/rights.md"), http = text_of("docs/http.md");
  const std::string admin = text_of("docs/admin.md");
  for (const Method& method : Methods()) {
    const std::string name(AdminMethodOf(method.name).value_or(method.name));
    EXPECT_THAT(name == method.name ? rights : admin, testing::HasSubstr("`" + name + "`"));
    if (method.path == nullptr) continue;
    const std::string path(method.path);
    EXPECT_THAT(http, testing::HasSubstr(path.substr(0, path.find("/{"))));
  }
}

TEST(Methods, BelongToServices) {
  EXPECT_EQ(ServiceOf("Translate"), "dragoman.v1.TranslationService");
  EXPECT_EQ(ServiceOf("ListModels"), "dragoman.v1.ModelService");
  EXPECT_EQ(ServiceOf("GetGlossary"), "dragoman.v1.GlossaryService");
  EXPECT_EQ(ServiceOf("AdminService/ListModels"), "dragoman.v1.AdminService");
  EXPECT_EQ(ServiceOf("StreamCoreMetrics"), "xds.service.orca.v3.OpenRcaService");
  EXPECT_EQ(ServiceOf("BreakSentence"), "");
}

TEST(Methods, OfAdminServiceSaySo) {
  EXPECT_EQ(AdminMethodOf("AdminService/Drain"), "Drain");
  EXPECT_EQ(AdminMethodOf("ListModels"), std::nullopt);
}

}  // namespace
}  // namespace dragoman
