#include "server/base/spool.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace dragoman {
namespace {

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A share of more than any test takes.
Share Any() {
  static SharedBudget budget("files", size_t{1} << 30);
  return *budget.Take("", 0);
}

TEST(Spool, TakesItsBytesFromItsShareAsLongAsItLives) {
  SharedBudget budget("files", 20);
  auto spool = Spool::New(0, *budget.Take("", 0));
  ASSERT_TRUE(spool.ok()) << spool.status();
  EXPECT_TRUE((*spool)->Append("0123456789").ok());
  EXPECT_EQ(budget.Stats().used, 10u);
  EXPECT_EQ((*spool)->Append("0").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ((*spool)->size(), 10u);
  spool->reset();
  EXPECT_EQ(budget.Stats().used, 0u);
}

TEST(Spool, FewBytesStayInMemoryAndManyGoToDisk) {
  auto spool = Spool::New(0, Any());
  ASSERT_TRUE(spool.ok()) << spool.status();
  std::string want;
  for (int i = 0; (*spool)->in_memory(); ++i) {
    ASSERT_EQ(Content((*spool)->path()), want);
    const std::string piece(1 << 20, static_cast<char>('a' + i));
    ASSERT_TRUE((*spool)->Append(piece).ok());
    want += piece;
    ASSERT_EQ((*spool)->in_memory(), want.size() <= Spool::kInMemory);
  }
  EXPECT_EQ((*spool)->size(), want.size());
  EXPECT_EQ(Content((*spool)->path()), want);
  EXPECT_EQ(*(*spool)->Read(5, 10), want.substr(5, 10));
  EXPECT_EQ(*(*spool)->Read(want.size() - 3, 10), want.substr(want.size() - 3));
  EXPECT_EQ(*(*spool)->Read(want.size() + 3, 10), "");
}

TEST(Spool, LeavesNoFileBehind) {
  const std::filesystem::path directory =
      std::filesystem::path(::testing::TempDir()) / "spool_test";
  std::filesystem::create_directories(directory);
  const char* const before = std::getenv("TMPDIR");
  const std::string saved = before == nullptr ? "" : before;
  setenv("TMPDIR", directory.c_str(), 1);
  auto spool = Spool::New(Spool::kInMemory + 1, Any());
  saved.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", saved.c_str(), 1);
  ASSERT_TRUE(spool.ok()) << spool.status();
  EXPECT_FALSE((*spool)->in_memory());
  std::ofstream((*spool)->path(), std::ios::trunc) << "written by another";
  EXPECT_EQ(*(*spool)->Read(0, 100), "written by another");
  EXPECT_TRUE(std::filesystem::is_empty(directory));
  std::filesystem::remove_all(directory);
}

TEST(Spool, SaysWhereItCannotKeepThem) {
  const char* const before = std::getenv("TMPDIR");
  const std::string saved = before == nullptr ? "" : before;
  setenv("TMPDIR", "/no such directory", 1);
  const absl::Status status = Spool::New(Spool::kInMemory + 1, Any()).status();
  saved.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", saved.c_str(), 1);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("/no such directory"), absl::string_view::npos);
}

}  // namespace
}  // namespace dragoman
