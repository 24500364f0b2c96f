#include "server/auth/token_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "server/observe/logging.h"

namespace dragoman {
namespace {

using ::testing::HasSubstr;

constexpr char kShop[] = "shop-token-0123456789";
constexpr char kBlog[] = "blog-token-0123456789";

TEST(TokenTable, FindsThePrincipalOfATokenAndOfNothingElse) {
  const auto table = TokenTable::Parse(std::string("# two\n\n  shop\t") + kShop +
                                       "  # old\nblog@a.test " + kBlog + "\r\nshop " + kShop + "2");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->size(), 3u);
  EXPECT_EQ(table->Find(kShop), "shop");
  EXPECT_EQ(table->Find(kBlog), "blog@a.test");
  EXPECT_EQ(table->Find(std::string(kShop) + "2"), "shop");
  const std::string shop = kShop;
  for (const std::string& wrong : {std::string(), shop.substr(1), shop.substr(0, 20), shop + "3",
                                   shop + shop, std::string(shop.size(), '\0')}) {
    EXPECT_EQ(table->Find(wrong), std::nullopt) << wrong;
  }
}

TEST(TokenTable, GivesAPrincipalItsRights) {
  const auto table = TokenTable::Parse(
      std::string("shop ") + kShop + " quota=600 burst=50 models=en-de,de-en methods=Score\nshop " +
      kShop + "2\nblog " + kBlog + " beam=4 priority=batch texts=60 methods=none  # a minute\n" +
      "chief " + kBlog + "3 admin=all\nclerk " + kBlog + "4 admin=ListModels,Drain");
  ASSERT_TRUE(table.ok()) << table.status();
  const auto shop = table->RightsOf("shop"), blog = table->RightsOf("blog");
  ASSERT_NE(shop, nullptr);
  ASSERT_NE(blog, nullptr);
  EXPECT_EQ(*shop, (Rights{.models = Names{"de-en", "en-de"},
                           .methods = Names{"Score"},
                           .quota = {.per_minute = 600, .burst = 50}}));
  EXPECT_EQ(*blog, (Rights{.models = std::nullopt,
                           .methods = Names(),
                           .beam = 4,
                           .only_batch = true,
                           .texts_per_minute = 60}));
  EXPECT_EQ(table->RightsOf("press"), nullptr);
  EXPECT_EQ(table->RightsOf("chief")->admin, AdminMethods());
  EXPECT_EQ(table->RightsOf("clerk")->admin, (Names{"Drain", "ListModels"}));
}

TEST(TokenTable, NamesABadLineWithoutQuotingIt) {
  const std::string good = std::string("shop ") + kShop + "\n";
  const struct {
    std::string text;
    const char* message;
  } cases[] = {
      {"", "no token"},
      {"# shop\n\n", "no token"},
      {good + "blog\n", "line 2: want `principal token`"},
      {good + "blog " + kBlog + " sesame-sesame-sesame\n",
       "line 2: want `principal token [models=...] [methods=...]"},
      {good + "blog " + kBlog + " sesame-sesame=sesame\n", "line 2: want `principal token ["},
      {good + "blog " + kBlog + " beam\n", "line 2: beam: want 1 to 256"},
      {good + "blog " + kBlog + " beam=257\n", "line 2: beam: want 1 to 256"},
      {good + "blog " + kBlog + " models=en-de,\n", "line 2: models: want names"},
      {good + "blog " + kBlog + " methods=Translate,Sesame\n",
       "line 2: methods: want none, or some of Translate,TranslateStream"},
      {good + "blog " + kBlog + " priority=interactive\n", "line 2: priority: want batch"},
      {good + "blog " + kBlog + " texts=0\n", "line 2: texts: want a whole number of 1 or more"},
      {good + "blog " + kBlog + " admin=yes\n", "line 2: admin: want all, or some of ListModels,"},
      {good + "blog " + kBlog + " beam=2 beam=4\n", "line 2: beam is named twice"},
      {good + "bl\"og " + kBlog + "\n", "line 2: the principal"},
      {good + std::string(129, 'b') + " " + kBlog + "\n", "line 2: the principal"},
      {good + "blog sesame-sesame1\xff\n", "line 2: the token"},
      {good + "blog sesame\n", "line 2: the token"},
      {good + "blog\xC2\xA0 " + kBlog + "\n", "line 2: the principal"},
      {good + "blog\f " + kBlog + "\n", "line 2: it has a control character"},
      {good + "blog\v" + kBlog + "\n", "line 2: it has a control character"},
      {good + "bl\rog " + kBlog + "\n", "line 2: it has a control character"},
      {good + "blog " + kBlog + "\x7F\n", "line 2: it has a control character"},
      {good + "blog " + kBlog + " quota=0\n", "line 2: quota: want"},
      {good + "blog " + kBlog + " quota=1e3\n", "line 2: quota: want"},
      {good + "blog " + kBlog + " burst=5\n", "line 2: a burst without a quota"},
      {"shop " + std::string(kBlog) + " quota=5\nshop " + kShop + " quota=6\n",
       "line 2: another line"},
      {good + good, "line 2: the token is listed twice"},
  };
  for (const auto& test : cases) {
    const auto table = TokenTable::Parse(test.text);
    ASSERT_FALSE(table.ok()) << test.message;
    const std::string message(table.status().message());
    EXPECT_THAT(message, HasSubstr(test.message));
    EXPECT_THAT(message, testing::Not(testing::AnyOf(HasSubstr("sesame"), HasSubstr(kShop))));
  }
}

class TokenFileTest : public testing::Test {
 protected:
  TokenFileTest() { InitLogging({}, &log_); }
  ~TokenFileTest() override {
    InitLogging(LogOptions());
    std::remove(path_.c_str());
  }

  void Write(const std::string& text) {
    std::ofstream(path_ + ".new") << text;
    std::filesystem::rename(path_ + ".new", path_);
  }

  const std::string path_ =
      testing::TempDir() + "dragoman_token_file_test_" + std::to_string(getpid());
  std::ostringstream log_;
};

TEST_F(TokenFileTest, FollowsTheFileButKeepsTheOldTokensIfTheNewOnesAreBroken) {
  Write(std::string("shop ") + kShop);
  {
    FileWatcher watcher;
    const auto file = TokenFile::Open(path_, &watcher);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ((*file)->table()->Find(kShop), "shop");
    Write(std::string("blog ") + kBlog);
    watcher.Look();
    EXPECT_EQ((*file)->table()->Find(kBlog), "blog");
    EXPECT_EQ((*file)->table()->Find(kShop), std::nullopt);
    std::remove(path_.c_str());
    watcher.Look();
    EXPECT_EQ((*file)->table()->Find(kBlog), "blog");
  }
  EXPECT_THAT(log_.str(), HasSubstr("tokens reloaded"));
  EXPECT_THAT(log_.str(), HasSubstr("tokens not reloaded"));
  EXPECT_THAT(log_.str(), testing::Not(HasSubstr("token-0123456789")));
}

TEST_F(TokenFileTest, ThatIsNotThereIsAnErrorThatNamesIt) {
  FileWatcher watcher;
  const auto file = TokenFile::Open("/no/such/tokens", &watcher);
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("/no/such/tokens"));
}

}  // namespace
}  // namespace dragoman
