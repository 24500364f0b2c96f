#include "server/observe/tracer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/synchronization/notification.h"
#include "engine/base/json.h"
#include "server/observe/otlp.h"

namespace dragoman {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const absl::Time kStart = absl::FromUnixSeconds(1000);

TracedCall SomeCall() {
  return {.ids = {std::string(32, 'a'), std::string(16, 'b'), ""},
          .api = "grpc",
          .method = "Score",
          .start = kStart,
          .end = kStart + absl::Seconds(1)};
}

TracedCall StagedCall() {
  TracedCall call = SomeCall();
  call.translated = kStart + absl::Milliseconds(900);
  call.queue = absl::Milliseconds(100);
  call.encode = absl::Milliseconds(200);
  call.decode = absl::Milliseconds(400);
  return call;
}

nlohmann::json SpansOf(const std::string& body) {
  return nlohmann::json::parse(body)["resourceSpans"][0]["scopeSpans"][0]["spans"];
}

absl::StatusOr<int64_t> Accept(const std::string&) { return 0; }

TEST(Tracer, TheCallerDecidesWhichCallsAreTraced) {
  const Tracer tracer({.one_in = 1}, Accept);
  TraceContext parent = {std::string(32, '1'), std::string(16, '2'), true};
  const auto ids = tracer.Sample(parent);
  ASSERT_TRUE(ids.has_value());
  EXPECT_EQ(ids->trace_id, parent.trace_id);
  EXPECT_EQ(ids->parent_id, parent.span_id);
  EXPECT_EQ(ids->span_id.size(), 16u);
  EXPECT_NE(ids->span_id, parent.span_id);
  parent.sampled = false;
  EXPECT_FALSE(tracer.Sample(parent).has_value());
}

TEST(Tracer, OfCallsWithoutAParentOneInSoManyIsTraced) {
  const Tracer all({.one_in = 1}, Accept), none({.one_in = 0}, Accept), some({.one_in = 8}, Accept);
  std::set<std::string> traces;
  int chosen = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto ids = all.Sample(std::nullopt);
    ASSERT_TRUE(ids.has_value());
    EXPECT_EQ(ids->parent_id, "");
    traces.insert(ids->trace_id);
    EXPECT_FALSE(none.Sample(std::nullopt).has_value());
    chosen += some.Sample(std::nullopt).has_value() ? 1 : 0;
  }
  EXPECT_EQ(traces.size(), 4000u);
  EXPECT_NEAR(chosen, 500, 200);  // nine standard deviations
  EXPECT_TRUE(none.Sample(TraceContext{std::string(32, '1'), std::string(16, '2'), true}));
}

TEST(Tracer, SendsWhatWaitsWhenItEnds) {
  std::vector<std::string> bodies;
  Tracer tracer({.most_at_once = 2, .interval = absl::InfiniteDuration()},
                [&](const std::string& body) -> absl::StatusOr<int64_t> {
                  bodies.push_back(body);
                  return 0;
                });
  for (int i = 0; i < 3; ++i) tracer.Add(SomeCall());
  tracer.Stop();
  size_t spans = 0;
  for (const std::string& body : bodies) {
    EXPECT_LE(SpansOf(body).size(), 2u);
    spans += SpansOf(body).size();
  }
  EXPECT_EQ(spans, 3u);
  EXPECT_EQ(tracer.Stats().sent, 3);
}

TEST(Tracer, ABodyHasFewCallsOfManyParts) {
  std::vector<size_t> spans;
  Tracer tracer({.most_at_once = 20, .interval = absl::InfiniteDuration()},
                [&](const std::string& body) -> absl::StatusOr<int64_t> {
                  spans.push_back(SpansOf(body).size());
                  return 0;
                });
  for (const size_t parts : {kMostParts, kMostParts, size_t{0}}) {
    TracedCall call = SomeCall();
    call.parts.resize(parts);
    tracer.Add(call);
  }
  tracer.Stop();
  EXPECT_THAT(spans, testing::ElementsAre(kMostParts + 1, kMostParts + 1, size_t{1}));
}

TEST(Tracer, DropsAndCountsWhatASlowCollectorDoesNotTake) {
  absl::Notification busy, go;
  Tracer tracer({.most_waiting = 2, .most_at_once = 1, .interval = absl::InfiniteDuration()},
                [&](const std::string&) -> absl::StatusOr<int64_t> {
                  if (!busy.HasBeenNotified()) busy.Notify();
                  go.WaitForNotification();
                  return 0;
                });
  tracer.Add(SomeCall());
  busy.WaitForNotification();
  tracer.Add(SomeCall());
  tracer.Add(SomeCall());
  tracer.Add(SomeCall());    // one too many
  tracer.Add(StagedCall());  // with four children
  EXPECT_EQ(tracer.Stats().queue_full, 6);
  go.Notify();
  tracer.Stop();
  EXPECT_EQ(tracer.Stats().sent, 3);
}

