#include "engine/base/weight_memory.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"

namespace dragoman {
namespace {

TEST(WeightMemory, BlocksAreAlignedZeroAndApart) {
  std::vector<WeightMemory> blocks;
  const size_t sizes[] = {1, 64, 1000, 3 << 20, 40 << 20, 0, 17};
  for (const size_t size : sizes) {
    blocks.emplace_back(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back().data()) % 64, 0u);
    for (size_t i = 0; i < size; i += 997) EXPECT_EQ(blocks.back().data()[i], std::byte{0});
    std::memset(blocks.back().data(), static_cast<int>(blocks.size()), size);
  }
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (size_t i = 0; i < sizes[b]; i += 97) {
      ASSERT_EQ(blocks[b].data()[i], static_cast<std::byte>(b + 1)) << b;
    }
  }
}

TEST(WeightMemory, ABlockOutlivesThoseItSharesAMappingWith) {
  WeightMemory kept(100);
  {
    const WeightMemory gone(100);
    std::memset(gone.data(), 1, 100);
  }
  WeightMemory moved = std::move(kept);
  std::memset(moved.data(), 2, 100);
  const WeightMemory later(100);
  EXPECT_EQ(later.data()[0], std::byte{0});  // no block is handed out twice
}

}  // namespace
}  // namespace dragoman
