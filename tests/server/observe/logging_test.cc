#include "server/observe/logging.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/time/clock.h"

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

TEST_F(LoggingTest, PrintedLinesHaveTheFormatOfTheLogAtAnyLevel) {
  std::ostringstream printed;
  InitLogging({.level = "off", .format = "text"}, &out_);
  Print(&printed, "listening", {{"grpc", "127.0.0.1:1"}, {"http", "127.0.0.1:2"}});
  EXPECT_EQ(printed.str(), "listening grpc=127.0.0.1:1 http=127.0.0.1:2\n");
  printed.str("");
  InitLogging({.level = "off", .format = "json"}, &out_);
  Print(&printed, "listening", {{"grpc", "127.0.0.1:1"}});
  const nlohmann::json line = nlohmann::json::parse(printed.str());
  EXPECT_EQ(line.at("event"), "listening");
  EXPECT_EQ(line.at("grpc"), "127.0.0.1:1");
  EXPECT_EQ(line.at("level"), "info");
  EXPECT_EQ(line.at("time").get<std::string>().size(), 24u);
  EXPECT_EQ(out_.str(), "");
}

TEST_F(LoggingTest, LevelsBelowTheChosenOneAreSilent) {
  InitLogging({.level = "warn", .format = "text"}, &out_);
  Log(LogLevel::kInfo, "hidden");
  EXPECT_EQ(out_.str(), "");
  Log(LogLevel::kWarning, "seen");
  EXPECT_THAT(out_.str(), testing::HasSubstr("seen"));
}

TEST_F(LoggingTest, LevelAndFormatChangeForLaterLines) {
  InitLogging({.level = "warn", .format = "text"}, &out_);
  Log(LogLevel::kInfo, "hidden");
  ChangeLogging({.level = "info", .format = "json"});
  Log(LogLevel::kInfo, "seen");
  EXPECT_EQ(nlohmann::json::parse(out_.str()).at("event"), "seen");
}

// Reads what is in a pipe, without waiting for more.
std::string ReadPipe(int fd) {
  std::string text;
  char buffer[1 << 16];
  fcntl(fd, F_SETFL, O_NONBLOCK);
  for (ssize_t n; (n = read(fd, buffer, sizeof(buffer))) > 0;) text.append(buffer, n);
  return text;
}

TEST_F(LoggingTest, NobodyWaitsForAReaderThatStalls) {
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  InitLogging(LogOptions(), pipe_fds[1]);
  const int64_t before = LogLinesDropped();
  constexpr int kLines = 20'000;  // a pipe holds 64 KiB
  for (int i = 0; i < kLines; ++i) Log(LogLevel::kInfo, "request", {{"number", i}});
  const int64_t dropped = LogLinesDropped() - before;
  EXPECT_GT(dropped, kLines / 2);
  const absl::Time start = absl::Now();
  FlushLog(absl::Milliseconds(50));
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));

  std::string text;
  while (text.find("number=19999\n") == std::string::npos) text += ReadPipe(pipe_fds[0]);
  FlushLog(absl::Seconds(10));
  text += ReadPipe(pipe_fds[0]);
  EXPECT_NE(text.find("warning log lines dropped lines="), std::string::npos);
  // Each line was either written or counted as dropped.
  const auto requests = [&] {
    int count = 0;
    for (size_t at = 0; (at = text.find(" request number=", at)) != std::string::npos; ++at) {
      ++count;
    }
    return count;
  };
  EXPECT_EQ(requests() + LogLinesDropped() - before, kLines);
  InitLogging(LogOptions());
  close(pipe_fds[0]);
  close(pipe_fds[1]);
}

TEST_F(LoggingTest, LinesThatComeTogetherAreWrittenTogether) {
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC | O_DIRECT | O_NONBLOCK), 0);  // a read takes what one wrote
  InitLogging(LogOptions(), pipe_fds[1]);
  constexpr int kLines = 200;
  for (int i = 0; i < kLines; ++i) Log(LogLevel::kInfo, "request", {{"number", i}});
  FlushLog(absl::Seconds(10));
  std::string text;
  int reads = 0;
  char buffer[1 << 16];
  for (ssize_t n; (n = read(pipe_fds[0], buffer, sizeof(buffer))) > 0; ++reads) {
    text.append(buffer, n);
  }
  EXPECT_NE(text.find("request number=0\n"), std::string::npos);
  EXPECT_NE(text.find("request number=199\n"), std::string::npos);
  EXPECT_GE(std::count(text.begin(), text.end(), '\n'), kLines);  // one may tell of earlier losses
  EXPECT_LT(reads, kLines / 4);
  InitLogging(LogOptions());
  close(pipe_fds[0]);
  close(pipe_fds[1]);
}

TEST_F(LoggingTest, LinesThatWaitKeepTheFormatThatTheyWereWrittenFor) {
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  InitLogging({.level = "info", .format = "text"}, pipe_fds[1]);
  for (int i = 0; i < 100; ++i) Log(LogLevel::kInfo, "early");
  ChangeLogging({.level = "info", .format = "json"});
  for (int i = 0; i < 100; ++i) Log(LogLevel::kInfo, "late");
  FlushLog(absl::Seconds(10));
  InitLogging(LogOptions());  // writes what is left
  std::istringstream lines(ReadPipe(pipe_fds[0]));
  int early = 0, late = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.front() == '{') {
      late += nlohmann::json::parse(line).at("event") == "late";
    } else {
      early += line.ends_with(" info early");
    }
  }
  EXPECT_EQ(early, 100);
  EXPECT_EQ(late, 100);
  close(pipe_fds[0]);
  close(pipe_fds[1]);
}

TEST_F(LoggingTest, AReaderThatWentAwayIsCountedAndHarmsNobody) {
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  close(pipe_fds[0]);
  signal(SIGPIPE, SIG_IGN);
  InitLogging(LogOptions(), pipe_fds[1]);
  const int64_t before = LogLinesDropped();
  for (int i = 0; i < 10; ++i) Log(LogLevel::kInfo, "request");
  FlushLog(absl::Seconds(10));
  EXPECT_GE(LogLinesDropped() - before, 10);
  InitLogging(LogOptions());
  close(pipe_fds[1]);
}

}  // namespace
}  // namespace dragoman
