#include "server/auth/file_watcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/observe/logging.h"

namespace dragoman {
namespace {

// Two files that match if their contents are equal, as a key matches its certificate.
class FileWatcherTest : public testing::Test {
 protected:
  FileWatcherTest() {
    InitLogging({}, &log_);
    Write(a_, "1");
    Write(b_, "1");
  }
  ~FileWatcherTest() override {
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

  absl::Status Add(FileWatcher* watcher) {
    return watcher->Add({.what = "pair",
                         .paths = {a_, b_, ""},
                         .read = [this] { return Read(); },
                         .on_read =
                             [this](const absl::Status& status) {
                               if (!status.ok()) ++failures_;
                               absl::MutexLock lock(&mutex_);
                               ++calls_;
                             }});
  }

  // Waits until the files were read, or tried to be read, so many times.
  void AwaitCalls(int calls) {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(
        +[](std::pair<const int*, int>* wait) { return *wait->first >= wait->second; },
        std::make_unique<std::pair<const int*, int>>(&calls_, calls).get()));
  }

  const std::string a_ = testing::TempDir() + "dragoman_file_watcher_a_" + std::to_string(getpid());
  const std::string b_ = testing::TempDir() + "dragoman_file_watcher_b_" + std::to_string(getpid());
  const std::string b_text_ = "1";
  std::atomic<int> reads_ = 0;
  std::atomic<int> failures_ = 0;
  absl::Mutex mutex_;
  int calls_ ABSL_GUARDED_BY(mutex_) = 0;
  std::ostringstream log_;
};

TEST_F(FileWatcherTest, ReadsAtOnceAndThenOnlyWhatHasChanged) {
  FileWatcher watcher;
  ASSERT_TRUE(Add(&watcher).ok());
  EXPECT_EQ(reads_, 1);
  watcher.Look();
  EXPECT_EQ(reads_, 1);
  Write(b_, "1");
  watcher.Look();
  watcher.Look();
  EXPECT_EQ(reads_, 2);
  watcher.Look(/*all=*/true);
  EXPECT_EQ(reads_, 3);
  EXPECT_EQ(failures_, 0);
}

TEST_F(FileWatcherTest, LooksOnAThreadAndReadsAgainWhenAskedTo) {
  for (const absl::Duration interval : {absl::Milliseconds(1), absl::InfiniteDuration()}) {
    FileWatcher watcher;
    ASSERT_TRUE(Add(&watcher).ok());
    const int reads = reads_;
    watcher.Start(interval);
    if (interval == absl::InfiniteDuration()) watcher.ReadAgain();
    if (interval != absl::InfiniteDuration()) Write(b_, "1");
    AwaitCalls(reads + 1);
    EXPECT_EQ(reads_, reads + 1);
  }
}

TEST_F(FileWatcherTest, RetriesUntilTheFilesMatchAndLogsOnce) {
  FileWatcher watcher;
  ASSERT_TRUE(Add(&watcher).ok());
  Write(a_, "2");
  for (int i = 0; i < 3; ++i) watcher.Look();
  EXPECT_EQ(failures_, 3);
  EXPECT_EQ(reads_, 1);
  Write(b_, "2");
  for (int i = 0; i < 3; ++i) watcher.Look();
  EXPECT_EQ(reads_, 2);
  EXPECT_EQ(failures_, 3);
  const std::string log = log_.str();
  EXPECT_THAT(log, testing::HasSubstr("pair not reloaded: the old ones stay in use"));
  EXPECT_EQ(log.find("not reloaded"), log.rfind("not reloaded"));
  EXPECT_THAT(log, testing::HasSubstr("pair reloaded"));
}

TEST_F(FileWatcherTest, FilesThatChangeWhileBeingReadAreReadAgainWithoutAFailure) {
  FileWatcher watcher;
  ASSERT_TRUE(Add(&watcher).ok());
  Write(a_, "change");
  watcher.Look();
  EXPECT_EQ(reads_, 2);
  EXPECT_EQ(failures_, 0);
}

TEST_F(FileWatcherTest, SeesAChangeOfPermissions) {
  FileWatcher watcher;
  ASSERT_TRUE(Add(&watcher).ok());
  ASSERT_EQ(chmod(a_.c_str(), 0600), 0);
  watcher.Look();
  EXPECT_EQ(reads_, 2);
}

TEST_F(FileWatcherTest, WatchesUnreadableFilesThatMayBe) {
  Write(a_, "2");
  FileWatcher watcher;
  ASSERT_TRUE(watcher
                  .Add({.what = "pair",
                        .paths = {a_, b_},
                        .read = [this] { return Read(); },
                        .may_fail = true})
                  .ok());
  watcher.Look();
  EXPECT_EQ(reads_, 0);
  Write(b_, "2");
  watcher.Look();
  EXPECT_EQ(reads_, 1);
  const std::string log = log_.str();
  EXPECT_THAT(log, testing::HasSubstr("pair not all loaded"));
  EXPECT_THAT(log, testing::HasSubstr("they do not fit"));
  EXPECT_THAT(log, testing::Not(testing::HasSubstr("not reloaded")));
  EXPECT_THAT(log, testing::HasSubstr("pair reloaded"));
}

TEST_F(FileWatcherTest, DoesNotWatchUnreadableFiles) {
  Write(a_, "2");
  FileWatcher watcher;
  EXPECT_EQ(Add(&watcher).message(), "they do not fit");
  watcher.Look(/*all=*/true);
  EXPECT_EQ(failures_, 1);
}

}  // namespace
}  // namespace dragoman
