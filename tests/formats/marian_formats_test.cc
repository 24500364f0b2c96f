// .npz and Marian's model.bin: the small files of tests/fuzz/corpus, and damaged ones.

#include <fstream>
#include <iterator>
#include <string>

#include "engine/formats/marian_file.h"
#include "engine/formats/npz.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kCorpus[] = "tests/fuzz/corpus/";

std::vector<float> RowOf(const Checkpoint& checkpoint, const std::string& name, int rows, int cols,
                         int row) {
  const auto matrix = checkpoint.ReadMatrix(name, rows, cols);
  EXPECT_TRUE(matrix.ok()) << matrix.status();
  if (!matrix.ok()) return {};
  return {matrix->Row(row).begin(), matrix->Row(row).end()};
}

TEST(Npz, StoredOrDeflatedArraysAreTheSame) {
  for (const char* file : {"npz/stored", "npz/deflated"}) {
    const auto npz = OpenNpz(std::string(kCorpus) + file);
    ASSERT_TRUE(npz.ok()) << npz.status();
    EXPECT_THAT(RowOf(*npz, "encoder_Wemb", 2, 3, 1), ElementsAre(4, 5, 6));
    EXPECT_THAT(RowOf(*npz, "c", 2, 2, 0), ElementsAre(1, 3));  // stored in column-major order
    EXPECT_THAT(*npz->ReadVector("b", 3), ElementsAre(1, 1, 1));
    EXPECT_TRUE(npz->Has("special:model.yml"));
    EXPECT_FALSE(npz->Has("empty"));
  }
}

TEST(Npz, OtherFilesAreRefused) {
  EXPECT_TRUE(absl::IsNotFound(OpenNpz("tests/none.npz").status()));
  const auto text = OpenNpz("tests/CMakeLists.txt");
  EXPECT_TRUE(absl::IsInvalidArgument(text.status())) << text.status();
}

TEST(MarianFile, FloatsAndBytes) {
  const auto floats = OpenMarianFile(std::string(kCorpus) + "marian_file/float32");
  ASSERT_TRUE(floats.ok()) << floats.status();
  EXPECT_THAT(RowOf(*floats, "Wemb", 2, 3, 0), ElementsAre(1, 2, 3));
  const auto bytes = OpenMarianFile(std::string(kCorpus) + "marian_file/intgemm8");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  // A weight [2, 4] with the elements 1 2 3 4 5 6 7 -1, stored transposed and multiplied by 12.5.
  EXPECT_THAT(RowOf(*bytes, "encoder_l1_self_Wq", 2, 4, 0),
              ElementsAre(1 / 12.5f, 3 / 12.5f, 5 / 12.5f, 7 / 12.5f));
  EXPECT_EQ(bytes->StepOf("encoder_l1_self_Wq"), 1 / 12.5f);
  EXPECT_THAT(RowOf(*bytes, "Wemb", 2, 2, 0), ElementsAre(1 / 3.5f, 2 / 3.5f));
}

TEST(MarianFile, TruncatedFilesAndThoseMadeForOneCpuAreRefused) {
  std::ifstream in(std::string(kCorpus) + "marian_file/intgemm8", std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::string path = testing::TempDir() + "marian_formats_test.bin";
  for (size_t size = 0; size < whole.size(); size += 41) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, size);
    EXPECT_FALSE(OpenMarianFile(path).ok()) << size;
  }
  std::string packed = whole;
  packed[24] = '\x01', packed[25] = '\x18';  // the type of the first tensor: packed8avx2
  std::ofstream(path, std::ios::binary) << packed;
  const auto refused = OpenMarianFile(path);
  EXPECT_TRUE(absl::IsUnimplemented(refused.status()));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("encoder_l1_self_Wq is of type"));
}

}  // namespace
}  // namespace dragoman
