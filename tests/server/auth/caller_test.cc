#include "server/auth/caller.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

TEST(HolderOf, IsThePrincipalOrTheAddressOrTheNetwork) {
  EXPECT_EQ(HolderOf("shop", "ipv4:10.0.0.1:50"), "shop");
  EXPECT_EQ(HolderOf("", "ipv4:10.0.0.1:50"), "ipv4:10.0.0.1");
  EXPECT_EQ(HolderOf("", "10.0.0.1:50"), "10.0.0.1");
  EXPECT_EQ(HolderOf("", "::ffff:10.0.0.1:50"), "::ffff:10.0.0.1");
  EXPECT_EQ(HolderOf("", "unix:/run/a:b"), "unix:/run/a:b");
  for (const char* peer : {"2001:db8:1:2:3:4:5:6:50", "ipv6:[2001:db8:1:2::7]:51",
                           "ipv6:%5B2001:db8:1:2:ffff::%5D:52"}) {
    EXPECT_EQ(HolderOf("", peer), "2001:db8:1:2::") << peer;
  }
  EXPECT_EQ(HolderOf("", "ipv6:%5B2001:db8:1:3::7%5D:51"), "2001:db8:1:3::");
}

}  // namespace
}  // namespace dragoman
