#include "engine/base/mapped_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman {
namespace {

using ::testing::HasSubstr;

class MappedFileTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  const std::string path_ = ::testing::TempDir() + "mapped_file_test." + std::to_string(getpid());
};

TEST_F(MappedFileTest, HoldsTheBytesOfTheFile) {
  std::ofstream(path_) << std::string("a\0b", 3);
  const auto file = MappedFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  const absl::Span<const std::byte> bytes = (*file)->bytes();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
            std::string("a\0b", 3));
}

TEST_F(MappedFileTest, TheBytesOutliveTheNameOfTheFile) {
  std::ofstream(path_) << "abc";
  const auto file = MappedFile::Open(path_);
  std::filesystem::remove(path_);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(static_cast<char>((*file)->bytes()[2]), 'c');
}

TEST_F(MappedFileTest, AnEmptyFileHasNoBytes) {
  std::ofstream out(path_);
  const auto file = MappedFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE((*file)->bytes().empty());
}

TEST_F(MappedFileTest, AMissingFileIsNotFound) {
  for (const std::string& path : {path_, path_ + "/below"}) {
    const absl::Status status = MappedFile::Open(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(std::string(status.message()), HasSubstr(path));
  }
  std::ofstream(path_) << "a file, not a directory";
  EXPECT_EQ(MappedFile::Open(path_ + "/below").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(MappedFileTest, ForgottenPagesCanBeReadAgain) {
  const std::string content(20'000, 'x');
  std::ofstream(path_) << content;
  const auto file = MappedFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  const absl::Span<const std::byte> bytes = (*file)->bytes();
  const auto text = [&] {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  EXPECT_EQ(text(), content);
  for (const auto& [begin, size] : {std::pair(0, 20'000), {100, 9000}, {1, 1}, {0, 0}}) {
    (*file)->Forget(bytes.subspan(begin, size));
    EXPECT_EQ(text(), content);
  }
}

TEST_F(MappedFileTest, AFileThatIsCutShortReadsAsZerosAndSaysSo) {
  std::ofstream(path_) << std::string(20'000, 'x');
  const auto file = MappedFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE((*file)->whole().ok());
  std::filesystem::resize_file(path_, 4096);
  EXPECT_EQ((*file)->bytes()[100], std::byte{'x'});
  EXPECT_TRUE((*file)->whole().ok());
  EXPECT_EQ((*file)->bytes()[19'999], std::byte{0});
  EXPECT_EQ((*file)->whole().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string((*file)->whole().message()), testing::HasSubstr(path_));
}

TEST_F(MappedFileTest, AnythingButARegularFileIsRefusedAtOnce) {
  EXPECT_EQ(MappedFile::Open("/tmp").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(MappedFile::Open("/dev/zero").status().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);  // nobody writes to it: a plain open() would wait
  EXPECT_EQ(MappedFile::Open(path_).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace dragoman