TEST(Tracer, CountsWhatIsRefusedOrUnreachable) {
  Tracer partly({}, [](const std::string&) { return absl::StatusOr<int64_t>(2); });
  partly.Add(StagedCall());
  partly.Stop();
  EXPECT_EQ(partly.Stats().sent, 3);
  EXPECT_EQ(partly.Stats().refused, 2);
  Tracer refused({}, [](const std::string&) {
    return absl::StatusOr<int64_t>(absl::FailedPreconditionError("400"));
  });
  refused.Add(SomeCall());
  refused.Stop();
  EXPECT_EQ(refused.Stats().refused, 1);
  int tries = 0;
  Tracer away({.most_at_once = 1}, [&](const std::string&) {
    ++tries;
    return absl::StatusOr<int64_t>(absl::UnavailableError("nobody listens"));
  });
  away.Add(SomeCall());
  away.Stop();
  EXPECT_GE(tries, 1);
  EXPECT_EQ(away.Stats().unreachable, 1);
}

TEST(Otlp, StagesLieEndToEndBeforeTheEngineWasDone) {
  const nlohmann::json spans = SpansOf(OtlpBody({StagedCall()}));
  ASSERT_EQ(spans.size(), 5u);
  const auto span = [&](int i) {
    const auto ms = [&](const char* key) {
      return (std::stoll(spans[i][key].get<std::string>()) - 1'000'000'000'000) / 1'000'000;
    };
    return spans[i]["name"].get<std::string>() + " " + std::to_string(ms("startTimeUnixNano")) +
           "-" + std::to_string(ms("endTimeUnixNano"));
  };
  EXPECT_EQ(span(0), "dragoman.v1.TranslationService/Score 0-1000");
  EXPECT_EQ(span(1), "queue 200-300");
  EXPECT_EQ(span(2), "encode 300-500");
  EXPECT_EQ(span(3), "decode 500-900");
  EXPECT_EQ(span(4), "answer 900-1000");
  for (int i = 1; i < 5; ++i) EXPECT_EQ(spans[i]["parentSpanId"], std::string(16, 'b'));
}

TEST(Otlp, StagesThatAreLongerThanTheCallAreCutOff) {
  TracedCall call = StagedCall();
  call.decode = absl::Seconds(5);
  const nlohmann::json spans = SpansOf(OtlpBody({call}));
  for (const nlohmann::json& span : spans) {
    const int64_t start = std::stoll(span["startTimeUnixNano"].get<std::string>());
    EXPECT_GE(start, absl::ToUnixNanos(kStart));
    EXPECT_LE(start, std::stoll(span["endTimeUnixNano"].get<std::string>()));
  }
}

TEST(Otlp, PartsAreChildrenOfTheirCall) {
  TracedCall call = SomeCall();
  call.method = "TranslateBulk";
  call.parts = {{.model = "en-de",
                 .source_tokens = 3,
                 .target_tokens = 4,
                 .start = kStart,
                 .end = kStart + absl::Milliseconds(20)},
                {.code = absl::StatusCode::kInternal, .start = kStart, .end = call.end}};
  const nlohmann::json spans = SpansOf(OtlpBody({call}));
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(SpanCount(call), 3);
  for (const size_t i : {1, 2}) {
    EXPECT_EQ(spans[i]["name"], "part");
    EXPECT_EQ(spans[i]["parentSpanId"], std::string(16, 'b'));
  }
  EXPECT_EQ(spans[1]["endTimeUnixNano"], "1000020000000");
  EXPECT_THAT(spans[1]["attributes"].dump(), HasSubstr("en-de"));
  EXPECT_FALSE(spans[1].contains("status"));
  EXPECT_EQ(spans[2]["status"]["code"], 2);
}

TEST(Otlp, BytesThatAreNotUtf8AreReplaced) {
  TracedCall call = SomeCall();
  call.principal = std::string("\0M\0\xFC", 4);
  call.model = "\xC3";
  EXPECT_THAT(SpansOf(OtlpBody({call})).size(), 1u);
  EXPECT_THAT(OtlpBody({call}), HasSubstr("\uFFFD"));
}

TEST(Otlp, OnlyTheServersErrorsAreErrorsOfTheSpan) {
  TracedCall call = SomeCall();
  call.code = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(OtlpBody({call}), HasSubstr("\"status\":{}"));
  EXPECT_THAT(OtlpBody({call}), HasSubstr("INVALID_ARGUMENT"));
  call.code = absl::StatusCode::kInternal;
  EXPECT_THAT(OtlpBody({call}), HasSubstr("\"status\":{\"code\":2}"));
}

TEST(Otlp, ReadsHowManySpansWereRejected) {
  EXPECT_EQ(RejectedSpans(R"({"partialSuccess": {"rejectedSpans": "3"}})"), 3);
  EXPECT_EQ(RejectedSpans(R"({"partialSuccess": {"rejectedSpans": 4}})"), 4);
  for (const char* other :
       {"", "{}", "[]", "\x01", R"({"partialSuccess": 1})", R"({"partialSuccess": {}})",
        R"({"partialSuccess": {"rejectedSpans": -5}})",
        R"({"partialSuccess": {"rejectedSpans": "many"}})"}) {
    EXPECT_EQ(RejectedSpans(other), 0) << other;
  }
}

}  // namespace
}  // namespace dragoman
