#include "server/auth/caller.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

TEST(HolderOf, IsThePrincipalOrTheAddressOrTheNetworkOverAnyTransport) {
  EXPECT_EQ(HolderOf("shop", "ipv4:10.0.0.1:50"), "shop");
  for (const char* peer :
       {"ipv4:10.0.0.1:50", "10.0.0.1:51", "::ffff:10.0.0.1:52", "ipv6:%5B::ffff:10.0.0.1%5D:53"}) {
    EXPECT_EQ(HolderOf("", peer), " 10.0.0.1") << peer;
  }
  for (const char* peer : {"2001:db8:1:2:3:4:5:6:50", "ipv6:[2001:db8:1:2::7]:51",
                           "ipv6:%5B2001:db8:1:2:ffff::%5D:52"}) {
    EXPECT_EQ(HolderOf("", peer), " 2001:db8:1:2::") << peer;
  }
  EXPECT_EQ(HolderOf("", "ipv6:%5B2001:db8:1:3::7%5D:51"), " 2001:db8:1:3::");
  for (const char* peer : {"fe80::1%eth0:50", "ipv6:%5Bfe80::2%25eth0%5D:51"}) {
    EXPECT_EQ(HolderOf("", peer), " fe80::") << peer;
  }
  for (const char* peer : {"unix:", "unix:/run/a:b"}) EXPECT_EQ(HolderOf("", peer), " unix");
}

}  // namespace
}  // namespace dragoman
