#include "client/load_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dragoman {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<LoadPoint> TwoPoints() {
  LoadReport light = {.seconds = 10, .requests = 100, .texts = 100, .good = 100};
  light.codes["OK"] = 100;
  light.latencies = {0.01, 0.02};
  LoadReport heavy = {.seconds = 10, .requests = 300, .good = 50};
  heavy.codes["DEADLINE_EXCEEDED"] = 300;
  return {{10, light}, {30, heavy}};
}

TEST(LoadCurve, ReadsTheRatesOfASweep) {
  EXPECT_THAT(*ParseRates("20,50.5,100"), ElementsAre(20, 50.5, 100));
  EXPECT_THAT(*ParseRates("20:100:5"), ElementsAre(20, 40, 60, 80, 100));
  for (const char* wrong : {"", ":", "0,1", "-1", "5,5", "9,3", "a", "1,,2", "1:2", "5:1:3",
                            "1:9:1", "1:9:x", "1:inf:3", "1:2:3:4", "nan"}) {
    EXPECT_EQ(ParseRates(wrong).status().code(), absl::StatusCode::kInvalidArgument) << wrong;
  }
}

TEST(LoadCurve, HasARowForEachRate) {
  EXPECT_EQ(ToCsv(TwoPoints()),
            "offered_per_second,requests,seconds,ok,good_per_second,texts_per_second,p50_ms,p90_ms,"
            "p99_ms,document_p50_ms,document_p99_ms\n"
            "10,100,10.000,100,10.00,10.00,10.00,20.00,20.00,0.00,0.00\n"
            "30,300,10.000,0,5.00,0.00,0.00,0.00,0.00,0.00,0.00\n");
  const Json curve = ToJson(TwoPoints());
  EXPECT_EQ(curve[1]["offered_per_second"], 30);
  EXPECT_EQ(curve[0]["latency_seconds"]["p99"], 0.02);
}

TEST(LoadCurve, DrawsWhatThereIs) {
  const std::string svg = ToSvg(TwoPoints(), absl::Milliseconds(500));
  EXPECT_THAT(svg, HasSubstr("within 500ms"));
  // The best goodput, 10 per second, is near the top of its chart at a third of the width.
  EXPECT_THAT(svg, HasSubstr("points=\"243.3,49.5 590.0,144.8 \""));
  EXPECT_THAT(svg, HasSubstr(">p99</text>"));
  // Nothing was answered: there is no latency to draw.
  EXPECT_THAT(ToSvg({{5, LoadReport()}}, absl::Seconds(1)), Not(HasSubstr(">p99</text>")));
}

}  // namespace
}  // namespace dragoman
