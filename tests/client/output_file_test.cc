#include "client/output_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <iterator>

namespace dragoman {
namespace {

class OutputFileTest : public ::testing::Test {
 protected:
  void SetUp() override { std::remove(path_.c_str()); }
  void TearDown() override { std::remove(path_.c_str()); }
  void Write(const std::string& content) { std::ofstream(path_, std::ios::binary) << content; }
  std::string Content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  const std::string path_ = ::testing::TempDir() + "/output_file_test.txt";
};

TEST_F(OutputFileTest, CreatesAFile) {
  absl::StatusOr<OutputFile> output = ResumeOutputFile(path_);
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(output->lines, 0);
  *output->stream << "a\n" << std::flush;
  EXPECT_EQ(Content(), "a\n");
}

TEST_F(OutputFileTest, ContinuesAfterTheLastWholeLine) {
  for (const auto& [before, lines] : {std::pair{"", 0}, {"a\n\nb\n", 3}}) {
    for (const char* torn : {"", "half", "x\r"}) {
      Write(std::string(before) + torn);
      absl::StatusOr<OutputFile> output = ResumeOutputFile(path_);
      ASSERT_TRUE(output.ok()) << output.status();
      EXPECT_EQ(output->lines, lines);
      *output->stream << "c\n" << std::flush;
      EXPECT_EQ(Content(), std::string(before) + "c\n");
    }
  }
}

TEST_F(OutputFileTest, ReadsBeyondOneChunk) {
  std::string content;
  for (int i = 0; i < 400000; ++i) content += std::to_string(i) + "\n";
  Write(content + "torn");
  absl::StatusOr<OutputFile> output = ResumeOutputFile(path_);
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(output->lines, 400000);
  EXPECT_EQ(Content(), content);
}

TEST_F(OutputFileTest, NamesAFileThatCannotBeWritten) {
  const absl::Status status = ResumeOutputFile("/no/such/directory/file").status();
  EXPECT_EQ(status.message(), "/no/such/directory/file: No such file or directory");
}

TEST_F(OutputFileTest, RefusesWhatHasNoEnd) {
  EXPECT_EQ(ResumeOutputFile("/dev/full").status().message(), "/dev/full: is not a file");
  EXPECT_EQ(ResumeOutputFile("/tmp").status().message(), "/tmp: is not a file");
}

}  // namespace
}  // namespace dragoman
