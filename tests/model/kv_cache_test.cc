#include "engine/model/kv_cache.h"

#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/math/random_matrix.h"

namespace dragoman::kv_cache_test {
namespace {

struct Shape {
  int layers;
  KeyValueFormat format;
};

// From a shape of which a block holds hundreds of rows to one of which it holds a single row.
constexpr Shape kShapes[] = {
    {1, {Precision::kBFloat16, 2, 16}},    {6, {Precision::kInt8, 8, 512}},
    {2, {Precision::kFloat32, 4, 64}},     {6, {Precision::kBFloat16, 8, 512}},
    {6, {Precision::kFloat32, 8, 512}},    {24, {Precision::kFloat32, 16, 1024}},
    {24, {Precision::kFloat32, 16, 2048}}, {3, {Precision::kFloat32, 16, 8192}},
};

KvLayout LayoutOf(const Shape& shape) { return *KvLayout::Create(shape.layers, shape.format); }

std::string Describe(const Shape& shape) {
  return absl::StrCat(shape.layers, " layers of ", shape.format.width);
}

TEST(KvLayout, RowsFitIntoBlocks) {
  for (const Shape& shape : kShapes) {
    const KvLayout layout = LayoutOf(shape);
    SCOPED_TRACE(Describe(shape));
    EXPECT_GE(layout.parts * layout.block_layers, shape.layers);
    EXPECT_GE(layout.block_rows, 1);
    EXPECT_LE(layout.block_rows * layout.block_layers * layout.row_bytes, KvPool::kBlockBytes);
    EXPECT_EQ(layout.Blocks(1), layout.parts);
    EXPECT_EQ(layout.Blocks(layout.block_rows), layout.parts);
    EXPECT_EQ(layout.Blocks(layout.block_rows + 1), 2 * layout.parts);
  }
}

TEST(KvLayout, RefusesARowThatIsLongerThanABlock) {
  EXPECT_TRUE(KvLayout::Create(1, {Precision::kBFloat16, 4, 8196}).ok());
  EXPECT_EQ(KvLayout::Create(1, {Precision::kFloat32, 4, 8196}).status().message(),
            "the keys and values of a token take 65568 bytes in a layer, want at most 65536");
}

TEST(KeyValues, EveryRowKeepsWhatWasWrittenToIt) {
  constexpr int kRows = 40;
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(Describe(shape));
    const KvLayout layout = LayoutOf(shape);
    const int width = shape.format.width;
    KvPool pool(layout.Bytes(kRows));
    KeyValues keys_values(layout, kRows, &pool);
    std::mt19937 random(1);
    std::vector<Matrix<float>> layers;
    for (int l = 0; l < shape.layers; ++l) {
      layers.push_back(RandomMatrix(kRows, 2 * width, &random));
    }
    std::vector<int32_t> names;
    for (int r = 0; r < kRows; ++r) {
      names.push_back(keys_values.AddRow());
      for (int l = 0; l < shape.layers; ++l) keys_values.Set(l, names[r], layers[l].Row(r));
    }
    EXPECT_EQ(pool.taken_bytes(), layout.Bytes(kRows));

    std::vector<const std::byte*> found;
    std::vector<std::byte> want(layout.row_bytes);
    const auto expect = [&](int layer, const std::vector<int32_t>& rows) {
      ASSERT_EQ(found.size(), rows.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        PackKeyValues(shape.format, layers[layer].Row(rows[i]), want.data());
        EXPECT_EQ(std::memcmp(found[i], want.data(), want.size()), 0)
            << "layer " << layer << ", row " << rows[i];
      }
    };
    std::vector<int32_t> all(kRows);
    std::iota(all.begin(), all.end(), 0);
    for (int l = 0; l < shape.layers; ++l) {
      for (const std::vector<int32_t>& path :
           {std::vector<int32_t>{0}, {kRows - 1}, {3, 1, 39, 12, 12, 30}}) {
        std::vector<int32_t> path_names;
        for (const int32_t r : path) path_names.push_back(names[r]);
        keys_values.Find(l, path_names, &found);
        expect(l, path);
      }
      keys_values.FindAll(l, &found);
      expect(l, all);
    }
  }
}

TEST(KeyValues, GiveTheirBlocksBack) {
  const KvLayout layout = LayoutOf(kShapes[3]);
  KvPool pool;
  {
    SourceMemory source(layout, 30, &pool);
    KeyValues cache(layout, 20 * 4, &pool);
    EXPECT_EQ(pool.taken_bytes(), layout.Bytes(30));
    for (int i = 0; i < 5; ++i) cache.AddRow();
    EXPECT_EQ(pool.taken_bytes(), layout.Bytes(30) + layout.Bytes(5));
  }
  EXPECT_EQ(pool.taken_bytes(), 0u);
}

}  // namespace
}  // namespace dragoman::kv_cache_test
