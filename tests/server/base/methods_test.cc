#include "server/base/methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dragoman {
namespace {

TEST(Methods, AreThoseOfTheProtos) {
  EXPECT_THAT(ApiMethods(), testing::IsSupersetOf({"Translate", "GetModel", "CreateGlossary"}));
  EXPECT_THAT(ApiMethods(), testing::Not(testing::Contains("Drain")));
  EXPECT_THAT(AdminServiceMethods(), testing::IsSupersetOf({"ListModels", "Drain"}));
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
