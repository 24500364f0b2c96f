#include "engine/base/packed_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "engine/base/whole_files.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

class PackedFileTest : public testing::Test {
 protected:
  PackedFileTest()
      : root_(fs::path(testing::TempDir()) / ("dragoman_packed_" + std::to_string(getpid()))),
        path_(root_ / "model.packed") {
    fs::create_directories(root_);
  }
  ~PackedFileTest() override { fs::remove_all(root_); }

  void Write(const std::string& key) const {
    auto writer = PackedFileWriter::Create(path_, key);
    ASSERT_TRUE(writer.ok()) << writer.status();
    const std::string one = "one", two = "two";
    const auto bytes = [](const std::string& text) { return BytesOf(absl::MakeConstSpan(text)); };
    (*writer)->Add("a", {bytes(one), bytes(two)});
    (*writer)->Add("b", {bytes(two)});
    (*writer)->Add("b", {bytes(one)});  // is there already
    EXPECT_FALSE(fs::exists(path_));
    ASSERT_TRUE((*writer)->Finish("noted").ok());
  }
  std::string Content() const {
    std::ostringstream content;
    content << std::ifstream(path_, std::ios::binary).rdbuf();
    return content.str();
  }
  void Replace(const std::string& content) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << content;
  }
  static std::string TextOf(absl::Span<const std::byte> bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  const fs::path root_;
  const std::string path_;
};

TEST_F(PackedFileTest, GivesBackWhatWasWritten) {
  Write("key");
  const auto file = PackedFile::Open(path_, "key");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->note(), "noted");
  EXPECT_EQ(TextOf(file->Find("a")), "onetwo");
  EXPECT_EQ(TextOf(file->Find("b")), "two");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(file->Find("b").data()) % PackedFile::kAlignment, 0u);
  EXPECT_TRUE(file->Find("c").empty());
}

TEST_F(PackedFileTest, AnotherKeyIsNoFile) {
  EXPECT_EQ(PackedFile::Open(path_, "key"), nullptr);
  Write("key");
  EXPECT_EQ(PackedFile::Open(path_, "other"), nullptr);
}

TEST_F(PackedFileTest, AFileThatIsCutOrChangedAnywhereIsNoFile) {
  Write("key");
  const std::string whole = Content();
  for (size_t size = 0; size < whole.size(); ++size) {
    Replace(whole.substr(0, size));
    EXPECT_EQ(PackedFile::Open(path_, "key"), nullptr) << size;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    Replace(changed);
    EXPECT_EQ(PackedFile::Open(path_, "key"), nullptr) << at;
  }
  Replace(whole);
  EXPECT_NE(PackedFile::Open(path_, "key"), nullptr);
}

TEST_F(PackedFileTest, AFileThatWasWholeIsReadAgainAfterEachChange) {
  Write("key");
  const std::string whole = Content();
  for (size_t at = 0; at < whole.size(); ++at) {
    ASSERT_NE(PackedFile::Open(path_, "key"), nullptr);
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    const std::string other = path_ + ".other";  // another file: its times may be the same
    std::ofstream(other, std::ios::binary) << changed;
    fs::rename(other, path_);
    EXPECT_EQ(PackedFile::Open(path_, "key"), nullptr) << at;
    std::ofstream(other, std::ios::binary) << whole;
    fs::rename(other, path_);
  }
}

TEST(WholeFilesTest, AVersionIsRememberedOnceItIsNotNew) {
  WholeFiles files;
  const FileVersion version = {.inode = 1, .size = 2, .modified = {100, 0}, .changed = {200, 5}};
  const auto at = [](int64_t seconds) { return absl::FromUnixSeconds(seconds); };
  files.Remember("a", version, at(201));  // it may be written once more in this moment
  EXPECT_FALSE(files.Has("a", version));
  files.Remember("a", version, at(202));
  EXPECT_TRUE(files.Has("a", version));
  EXPECT_FALSE(files.Has("b", version));
  for (const FileVersion& changed :
       {FileVersion{.device = 1, .inode = 1, .size = 2, .modified = {100, 0}, .changed = {200, 5}},
        FileVersion{.inode = 2, .size = 2, .modified = {100, 0}, .changed = {200, 5}},
        FileVersion{.inode = 1, .size = 3, .modified = {100, 0}, .changed = {200, 5}},
        FileVersion{.inode = 1, .size = 2, .modified = {100, 1}, .changed = {200, 5}},
        FileVersion{.inode = 1, .size = 2, .modified = {100, 0}, .changed = {200, 6}}}) {
    EXPECT_FALSE(files.Has("a", changed));
  }
  FileVersion future = version;  // by a clock that was set back since
  future.modified[0] = 300;
  files.Remember("a", future, at(250));
  EXPECT_FALSE(files.Has("a", future));
}

