#include "engine/base/zip_archive.h"

#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/base/unpacked_zip.h"
#include "engine/base/zip_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct File {
  std::string name;
  std::string content;
  bool deflate = false;
};

template <typename Number>
void Put(Number number, std::string* to) {
  to->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

std::string Deflate(const std::string& content) {
  std::string packed(compressBound(content.size()) + 64, '\0');
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// The fields that the local header and the central directory share.
std::string Facts(const File& file, const std::string& packed) {
  std::string facts;
  Put<uint16_t>(20, &facts);                    // version
  Put<uint16_t>(0, &facts);                     // flags
  Put<uint16_t>(file.deflate ? 8 : 0, &facts);  // method
  Put<uint32_t>(0, &facts);                     // time
  Put<uint32_t>(static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(file.content.data()),
                                            file.content.size())),
                &facts);
  Put<uint32_t>(packed.size(), &facts);
  Put<uint32_t>(file.content.size(), &facts);
  Put<uint16_t>(file.name.size(), &facts);
  Put<uint16_t>(0, &facts);  // extra
  return facts;
}

std::string Zip(const std::vector<File>& files) {
  std::string zip;
  std::string list;
  for (const File& file : files) {
    const std::string packed = file.deflate ? Deflate(file.content) : file.content;
    const std::string facts = Facts(file, packed);
    list += "PK\1\2";
    Put<uint16_t>(20, &list);
    list += facts;
    list.append(10, '\0');  // comment, disk, attributes
    Put<uint32_t>(zip.size(), &list);
    list += file.name;
    zip += "PK\3\4" + facts + file.name + packed;
  }
  const uint32_t begin = zip.size();
  zip += list + "PK\5\6" + std::string(4, '\0');
  Put<uint16_t>(files.size(), &zip);
  Put<uint16_t>(files.size(), &zip);
  Put<uint32_t>(list.size(), &zip);
  Put<uint32_t>(begin, &zip);
  Put<uint16_t>(0, &zip);
  return zip;
}

absl::Span<const std::byte> BytesOf(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::string TextOf(absl::Span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

class ZipArchiveTest : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }
  const std::string path_ =
      ::testing::TempDir() + "/" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ZipArchiveTest, AStoredFileIsReadInPlace) {
  const std::string zip = Zip({{"a/data", "content"}, {"a/empty", ""}, {"a/", ""}});
  const absl::StatusOr<ZipArchive> archive = ZipArchive::Open(BytesOf(zip));
  ASSERT_TRUE(archive.ok()) << archive.status();
  ASSERT_EQ(archive->entries().size(), 3u);
  EXPECT_EQ(TextOf(archive->Find("a/data")->stored), "content");
  EXPECT_EQ(archive->Find("a/empty")->size, 0u);
  EXPECT_EQ(archive->Find("b"), nullptr);
  EXPECT_TRUE(ZipArchive::IsZip(BytesOf(zip)));
}

