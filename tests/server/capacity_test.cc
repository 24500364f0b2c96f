#include "server/capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace dragoman {
namespace {

using ::testing::HasSubstr;

OfferedLoad Parsed(const std::string& text) {
  const absl::StatusOr<OfferedLoad> load = ParseLoad(text);
  EXPECT_TRUE(load.ok()) << load.status();
  return load.value_or(OfferedLoad());
}

std::string WhyNotALoad(const std::string& text) {
  return std::string(ParseLoad(text).status().message());
}

TEST(Capacity, ALoadIsSentencesOrWordsInATime) {
  EXPECT_EQ(Parsed("200sentences/s").sentences_per_second, 200);
  EXPECT_EQ(Parsed("7200sentences/h").sentences_per_second, 2);
  EXPECT_EQ(Parsed("60000words/min").sentences_per_second, 50);  // of 20 words
  const OfferedLoad load = Parsed("1.5words/s,words=3,p99=500ms,beam=4,from=en,to=de");
  EXPECT_EQ(load.sentences_per_second, .5);
  EXPECT_EQ(load.words, 3);
  EXPECT_EQ(load.p99, absl::Milliseconds(500));
  EXPECT_EQ(load.beam_size, 4);
  EXPECT_EQ(load.source_language + load.target_language, "ende");
}

TEST(Capacity, WhatIsNoLoadIsNamed) {
  for (const char* text : {"", "200", "sentences/s", "200sentences", "200pages/s", "200words/day",
                           "0words/s", "-1words/s", "1e999words/s", "..words/s"}) {
    EXPECT_THAT(WhyNotALoad(text), HasSubstr("want for example 200sentences/s")) << text;
  }
  EXPECT_THAT(WhyNotALoad("1words/s,words=0"), HasSubstr("\"words=0\" is not words=1"));
  EXPECT_THAT(WhyNotALoad("1words/s,words=many"), HasSubstr("words=many"));
  EXPECT_THAT(WhyNotALoad("1words/s,p99=0s"), HasSubstr("p99=0s"));
  EXPECT_THAT(WhyNotALoad("1words/s,p99=fast"), HasSubstr("p99=fast"));
  EXPECT_THAT(WhyNotALoad("1words/s,beam=0"), HasSubstr("beam=0"));
  EXPECT_THAT(WhyNotALoad("1words/s,speed=1"), HasSubstr("\"speed=1\" is not one of words="));
  EXPECT_THAT(WhyNotALoad("1words/s,"), HasSubstr("\"\" is not one of words="));
  EXPECT_THAT(WhyNotALoad("1words/s,text=/no/such/file"), HasSubstr("cannot read /no/such/file"));
}

TEST(Capacity, SentencesAreOfThatLength) {
  const std::vector<std::string> sentences = *SampleSentences({.words = 3});
  EXPECT_EQ(sentences.front(), "the new bridge.");
  EXPECT_EQ(sentences.back(), "again the new.");
}

TEST(Capacity, SentencesOfOnesOwnSayHowLongTheyAre) {
  const std::string path = testing::TempDir() + "dragoman_capacity.txt";
  std::ofstream(path) << "One two three.\n\nOne two three four five.\n";
  const OfferedLoad load = Parsed("400words/s,text=" + path);
  EXPECT_EQ(load.words, 4);
  EXPECT_EQ(load.sentences_per_second, 100);
  EXPECT_THAT(*SampleSentences(load),
              testing::ElementsAre("One two three.", "One two three four five."));
  std::ofstream(path) << "\n";
  EXPECT_THAT(WhyNotALoad("1words/s,text=" + path), HasSubstr("no sentence is in"));
}

// Of a worker that takes 9.8 ms a sentence, which with the request's own time are 10 ms.
constexpr double kCpuSeconds = .0098;
const MeasuredWorker kWorker = {.cpu_seconds = kCpuSeconds,
                                .alone = absl::Milliseconds(20),
                                .model_bytes = 100,
                                .worker_bytes = 10};

CapacityPlan PlanOf(double rate, absl::Duration p99, int machine_cores = 4) {
  const auto plan =
      PlanCapacity({.sentences_per_second = rate, .p99 = p99}, kWorker, machine_cores);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.value_or(CapacityPlan());
}

TEST(Capacity, CoresAreUsedAsFarAsTheCurveAllows) {
  EXPECT_EQ(PlanOf(1, absl::InfiniteDuration()).utilization, .7);
  EXPECT_EQ(PlanOf(1, absl::Milliseconds(38)).utilization, .1);          // 1.9 times
  EXPECT_NEAR(PlanOf(1, absl::Milliseconds(72)).utilization, .6, 1e-9);  // between 2.1 and 5.1
  EXPECT_NEAR(PlanOf(1, absl::Milliseconds(102)).utilization, .7, 1e-9);
  EXPECT_EQ(PlanOf(1, absl::Seconds(10)).utilization, .8);  // never nearer to saturation
}

TEST(Capacity, CoresCarryTheLoad) {
  const CapacityPlan plan = PlanOf(1000, absl::Milliseconds(42));  // half of the cores
  EXPECT_NEAR(plan.busy_cores, 10, 1e-9);
  EXPECT_EQ(plan.cores, 20);
  EXPECT_EQ(plan.replicas, 5);
  EXPECT_EQ(plan.cores_each, 4);
  EXPECT_EQ(plan.bytes_each, 130);
}

TEST(Capacity, TheLeastIsACore) {
  const CapacityPlan plan = PlanOf(.001, absl::InfiniteDuration());
  EXPECT_EQ(plan.cores, 1);
  EXPECT_EQ(plan.replicas, 1);
  EXPECT_EQ(plan.cores_each, 1);
  EXPECT_EQ(plan.bytes_each, 100);
}

TEST(Capacity, ReplicasAreAlike) {
  const CapacityPlan plan = PlanOf(350, absl::InfiniteDuration());  // 5 cores
  EXPECT_EQ(plan.cores, 5);
  EXPECT_EQ(plan.replicas, 2);
  EXPECT_EQ(plan.cores_each, 3);
}

TEST(Capacity, WhatNoCoresCanDoIsRefused) {
  const auto plan =
      PlanCapacity({.sentences_per_second = 1, .p99 = absl::Milliseconds(37)}, kWorker, 4);
  EXPECT_TRUE(absl::IsFailedPrecondition(plan.status()));
  EXPECT_THAT(plan.status().message(), HasSubstr("a sentence alone takes up to 20.0 ms"));
  EXPECT_TRUE(
      absl::IsInvalidArgument(PlanCapacity({.sentences_per_second = 1e12}, kWorker, 4).status()));
}

}  // namespace
}  // namespace dragoman