// Whatever the directory says, in a file whose digest is right.
TEST_F(PackedFileTest, AForgedDirectoryIsNoFile) {
  Write("key");
  const std::string whole = Content();
  struct {
    uint64_t magic, directory, digest;
  } trailer;
  std::memcpy(&trailer, whole.data() + whole.size() - sizeof(trailer), sizeof(trailer));
  const auto opens = [&](const std::string& blocks) {
    std::string content =
        whole.substr(0, trailer.directory) + R"({"key": "key", "note": 5)" + blocks + "}";
    trailer.digest = XXH3_64bits(content.data(), content.size());
    content.append(reinterpret_cast<const char*>(&trailer), sizeof(trailer));
    Replace(content);
    return PackedFile::Open(path_, "key") != nullptr;
  };
  EXPECT_TRUE(opens(R"(, "blocks": {"a": [0, 6]})"));
  for (const std::string blocks :
       {R"()", R"(, "blocks": [])", R"(, "blocks": {"a": 0})", R"(, "blocks": {"a": [0]})",
        R"(, "blocks": {"a": ["0", 6]})", R"(, "blocks": {"a": [-64, 6]})",
        R"(, "blocks": {"a": [0, 6, 0]})", R"(, "blocks": {"a": [1, 5]})",
        R"(, "blocks": {"a": [0, 1e3]})", R"(, "blocks": {"a": [0, 68]})",
        R"(, "blocks": {"a": [128, 0]})", R"(, "blocks": {"a": [0, 18446744073709551615]})",
        R"(, "blocks": {"a": [18446744073709551552, 128]})",
        R"(, "blocks": {"a": [0, 6], "a": [0, 6]})", R"(, "blocks": {}, "key": "key")"}) {
    EXPECT_FALSE(opens(blocks)) << blocks;
  }
  EXPECT_FALSE(opens(", \"blocks\": " + std::string(100'000, '[')));
  std::string beyond = whole;
  trailer.directory = whole.size();
  std::memcpy(beyond.data() + whole.size() - sizeof(trailer), &trailer, sizeof(trailer));
  Replace(beyond);
  EXPECT_EQ(PackedFile::Open(path_, "key"), nullptr);
}

TEST_F(PackedFileTest, AFileThatOthersCanWriteIsNoFile) {
  Write("key");
  EXPECT_NE(PackedFile::Open(path_, "key"), nullptr);
  fs::permissions(path_, fs::perms::group_write, fs::perm_options::add);
  EXPECT_EQ(PackedFile::Open(path_, "key"), nullptr);
  fs::permissions(path_, fs::perms::group_write, fs::perm_options::remove);
  EXPECT_NE(PackedFile::Open(path_, "key"), nullptr);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(path_.c_str(), 12345, 12345), 0);
    EXPECT_EQ(PackedFile::Open(path_, "key"), nullptr);
    ASSERT_EQ(chown(path_.c_str(), 0, 0), 0);
  }
  fs::create_symlink(path_, root_ / "link");
  EXPECT_EQ(PackedFile::Open(root_ / "link", "key"), nullptr);
  EXPECT_EQ(PackedFile::Open(root_, "key"), nullptr);
}

TEST_F(PackedFileTest, AFileThatIsCutWhileItIsInUseIsNoticed) {
  const std::string block(1 << 20, 'x');
  {
    auto writer = PackedFileWriter::Create(path_, "key");
    ASSERT_TRUE(writer.ok()) << writer.status();
    (*writer)->Add("a", {BytesOf(absl::MakeConstSpan(block))});
    ASSERT_TRUE((*writer)->Finish("").ok());
  }
  const auto file = PackedFile::Open(path_, "key");
  ASSERT_NE(file, nullptr);
  fs::resize_file(path_, 4096);
  EXPECT_EQ(TextOf(file->Find("a")).substr(0, 4096), block.substr(0, 4096));
  EXPECT_FALSE(file->whole());
}

TEST_F(PackedFileTest, WhatIsNotFinishedLeavesNothing) {
  { auto writer = PackedFileWriter::Create(path_, "key"); }
  EXPECT_TRUE(fs::is_empty(root_));
  EXPECT_FALSE(PackedFileWriter::Create((root_ / "gone" / "x").string(), "key").ok());
}

}  // namespace
}  // namespace dragoman
