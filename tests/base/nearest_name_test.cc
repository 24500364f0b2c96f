#include "engine/base/nearest_name.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

const std::vector<std::string> kNames = {"translate", "score", "tokenize", "--beam-size"};

TEST(NearestName, FindsWhatWasMistyped) {
  EXPECT_EQ(NearestName("transalte", kNames), "translate");  // two characters swapped
  EXPECT_EQ(NearestName("translat", kNames), "translate");
  EXPECT_EQ(NearestName("tokeniize", kNames), "tokenize");
  EXPECT_EQ(NearestName("--beamsize", kNames), "--beam-size");
  EXPECT_EQ(NearestName("--beam_size", kNames), "--beam-size");
}

TEST(NearestName, SuggestsNothingFarFetched) {
  EXPECT_EQ(NearestName("dance", kNames), "");
  EXPECT_EQ(NearestName("", kNames), "");
  EXPECT_EQ(NearestName("x", kNames), "");
  EXPECT_EQ(NearestName("score", {}), "");
}

TEST(NearestName, FindsWhatWasCutShort) {
  EXPECT_EQ(NearestName("--target", {"--tls", "--target-language", "--target-prefix"}),
            "--target-language");
  EXPECT_EQ(NearestName("--t", {"--tls-server-name"}), "");
}

TEST(NearestName, OfEqualsTheFirst) { EXPECT_EQ(NearestName("abcd", {"abce", "abcf"}), "abce"); }

TEST(NearestName, DidYouMeanEndsAMessage) {
  EXPECT_EQ(DidYouMean("scores", kNames), "; did you mean score?");
  EXPECT_EQ(DidYouMean("dance", kNames), "");
}

}  // namespace
}  // namespace dragoman
