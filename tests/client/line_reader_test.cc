#include "client/line_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

namespace dragoman {
namespace {

class LineReaderTest : public ::testing::Test {
 protected:
  LineReaderTest() { EXPECT_EQ(pipe(ends_), 0); }
  ~LineReaderTest() override {
    close(ends_[0]);
    CloseWriter();
  }
  void Write(const std::string& bytes) {
    ASSERT_EQ(write(ends_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void CloseWriter() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  std::string Next(LineReader* reader) {
    const auto line = reader->Next();
    EXPECT_TRUE(line.ok()) << line.status();
    return line.ok() ? line->value_or("END") : "ERROR";
  }

  int ends_[2];
};

TEST_F(LineReaderTest, ReadsLinesOfAllEndings) {
  Write("one\ntwo\r\n\nthree");
  CloseWriter();
  LineReader reader(ends_[0], 100);
  EXPECT_EQ(Next(&reader), "one");
  EXPECT_EQ(Next(&reader), "two");
  EXPECT_EQ(Next(&reader), "");
  EXPECT_EQ(Next(&reader), "three");
  EXPECT_EQ(Next(&reader), "END");
  EXPECT_EQ(Next(&reader), "END");
}

TEST_F(LineReaderTest, KnowsWhetherReadingWouldBlock) {
  LineReader reader(ends_[0], 100);
  EXPECT_FALSE(reader.Ready());
  Write("one\ntwo\n");
  EXPECT_TRUE(reader.Ready());
  EXPECT_EQ(Next(&reader), "one");
  EXPECT_TRUE(reader.Ready());
  EXPECT_EQ(Next(&reader), "two");
  EXPECT_FALSE(reader.Ready());
  CloseWriter();
  EXPECT_TRUE(reader.Ready());
  EXPECT_EQ(Next(&reader), "END");
}

TEST_F(LineReaderTest, JoinsLinesThatArriveInParts) {
  LineReader reader(ends_[0], 100'000);
  std::thread writer([this] {
    for (int i = 0; i < 1000; ++i) Write("0123456789");
    Write("\n");
  });
  EXPECT_EQ(Next(&reader).size(), 10'000u);
  writer.join();
}

TEST_F(LineReaderTest, RefusesALineThatIsTooLong) {
  Write("short\n0123456789ab");
  LineReader reader(ends_[0], 10);
  EXPECT_EQ(Next(&reader), "short");
  const absl::Status status = reader.Next().status();
  EXPECT_EQ(status, absl::InvalidArgumentError("line 2 has more than 10 bytes"));
}

TEST_F(LineReaderTest, GoesOnAfterALineThatIsTooLong) {
  Write("0123456789ab\nshort\n" + std::string(100, 'x') + "\n" + std::string(100, 'y'));
  CloseWriter();
  LineReader reader(ends_[0], 10);
  EXPECT_EQ(reader.Next().status().message(), "line 1 has more than 10 bytes");
  EXPECT_EQ(Next(&reader), "short");
  EXPECT_EQ(reader.Next().status().message(), "line 3 has more than 10 bytes");
  EXPECT_EQ(reader.Next().status().message(), "line 4 has more than 10 bytes");
  EXPECT_EQ(Next(&reader), "END");
  EXPECT_EQ(reader.bytes(), 13 + 6 + 101 + 100);
}

TEST_F(LineReaderTest, ReportsReadErrors) {
  LineReader reader(/*fd=*/-1, 10);
  EXPECT_EQ(reader.Next().status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace dragoman