TEST_F(ZipArchiveTest, ACompressedFileIsUnpacked) {
  std::string content;
  for (int i = 0; i < 300'000; ++i) content += std::to_string(i % 1000);
  const std::string zip = Zip({{"stored", "plain"}, {"packed", content, true}});
  const absl::StatusOr<ZipArchive> archive = ZipArchive::Open(BytesOf(zip));
  ASSERT_TRUE(archive.ok()) << archive.status();
  EXPECT_TRUE(archive->Find("packed")->stored.empty());
  ASSERT_TRUE(archive->Extract(*archive->Find("packed"), path_).ok());
  std::ifstream file(path_, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), content);
  // It never overwrites a file.
  EXPECT_EQ(archive->Extract(*archive->Find("stored"), path_).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(ZipArchiveTest, ACompressedFileIsReadIntoMemory) {
  const std::string content(100'000, 'x');
  std::string zip = Zip({{"packed", content, true}});
  EXPECT_THAT(ZipArchive::Open(BytesOf(zip)).status().message(), HasSubstr("claims 100000 bytes"));
  const absl::StatusOr<ZipArchive> archive = ZipArchive::Open(BytesOf(zip), 2000);
  ASSERT_TRUE(archive.ok()) << archive.status();
  EXPECT_EQ(archive->Read(archive->entries()[0]).value_or(""), content);
  zip[30 + 6 + 3] ^= 0x55;
  EXPECT_THAT(archive->Read(archive->entries()[0]).status().message(), HasSubstr("is damaged"));
}

TEST_F(ZipArchiveTest, AWriterCopiesEntriesAsTheyLieOrReplacesTheirContent) {
  const std::string content = std::string(1000, 'x') + "yz";
  const std::string zip =
      Zip({{"first", "plain"}, {"packed", content, true}, {"other", content, true}});
  const absl::StatusOr<ZipArchive> archive = ZipArchive::Open(BytesOf(zip));
  ASSERT_TRUE(archive.ok()) << archive.status();
  const auto writer = ZipWriter::Create(path_);
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE((*writer)->Copy(archive->entries()[0]).ok());
  ASSERT_TRUE((*writer)->Copy(archive->entries()[1]).ok());
  ASSERT_TRUE((*writer)->Replace(archive->entries()[2], "new").ok());
  ASSERT_TRUE((*writer)->Finish().ok());

  std::ifstream file(path_, std::ios::binary);
  const std::string written(std::istreambuf_iterator<char>(file), {});
  const absl::StatusOr<ZipArchive> copy = ZipArchive::Open(BytesOf(written));
  ASSERT_TRUE(copy.ok()) << copy.status();
  ASSERT_EQ(copy->entries().size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(copy->entries()[i].name, archive->entries()[i].name);
    EXPECT_EQ(copy->entries()[i].method, archive->entries()[i].method);
    EXPECT_EQ(TextOf(copy->entries()[i].packed) == TextOf(archive->entries()[i].packed), i < 2);
    EXPECT_EQ(copy->Read(copy->entries()[i]).value_or(""), i == 0   ? "plain"
                                                           : i == 1 ? content
                                                                    : "new");
  }
}

TEST_F(ZipArchiveTest, AZipThatCannotBeWrittenSaysSo) {
  const auto nowhere = ZipWriter::Create("no/such/folder/file");
  EXPECT_EQ(nowhere.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ZipArchiveTest, DamagedContentLeavesNoFile) {
  std::string zip = Zip({{"packed", std::string(1000, 'x') + "yz", true}});
  zip[30 + 6 + 3] ^= 0x55;
  const absl::StatusOr<ZipArchive> archive = ZipArchive::Open(BytesOf(zip));
  ASSERT_TRUE(archive.ok()) << archive.status();
  EXPECT_THAT(std::string(archive->Extract(archive->entries()[0], path_).message()),
              HasSubstr("packed is damaged"));
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(ZipArchiveTest, MalformedArchivesAreRefused) {
  const std::string good = Zip({{"a", "content"}, {"b", "more"}});
  for (size_t size = 0; size < good.size(); ++size) {
    const std::string cut = good.substr(0, size);
    EXPECT_EQ(ZipArchive::Open(BytesOf(cut)).status().code(), absl::StatusCode::kInvalidArgument);
  }
  const auto why = [](const std::string& zip) {
    return std::string(ZipArchive::Open(BytesOf(zip)).status().message());
  };
  EXPECT_THAT(why(Zip({{"a", "1"}, {"a", "2"}})), HasSubstr("a occurs twice"));
  EXPECT_THAT(why(good + good), HasSubstr("bytes that belong to no entry"));
  const std::string bomb = Zip({{"bomb", std::string(10'000'000, '\0'), true}});
  EXPECT_THAT(why(bomb), HasSubstr("bomb claims 10000000 bytes"));
  std::string encrypted = good;
  encrypted[encrypted.find("PK\1\2") + 8] = 1;
  EXPECT_THAT(why(encrypted), HasSubstr("a is encrypted"));
}

TEST_F(ZipArchiveTest, AnUnpackedArchiveIsADirectoryForAsLongAsItIsHeld) {
  std::ofstream(path_, std::ios::binary) << Zip(
      {{"en_de/metadata.json", "{}"}, {"en_de/model/model.bin", std::string(99, 'x'), true}});
  ASSERT_TRUE(UnpackedZip::IsZip(path_));
  std::string directory;
  {
    const auto unpacked = UnpackedZip::Open(path_);
    ASSERT_TRUE(unpacked.ok()) << unpacked.status();
    directory = (*unpacked)->directory();  // the only folder
    EXPECT_EQ(fs::file_size(directory + "/model/model.bin"), 99u);
    EXPECT_EQ(fs::file_size(directory + "/metadata.json"), 2u);
    EXPECT_EQ((*UnpackedZip::Open(path_))->directory(), directory);  // not unpacked again
    const std::string other = path_ + ".other";
    std::ofstream(other, std::ios::binary) << Zip({{"en_de/metadata.json", "{ }"}});
    fs::rename(other, path_);
    const auto changed = UnpackedZip::Open(path_);
    EXPECT_EQ(fs::file_size((*changed)->directory() + "/metadata.json"), 3u);
  }
  EXPECT_FALSE(fs::exists(directory));
  EXPECT_FALSE(UnpackedZip::IsZip("no/such/file"));
  EXPECT_FALSE(UnpackedZip::IsZip(::testing::TempDir()));
}

TEST_F(ZipArchiveTest, NothingIsUnpackedOutsideOfTheDirectory) {
  for (const char* name : {"../evil", "/evil", "a/../../evil", "a//b", "./a", "a\\b", ".."}) {
    std::ofstream(path_, std::ios::binary) << Zip({{name, "x"}});
    const absl::Status status = UnpackedZip::Open(path_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(std::string(status.message()), HasSubstr("want a path within the archive"));
  }
}

}  // namespace
}  // namespace dragoman
