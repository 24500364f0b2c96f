#include "server/observe/vitals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

namespace dragoman {
namespace {

class VitalsTest : public testing::Test {
 protected:
  VitalsTest()
      : vitals_(
            {.interval = absl::Hours(1),
             .silence = [this] { return absl::Seconds(silence_.load()); },
             .port = [this] { return port_ ? absl::OkStatus() : absl::UnavailableError("shut"); },
             .on_alive =
                 [this](bool alive) {
                   alive_ = alive;
                   ++changes_;
                 }}) {}

  std::atomic<int> silence_ = 0;  // in seconds
  std::atomic<bool> port_ = true;
  std::atomic<bool> alive_ = true;
  std::atomic<int> changes_ = 0;
  Vitals vitals_;
};

TEST_F(VitalsTest, AWorkerThatIsSilentForLongMeansNotAlive) {
  EXPECT_TRUE(vitals_.alive().ok());
  EXPECT_TRUE(vitals_.well().ok());
  silence_ = 9;
  vitals_.Look();
  EXPECT_TRUE(vitals_.well().ok());
  silence_ = 29;
  vitals_.Look();
  EXPECT_TRUE(vitals_.alive().ok());
  EXPECT_THAT(std::string(vitals_.well().message()), testing::HasSubstr("no turn for 29 s"));
  silence_ = 30;
  vitals_.Look();
  EXPECT_FALSE(vitals_.alive().ok());
  EXPECT_FALSE(alive_);
  vitals_.Look();
  EXPECT_EQ(changes_, 1);
  silence_ = 0;
  vitals_.Look();
  EXPECT_TRUE(vitals_.alive().ok());
  EXPECT_TRUE(vitals_.well().ok());
  EXPECT_TRUE(alive_);
}

TEST_F(VitalsTest, APortThatDoesNotAnswerIsNotAReasonToRestart) {
  port_ = false;
  vitals_.Look();
  EXPECT_TRUE(vitals_.alive().ok());
  EXPECT_EQ(vitals_.well().message(), "shut");
  port_ = true;
  vitals_.Look();
  EXPECT_TRUE(vitals_.well().ok());
}

}  // namespace
}  // namespace dragoman
