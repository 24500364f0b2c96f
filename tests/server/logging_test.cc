#include "server/logging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace dragoman {
namespace {

class LoggingTest : public testing::Test {
 protected:
  ~LoggingTest() override { InitLogging(LogOptions()); }

  std::ostringstream out_;
};

TEST_F(LoggingTest, TextIsKeysAndValues) {
  InitLogging({}, &out_);
  Log(LogLevel::kInfo, "request",
      {{"model", "en-de"}, {"texts", 3}, {"ms", 1.5}, {"path", "a b=\"c\"\n"}, {"none", ""}});
  EXPECT_THAT(out_.str(), testing::MatchesRegex(
                              "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}Z info request model=en-de "
                              "texts=3 ms=1.500 path=\"a b=.\"c.\".n\"\n"));
}

TEST_F(LoggingTest, JsonIsAnObjectPerLine) {
  InitLogging({.level = "info", .format = "json"}, &out_);
  Log(LogLevel::kWarning, "odd \"event\"", {{"model", "bad\xff\n"}, {"texts", 3}, {"ms", 1.5}});
  const nlohmann::json line = nlohmann::json::parse(out_.str());
  EXPECT_EQ(line.at("level"), "warning");
  EXPECT_EQ(line.at("event"), "odd \"event\"");
  EXPECT_EQ(line.at("model"), "bad\xef\xbf\xbd\n");
  EXPECT_EQ(line.at("texts"), 3);
  EXPECT_EQ(line.at("ms"), 1.5);
  EXPECT_EQ(line.at("time").get<std::string>().size(), 24u);
}

TEST_F(LoggingTest, LevelsBelowTheChosenOneAreSilent) {
  InitLogging({.level = "warn", .format = "text"}, &out_);
  Log(LogLevel::kInfo, "hidden");
  EXPECT_EQ(out_.str(), "");
  Log(LogLevel::kWarning, "seen");
  EXPECT_THAT(out_.str(), testing::HasSubstr("seen"));
}

}  // namespace
}  // namespace dragoman
