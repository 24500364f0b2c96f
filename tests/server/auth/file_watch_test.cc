#include "server/auth/file_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/time/clock.h"
#include "server/observe/logging.h"

namespace dragoman {
namespace {

// Two files that match if their contents are equal, as a key matches its certificate.
class FileWatchTest : public testing::Test {
 protected:
  FileWatchTest() {
    InitLogging({}, &log_);
    Write(a_, "1");
    Write(b_, "1");
  }
  ~FileWatchTest() override {
    InitLogging(LogOptions());
    std::filesystem::remove(a_);
    std::filesystem::remove(b_);
  }

  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path + ".new") << text;
    std::filesystem::rename(path + ".new", path);
  }

  static std::string TextOf(const std::string& path) {
    std::string text;
    std::ifstream(path) >> text;
    return text;
  }

  absl::Status Read() {
    const std::string a = TextOf(a_);
    if (a == "change") Write(a_, b_text_);  // the file changes while it is being read
    const std::string b = TextOf(b_);
    if (a != b || a.empty()) return absl::InvalidArgumentError("they do not fit");
    ++reads_;
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<FileWatch>> Start() {
    return FileWatch::Start(
        "pair", {a_, b_, ""}, [this] { return Read(); },
        {.interval = absl::Milliseconds(5), .on_read = [this](const absl::Status& status) {
           if (!status.ok()) ++failures_;
         }});
  }

  template <typename Condition>
  static void Await(Condition condition) {
    const absl::Time end = absl::Now() + absl::Seconds(10);
    while (!condition() && absl::Now() < end) absl::SleepFor(absl::Milliseconds(1));
    EXPECT_TRUE(condition());
  }

  const std::string a_ = testing::TempDir() + "dragoman_file_watch_a_" + std::to_string(getpid());
  const std::string b_ = testing::TempDir() + "dragoman_file_watch_b_" + std::to_string(getpid());
  const std::string b_text_ = "1";
  std::atomic<int> reads_ = 0;
  std::atomic<int> failures_ = 0;
  std::ostringstream log_;
};

TEST_F(FileWatchTest, ReadsAgainWhenAskedTo) {
  const auto watch = Start();
  ASSERT_TRUE(watch.ok()) << watch.status();
  (*watch)->ReadAgain();
  Await([this] { return reads_ == 2; });
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(reads_, 2);
}

TEST_F(FileWatchTest, ReadsAtOnceAndThenOnlyWhatHasChanged) {
  const auto watch = Start();
  ASSERT_TRUE(watch.ok()) << watch.status();
  EXPECT_EQ(reads_, 1);
  absl::SleepFor(absl::Milliseconds(50));
  EXPECT_EQ(reads_, 1);
  Write(b_, "1");
  Await([&] { return reads_ == 2; });
  EXPECT_EQ(failures_, 0);
}

TEST_F(FileWatchTest, RetriesUntilTheFilesMatchAndLogsOnce) {
  {
    const auto watch = Start();
    ASSERT_TRUE(watch.ok()) << watch.status();
    Write(a_, "2");
    Await([&] { return failures_ >= 3; });
    EXPECT_EQ(reads_, 1);
    Write(b_, "2");
    Await([&] { return reads_ == 2; });
    const int failures = failures_;
    absl::SleepFor(absl::Milliseconds(50));
    EXPECT_EQ(failures_, failures);
  }
  const std::string log = log_.str();
  EXPECT_THAT(log, testing::HasSubstr("pair not reloaded: the old ones stay in use"));
  EXPECT_EQ(log.find("not reloaded"), log.rfind("not reloaded"));
  EXPECT_THAT(log, testing::HasSubstr("pair reloaded"));
}

TEST_F(FileWatchTest, FilesThatChangeWhileBeingReadAreReadAgainWithoutAFailure) {
  const auto watch = Start();
  ASSERT_TRUE(watch.ok()) << watch.status();
  Write(a_, "change");
  Await([&] { return reads_ == 2; });
  EXPECT_EQ(failures_, 0);
}

TEST_F(FileWatchTest, SeesAChangeOfPermissions) {
  const auto watch = Start();
  ASSERT_TRUE(watch.ok()) << watch.status();
  ASSERT_EQ(chmod(a_.c_str(), 0600), 0);
  Await([&] { return reads_ == 2; });
}

TEST_F(FileWatchTest, DoesNotStartWithUnreadableFiles) {
  Write(a_, "2");
  const auto watch = Start();
  ASSERT_FALSE(watch.ok());
  EXPECT_EQ(watch.status().message(), "they do not fit");
}

}  // namespace
}  // namespace dragoman
