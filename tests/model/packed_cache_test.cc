// Models whose packed weights come from a file translate the same bytes as others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/math/int8_gemm.h"
#include "engine/math/int8_rows.h"
#include "engine/model/model.h"
#include "engine/model/packed_place.h"

namespace dragoman::packed_cache_test {
namespace {

namespace fs = std::filesystem;

class PackedCacheTest : public testing::Test {
 protected:
  PackedCacheTest()
      : root_(fs::path(testing::TempDir()) / ("dragoman_cache_" + std::to_string(getpid()))) {
    fs::create_directories(root_);
  }
  ~PackedCacheTest() override { fs::remove_all(root_); }

  std::string Cache() const { return (root_ / "cache").string(); }
  std::vector<fs::path> Files(const fs::path& directory) const {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory, error)) {
      files.push_back(entry.path());
    }
    return files;
  }
  std::shared_ptr<const Model> Load(const std::string& directory, const std::string& cache) const {
    const auto model =
        Model::Load("m", directory, {.precision = Precision::kInt8, .packed_cache = cache});
    EXPECT_TRUE(model.ok()) << directory << ": " << model.status();
    return *model;
  }
  // The encoding of a few tokens, and the logits of the first step.
  std::vector<float> Numbers(const Model& model) const {
    const std::vector<int32_t> tokens = {5, 6, 7, model.spec().eos_id};
    Workspace ws;
    KvPool pool(size_t{64} << 20);
    TokenBatch batch;
    batch.Add(tokens);
    Matrix<float> encoded;
    model.network().Encode(batch, &encoded, &ws);
    std::vector<float> numbers(encoded.view().data(),
                               encoded.view().data() + size_t{1} * encoded.rows() * encoded.cols());
    const auto state = model.network().NewState({.source_tokens = 4, .max_steps = 4}, &pool);
    model.network().Remember(encoded.view(), state.get(), &ws);
    const std::vector<StepRow> rows = {{.token = model.spec().eos_id, .state = state.get()}};
    model.network().Step(
        rows,
        [&](const LogitsTile& tile) {
          for (int r = 0; r < tile.logits.rows(); ++r) {
            numbers.insert(numbers.end(), tile.logits.Row(r).begin(), tile.logits.Row(r).end());
          }
        },
        &ws);
    return numbers;
  }

  const fs::path root_;
};

TEST_F(PackedCacheTest, EveryFamilyComputesTheSameNumbers) {
  for (const char* name :
       {"models/marian-trained", "models/m2m100-trained", "models/mbart50-trained",
        "models/t5v11-trained", "marian/models/student-ssru"}) {
    const std::string directory = std::string("tests/golden/") + name;
    const auto plain = Load(directory, "");
    const std::vector<float> want = Numbers(*plain);
    for (const char* time : {"first", "second"}) {
      const auto cached = Load(directory, Cache());
      EXPECT_EQ(cached->version(), plain->version()) << directory;
      EXPECT_EQ(Numbers(*cached), want) << directory << ", the " << time << " time";
    }
  }
  EXPECT_EQ(Files(Cache()).size(), 5u);
}

