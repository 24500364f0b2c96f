#include "server/observe/trace.h"

#include <gtest/gtest.h>

#include <set>

namespace dragoman {
namespace {

const std::string kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kSpan = "00f067aa0ba902b7";
const std::string kHeader = "00-" + kTrace + "-" + kSpan + "-01";

TEST(Trace, ReadsTheIdsOfATraceParent) {
  for (const std::string& header : {kHeader, "00-" + kTrace + "-" + kSpan + "-00",
                                    "cc" + kHeader.substr(2), "cc" + kHeader.substr(2) + "-more"}) {
    const auto context = ParseTraceParent(header);
    ASSERT_TRUE(context.has_value()) << header;
    EXPECT_EQ(context->trace_id, kTrace);
    EXPECT_EQ(context->span_id, kSpan);
  }
  EXPECT_TRUE(ParseTraceParent(kHeader)->sampled);
  EXPECT_FALSE(ParseTraceParent("00-" + kTrace + "-" + kSpan + "-fe")->sampled);
}

TEST(Trace, IgnoresAnythingElse) {
  std::string upper = kHeader;
  upper[3 + 1] = 'B';
  for (const std::string& header :
       {std::string(), kHeader.substr(1), kHeader.substr(0, 54), kHeader + "-more", kHeader + "0",
        "ff" + kHeader.substr(2), "cc" + kHeader.substr(2) + "0", upper, "00_" + kHeader.substr(3),
        "00-" + std::string(32, '0') + "-" + kSpan + "-01",
        "00-" + kTrace + "-" + std::string(16, '0') + "-01", kHeader.substr(0, 53) + "0g"}) {
    EXPECT_FALSE(ParseTraceParent(header).has_value()) << header;
  }
}

TEST(Trace, RequestIdsAreShortAndHarmless) {
  EXPECT_TRUE(IsRequestId("order-17_a.B"));
  EXPECT_TRUE(IsRequestId(std::string(64, 'x')));
  for (const std::string& id : {std::string(), std::string(65, 'x'), std::string("a b"),
                                std::string("a\n"), std::string("\xc3\xa4"), std::string("a\"")}) {
    EXPECT_FALSE(IsRequestId(id)) << id;
  }
}

TEST(Trace, NewRequestIdsDiffer) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(NewRequestId());
  EXPECT_EQ(ids.size(), 1000u);
  EXPECT_EQ(ids.begin()->size(), 32u);
  EXPECT_TRUE(IsRequestId(*ids.begin()));
}

}  // namespace
}  // namespace dragoman
