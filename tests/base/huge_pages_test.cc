#include "engine/base/huge_pages.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "gtest/gtest.h"

namespace dragoman {
namespace {

constexpr size_t kPage = HugePageMemory::kPageBytes;

TEST(HugePageMemory, IsWholeAlignedAndZero) {
  const HugePageMemory pages(kPage + 1);
  EXPECT_EQ(pages.size(), 2 * kPage);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(pages.data()) % kPage, 0u);
  for (size_t i = 0; i < pages.size(); i += 997) ASSERT_EQ(pages.data()[i], std::byte{0});
}

TEST(HugePageMemory, AReleasedPageIsZeroAgainAndTheOthersStay) {
  const HugePageMemory pages(3 * kPage);
  std::memset(pages.data(), 7, pages.size());
  pages.Release(1);
  for (size_t i = 0; i < pages.size(); i += 997) {
    ASSERT_EQ(pages.data()[i], std::byte{i / kPage == 1 ? uint8_t{0} : uint8_t{7}}) << i;
  }
}

TEST(HugePageMemory, Move) {
  HugePageMemory from(kPage);
  std::byte* const data = from.data();
  data[5] = std::byte{9};
  HugePageMemory to = std::move(from);
  EXPECT_EQ(to.data(), data);
  to = HugePageMemory(kPage);
  EXPECT_EQ(to.data()[5], std::byte{0});
}

}  // namespace
}  // namespace dragoman
