#include "engine/model/kv_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace dragoman::kv_pool_test {
namespace {

constexpr size_t kPage = HugePageMemory::kPageBytes;
constexpr int kBlocksPerPage = kPage / KvPool::kBlockBytes;

std::vector<KvBlock> Take(KvPool* pool, int blocks) {
  std::vector<KvBlock> taken;
  for (int i = 0; i < blocks; ++i) {
    taken.push_back(pool->Take());
    std::memset(taken.back().data, i, KvPool::kBlockBytes);
  }
  return taken;
}

void Give(KvPool* pool, const std::vector<KvBlock>& blocks) {
  for (const KvBlock& block : blocks) pool->Give(block);
}

// How many bytes of the pages from `data` on are in memory.
size_t BytesInMemory(const std::byte* data, int pages) {
  const size_t small_page = sysconf(_SC_PAGESIZE);
  std::vector<unsigned char> present(pages * kPage / small_page);
  EXPECT_EQ(mincore(const_cast<std::byte*>(data), pages * kPage, present.data()), 0);
  size_t bytes = 0;
  for (const unsigned char p : present) bytes += (p & 1) * small_page;
  return bytes;
}

TEST(KvPool, BlocksAreAlignedAndApart) {
  KvPool pool;
  const std::vector<KvBlock> blocks = Take(&pool, 3 * kBlocksPerPage + 1);
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks[i].data) % KvPool::kBlockBytes, 0u);
    for (size_t at = 0; at < KvPool::kBlockBytes; at += 1009) {
      ASSERT_EQ(blocks[i].data[at], static_cast<std::byte>(i)) << i;
    }
  }
  EXPECT_EQ(pool.taken_bytes(), blocks.size() * KvPool::kBlockBytes);
  Give(&pool, blocks);
  EXPECT_EQ(pool.taken_bytes(), 0u);
}

TEST(KvPool, HoldsItsCapacityAndNoMore) {
  constexpr int kBlocks = kBlocksPerPage + 3;
  KvPool pool(kBlocks * KvPool::kBlockBytes + KvPool::kBlockBytes - 1);
  std::vector<KvBlock> blocks = Take(&pool, kBlocks);
  EXPECT_DEATH(pool.Take(), "");
  // Blocks that were given back can be taken again, wherever they are.
  for (int i = 0; i < kBlocks; i += 2) pool.Give(blocks[i]);
  for (int i = 0; i < kBlocks; i += 2) blocks[i] = pool.Take();
  EXPECT_DEATH(pool.Take(), "");
  Give(&pool, blocks);
}

TEST(KvPool, ABlockIsUsedAgainBeforeANewOneIs) {
  KvPool pool;
  std::set<std::byte*> seen;
  for (int sentence = 0; sentence < 100; ++sentence) {
    const std::vector<KvBlock> blocks = Take(&pool, 5);
    for (const KvBlock& block : blocks) seen.insert(block.data);
    Give(&pool, blocks);
  }
  EXPECT_EQ(seen.size(), 5u);
}

TEST(KvPool, ReturnsThePagesThatNobodyHasUsedForAWhile) {
  KvPool pool;
  const std::vector<KvBlock> burst = Take(&pool, 4 * kBlocksPerPage);
  std::byte* const data = burst[0].data;
  Give(&pool, burst);
  EXPECT_EQ(pool.resident_bytes(), 4 * kPage);
  EXPECT_EQ(BytesInMemory(data, 4), 4 * kPage);
  pool.Trim();  // all were in use since the last call, so all stay
  EXPECT_EQ(pool.resident_bytes(), 4 * kPage);
  const std::vector<KvBlock> little = Take(&pool, 2);
  Give(&pool, little);
  pool.Trim();  // only the lowest page was in use
  EXPECT_EQ(pool.resident_bytes(), kPage);
  EXPECT_EQ(BytesInMemory(data, 4), kPage);
  pool.Trim();
  EXPECT_EQ(pool.resident_bytes(), 0u);
  EXPECT_EQ(BytesInMemory(data, 4), 0u);
  Give(&pool, Take(&pool, 4 * kBlocksPerPage));
  EXPECT_EQ(pool.resident_bytes(), 4 * kPage);
}

TEST(KvPool, LeavesAPageAloneOfWhichABlockIsTaken) {
  KvPool pool;
  std::vector<KvBlock> blocks = Take(&pool, 2 * kBlocksPerPage);
  const KvBlock kept = blocks.back();
  blocks.pop_back();
  Give(&pool, blocks);
  for (int i = 0; i < 3; ++i) pool.Trim();
  EXPECT_EQ(pool.resident_bytes(), kPage);
  for (size_t at = 0; at < KvPool::kBlockBytes; ++at) {
    ASSERT_EQ(kept.data[at], static_cast<std::byte>(2 * kBlocksPerPage - 1));
  }
  pool.Give(kept);
}

}  // namespace
}  // namespace dragoman::kv_pool_test