TEST_F(PackedCacheTest, AChangedModelOrFileIsPackedAgain) {
  const fs::path model = root_ / "model";
  fs::copy("tests/golden/models/marian-trained", model);
  const std::string version = Load(model, kBesideModel)->version();
  ASSERT_EQ(Files(model / ".dragoman").size(), 1u);
  const fs::path packed = Files(model / ".dragoman").front();
  fs::resize_file(packed, fs::file_size(packed) / 2);
  EXPECT_EQ(Load(model, kBesideModel)->version(), version);
  EXPECT_GT(fs::file_size(packed), size_t{100'000});
  fs::copy_file("tests/golden/models/marian-rand/model.safetensors", model / "model.safetensors",
                fs::copy_options::overwrite_existing);
  EXPECT_NE(Load(model, kBesideModel)->version(), version);
  EXPECT_EQ(Files(model / ".dragoman").size(), 1u);
}

TEST_F(PackedCacheTest, ACacheThatCannotBeWrittenIsDoneWithout) {
  std::ofstream(root_ / "file") << "no directory";
  const auto model = Load("tests/golden/models/marian-trained", (root_ / "file").string());
  EXPECT_FALSE(Numbers(*model).empty());
}

TEST_F(PackedCacheTest, WhatWasNotUsedForAMonthLeaves) {
  fs::create_directories(Cache());
  const fs::path old = fs::path(Cache()) / "old.packed", young = fs::path(Cache()) / "young.packed",
                 other = fs::path(Cache()) / "other",
                 unfinished = fs::path(Cache()) / "x.packed.abcdef";
  for (const fs::path& file : {old, young, other, unfinished}) std::ofstream(file) << "x";
  const auto now = fs::last_write_time(young);
  for (const fs::path& file : {old, other}) {
    fs::last_write_time(file, now - std::chrono::hours(31 * 24));
  }
  fs::last_write_time(unfinished, now - std::chrono::hours(2));
  Load("tests/golden/models/marian-trained", Cache());
  EXPECT_FALSE(fs::exists(old));
  EXPECT_FALSE(fs::exists(unfinished));
  EXPECT_TRUE(fs::exists(young));
  EXPECT_TRUE(fs::exists(other));
}

TEST_F(PackedCacheTest, WhatIsUsedIsTouchedOnceADay) {
  const std::string model = "tests/golden/models/marian-trained";
  Load(model, Cache());
  const fs::path packed = Files(Cache()).front();
  const auto now = fs::last_write_time(packed);
  const auto touched_at = [&](std::chrono::hours ago) {
    fs::last_write_time(packed, now - ago);
    Load(model, Cache());
    return fs::last_write_time(packed);
  };
  EXPECT_EQ(touched_at(std::chrono::hours(23)), now - std::chrono::hours(23));
  EXPECT_GE(touched_at(std::chrono::hours(25)), now);
}

TEST_F(PackedCacheTest, AFileInADirectoryOfTheModelCounts) {
  const fs::path model = root_ / "model";
  fs::create_directories(model / "inner");
  fs::create_directories(model / ".dragoman");
  std::ofstream(model / "config.json") << "{}";
  const auto key = [&](const std::string& arithmetic = "int8/AVX2") {
    return PackedPlaceOf(kBesideModel, {model, "", {}, arithmetic}).key;
  };
  const std::string before = key();
  std::ofstream(model / ".dragoman" / "x.packed") << "x";
  EXPECT_EQ(key(), before);
  EXPECT_NE(key("int8/NEON"), before);
  std::ofstream(model / "inner" / "model.bin") << "x";
  EXPECT_NE(key(), before);
}

TEST_F(PackedCacheTest, CpusHaveFilesOfTheirOwn) {
  const auto place = [&](const std::string& arithmetic) {
    return PackedPlaceOf(Cache(), {"tests/golden/models/marian-trained", "", {}, arithmetic}).path;
  };
  EXPECT_EQ(place("int8/AVX2"), place("int8/AVX2"));
  EXPECT_NE(place("int8/AVX2"), place("int8/AVX3"));
}

TEST_F(PackedCacheTest, WeightsThatAreCutAreNotWhole) {
  const auto model = Load("tests/golden/models/marian-trained", Cache());
  EXPECT_TRUE(model->whole());
  fs::resize_file(Files(Cache()).front(), 0);
  Numbers(*model);
  EXPECT_FALSE(model->whole());
}

// If this fails, the layout of packed weights has changed: raise kLayout (packed_place.cc), so that
// no old file is read, and then this digest.  Numbers whose packing is exact on every CPU.
TEST_F(PackedCacheTest, TheLayoutIsTheOneThatItsNumberStandsFor) {
  const int outputs = 70, inputs = 65;
  Matrix<float> weight(outputs, inputs);
  std::vector<float> bias(outputs);
  for (int o = 0; o < outputs; ++o) {
    bias[o] = static_cast<float>(o);
    for (int i = 0; i < inputs; ++i)
      weight.Row(o)[i] = static_cast<float>((31 * o + 17 * i) % 255 - 127);
    weight.Row(o)[0] = 127.0f;
  }
  const std::string path = root_ / "layout";
  auto writer = PackedFileWriter::Create(path, "key");
  ASSERT_TRUE(writer.ok()) << writer.status();
  const auto gemm = Int8Gemm::Create(weight.view(), bias, Activation::kNone);
  ASSERT_TRUE(gemm.ok()) << gemm.status();
  gemm->Store("gemm", writer->get());
  Int8Rows rows(outputs, inputs);
  ASSERT_TRUE(rows.Set(0, weight.view(), bias).ok());
  rows.Store("rows", writer->get());
  ASSERT_TRUE((*writer)->Finish("").ok());
  const auto file = PackedFile::Open(path, "key");
  ASSERT_NE(file, nullptr);
  uint64_t digest = 0;
  for (const char* name : {"gemm", "rows"}) {
    const absl::Span<const std::byte> block = file->Find(name);
    digest = XXH3_64bits_withSeed(block.data(), block.size(), digest);
  }
  EXPECT_EQ(digest, 13902681536213585760u);
}

}  // namespace
}  // namespace dragoman::packed_cache_test
