#include "server/observe/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/time.h"
#include "server/observe/metrics.h"

namespace dragoman {
namespace {

const SampleKey kCalls = {"calls", {}};
const SampleKey kRefused = {"refused", {{"reason", "quota"}}};

TEST(History, KeepsTheLastMomentsInOrder) {
  History history(absl::Seconds(10), 3);
  for (int i = 1; i <= 5; ++i) history.Add(absl::FromUnixSeconds(i * 10), {{kCalls, i * 100.0}});
  EXPECT_EQ(history.Json(absl::FromUnixSeconds(57)),
            R"({"now":57,"times":[30,40,50],)"
            R"("series":[{"name":"calls","labels":{},"values":[300,400,500]}]})");
}

TEST(History, ASeriesBeginsWhenItIsNotZero) {
  History history;
  history.Add(absl::FromUnixSeconds(10), {{kCalls, 0}, {kRefused, 0}});
  history.Add(absl::FromUnixSeconds(20), {{kCalls, 0}, {kRefused, 0.5}});
  history.Add(absl::FromUnixSeconds(30), {{kCalls, 0}});
  EXPECT_EQ(history.Json(absl::FromUnixSeconds(30)),
            R"({"now":30,"times":[10,20,30],)"
            R"("series":[{"name":"refused","labels":{"reason":"quota"},"values":[0,0.5,0]}]})");
}

TEST(History, IsEmptyAtFirst) {
  EXPECT_EQ(History().Json(absl::FromUnixSeconds(1)), R"({"now":1,"times":[],"series":[]})");
}

TEST(History, AMomentIsDueAfterTheIntervalAndWhenTheClockIsSetBack) {
  History history(absl::Seconds(10));
  EXPECT_TRUE(history.Due(absl::FromUnixSeconds(100)));
  history.Add(absl::FromUnixSeconds(100), {});
  EXPECT_FALSE(history.Due(absl::FromUnixSeconds(109)));
  EXPECT_TRUE(history.Due(absl::FromUnixSeconds(110)));
  EXPECT_TRUE(history.Due(absl::FromUnixSeconds(50)));
}

TEST(History, CountsTranslationsOfAllMethodsAndModelsTogether) {
  Metrics metrics(2);
  for (const char* method : {"Translate", "TranslateStream", "ListModels"}) {
    metrics.OnCallStarted();
    metrics.OnCallEnded({.method = method,
                         .model = "",
                         .status = absl::OkStatus(),
                         .duration = absl::Milliseconds(40)});
  }
  MetricSamples samples = metrics.Samples();
  EXPECT_EQ((samples[{"dragoman_requests_total", {{"code", "OK"}}}]), 2);
  EXPECT_EQ((samples[{"dragoman_request_duration_seconds_count", {}}]), 2);
  EXPECT_EQ((samples[{"dragoman_request_duration_seconds_bucket", {{"le", "0.03"}}}]), 0);
  EXPECT_EQ((samples[{"dragoman_request_duration_seconds_bucket", {{"le", "0.05"}}}]), 2);
  EXPECT_EQ((samples[{"dragoman_request_duration_seconds_bucket", {{"le", "+Inf"}}}]), 2);
  EXPECT_GT((samples[{"process_resident_memory_bytes", {}}]), 0);
}

}  // namespace
}  // namespace dragoman
