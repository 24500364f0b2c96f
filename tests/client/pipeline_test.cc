#include "client/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/client/fake_server.h"

namespace dragoman {
namespace {

using ::testing::ElementsAre;

class PipelineTest : public ::testing::Test {
 protected:
  TranslationPipeline::Deliver Collect() {
    return [this](const TranslationPipeline::Translated& translated) {
      EXPECT_EQ(translated.place, static_cast<int64_t>(delivered_.size()));
      delivered_.push_back(translated.status.ok() ? translated.translation.hypotheses(0).text()
                                                  : translated.status.ToString());
    };
  }

  FakeServer server_;
  TranslationClient client_{server_.address(), {.retry = false}};
  std::vector<std::string> delivered_;
};

TEST_F(PipelineTest, KeepsTheOrderOfManyTexts) {
  std::vector<std::string> want;
  {
    TranslationPipeline pipeline(&client_, {}, {.max_texts = 3}, Collect());
    for (int i = 0; i < 500; ++i) {
      want.push_back("T" + std::to_string(i));
      ASSERT_TRUE(pipeline.Add("t" + std::to_string(i)).ok());
    }
    ASSERT_TRUE(pipeline.Finish().ok());
  }
  EXPECT_EQ(delivered_, want);
  for (const v1::TranslateRequest& request : server_.requests()) {
    EXPECT_LE(request.contents_size(), 3);
  }
}

TEST_F(PipelineTest, BoundsTheBytesOfARequest) {
  TranslationPipeline pipeline(&client_, {}, {.max_texts = 100, .max_bytes = 10}, Collect());
  for (const char* text : {"aaaa", "bbbb", "cccc", "a text that is longer", "d"}) {
    ASSERT_TRUE(pipeline.Add(text).ok());
  }
  ASSERT_TRUE(pipeline.Finish().ok());
  EXPECT_EQ(server_.requests().size(), 4u);
  EXPECT_THAT(delivered_, ElementsAre("AAAA", "BBBB", "CCCC", "A TEXT THAT IS LONGER", "D"));
}

TEST_F(PipelineTest, ARequestHasTextsOfOneMarkup) {
  v1::TranslateRequest request;
  request.set_markup(v1::MARKUP_XML);
  TranslationPipeline pipeline(&client_, request, {}, Collect());
  ASSERT_TRUE(pipeline.Add("a", TextForm{v1::MARKUP_NONE}).ok());
  ASSERT_TRUE(pipeline.Add("b", TextForm{v1::MARKUP_NONE}).ok());
  ASSERT_TRUE(pipeline.Add("c", TextForm{v1::MARKUP_HTML}).ok());
  ASSERT_TRUE(pipeline.Add("d").ok());
  ASSERT_TRUE(pipeline.AwaitDelivered(4).ok());
  EXPECT_THAT(delivered_, ElementsAre("A", "B", "C", "D"));
  std::map<std::string, v1::Markup> markups;
  for (const v1::TranslateRequest& sent : server_.requests()) {
    for (const std::string& text : sent.contents()) markups[text] = sent.markup();
  }
  EXPECT_EQ(markups, (std::map<std::string, v1::Markup>{{"a", v1::MARKUP_NONE},
                                                        {"b", v1::MARKUP_NONE},
                                                        {"c", v1::MARKUP_HTML},
                                                        {"d", v1::MARKUP_XML}}));
}

TEST_F(PipelineTest, NothingInNothingOut) {
  TranslationPipeline pipeline(&client_, {}, {}, Collect());
  EXPECT_TRUE(pipeline.Flush().ok());
  EXPECT_TRUE(pipeline.Finish().ok());
  EXPECT_TRUE(delivered_.empty());
  EXPECT_TRUE(server_.requests().empty());
}

TEST_F(PipelineTest, DeliversEverythingBeforeAnErrorAndNothingAfterIt) {
  TranslationPipeline pipeline(&client_, {}, {.max_texts = 1}, Collect());
  for (const char* text : {"one", "two", "bad", "three", "four", "five"}) {
    pipeline.Add(text).IgnoreError();
  }
  EXPECT_EQ(pipeline.Finish().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(pipeline.failure().first, 2);
  EXPECT_EQ(pipeline.failure().last, 2);
  EXPECT_THAT(delivered_, ElementsAre("ONE", "TWO"));
}

TEST_F(PipelineTest, AddFailsOnceARequestHas) {
  TranslationPipeline pipeline(&client_, {}, {.max_texts = 1}, Collect());
  absl::Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) status = pipeline.Add("bad");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(pipeline.failure().first, 0);
}

TEST_F(PipelineTest, NamesTheTextAmongAllAndNotInItsRequest) {
  TranslationPipeline pipeline(&client_, {}, {.max_texts = 10}, Collect());
  for (int i = 0; i < 27; ++i) pipeline.Add("t").IgnoreError();
  pipeline.Add("bad").IgnoreError();
  const absl::Status status = pipeline.Finish();
  EXPECT_EQ(status, absl::InvalidArgumentError("is bad"));
  EXPECT_EQ(pipeline.failure().first, 27);
  EXPECT_EQ(delivered_.size(), 20u);
}

TEST_F(PipelineTest, SkipsFailedTextsIfAskedTo) {
  TranslationPipeline pipeline(&client_, {}, {.max_texts = 4, .skip_errors = true}, Collect());
  for (const char* text : {"bad", "a", "bad", "broken", "b", "c", "bad", "d", "bad"}) {
    ASSERT_TRUE(pipeline.Add(text).ok());
  }
  ASSERT_TRUE(pipeline.Finish().ok());
  const char* const kBad = "INVALID_ARGUMENT: is bad";
  EXPECT_THAT(delivered_,
              ElementsAre(kBad, "A", kBad, "INTERNAL: internal error", "B", "C", kBad, "D", kBad));
}

TEST_F(PipelineTest, AWrongOptionIsNoTextsError) {
  TranslationPipeline pipeline(&client_, {}, {.max_texts = 4, .skip_errors = true}, Collect());
  for (const char* text : {"a", "wrong option"}) pipeline.Add(text).IgnoreError();
  EXPECT_EQ(pipeline.Finish().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(pipeline.failure().first, 0);
  EXPECT_EQ(pipeline.failure().last, 1);
  EXPECT_THAT(delivered_, ElementsAre());
}

TEST_F(PipelineTest, WaitsAsLongAsABusyServerAsks) {
  TranslationPipeline pipeline(&client_, {}, {.max_texts = 1, .max_wait = absl::Seconds(20)},
                               Collect());
  ASSERT_TRUE(pipeline.Add("busy once").ok());
  ASSERT_TRUE(pipeline.Finish().ok());
  EXPECT_THAT(delivered_, ElementsAre("BUSY ONCE"));
  EXPECT_EQ(server_.requests().size(), 2u);
}

TEST_F(PipelineTest, GivesUpOnAServerThatStaysBusy) {
  TranslationPipeline pipeline(&client_, {}, {.max_wait = absl::Seconds(1)}, Collect());
  ASSERT_TRUE(pipeline.Add("busy").ok());
  EXPECT_EQ(pipeline.Finish().code(), absl::StatusCode::kResourceExhausted);
  // It tries at once and after every 250 ms; a busy machine does not get to all of them.
  EXPECT_GE(server_.requests().size(), 1u);
  EXPECT_LE(server_.requests().size(), 4u);
}

TEST_F(PipelineTest, WaitsForAServerThatWentAwayButNotForOneThatWasNeverThere) {
  {
    TranslationPipeline pipeline(&client_, {}, {.max_texts = 1, .max_wait = absl::Seconds(20)},
                                 Collect());
    ASSERT_TRUE(pipeline.Add("a").ok());
    ASSERT_TRUE(pipeline.Add("draining twice").ok());
    EXPECT_TRUE(pipeline.Finish().ok());
  }
  EXPECT_THAT(delivered_, ElementsAre("A", "DRAINING TWICE"));
  TranslationPipeline pipeline(&client_, {}, {.max_wait = absl::Seconds(20)}, Collect());
  ASSERT_TRUE(pipeline.Add("draining").ok());
  EXPECT_EQ(pipeline.Finish().code(), absl::StatusCode::kUnavailable);
}

// --- The same over one call of TranslateBulk

constexpr PipelineOptions kBulk = {.max_texts = 1, .max_in_flight = 64, .bulk = true};

TEST_F(PipelineTest, BulkKeepsTheOrderOfManyTexts) {
  std::vector<std::string> want;
  TranslationPipeline pipeline(&client_, {}, kBulk, Collect());
  for (int i = 0; i < 500; ++i) {
    want.push_back("T" + std::to_string(i));
    ASSERT_TRUE(pipeline.Add("t" + std::to_string(i)).ok());
  }
  ASSERT_TRUE(pipeline.Finish().ok());
  EXPECT_EQ(delivered_, want);
}

TEST_F(PipelineTest, BulkNamesTheTextThatFailedAndDeliversNothingAfterIt) {
  TranslationPipeline pipeline(&client_, {}, kBulk, Collect());
  for (const char* text : {"one", "two", "bad", "three"}) pipeline.Add(text).IgnoreError();
  EXPECT_EQ(pipeline.Finish(), absl::InvalidArgumentError("is bad"));
  EXPECT_EQ(pipeline.failure().first, 2);
  EXPECT_EQ(pipeline.failure().last, 2);
  EXPECT_THAT(delivered_, ElementsAre("ONE", "TWO"));
}

TEST_F(PipelineTest, BulkSkipsFailedTextsIfAskedTo) {
  PipelineOptions options = kBulk;
  options.skip_errors = true;
  TranslationPipeline pipeline(&client_, {}, options, Collect());
  for (const char* text : {"bad", "a", "broken", "b"}) ASSERT_TRUE(pipeline.Add(text).ok());
  ASSERT_TRUE(pipeline.Finish().ok());
  EXPECT_THAT(delivered_,
              ElementsAre("INVALID_ARGUMENT: is bad", "A", "INTERNAL: internal error", "B"));
}

TEST_F(PipelineTest, BulkWaitsAsLongAsABusyServerAsks) {
  PipelineOptions options = kBulk;
  options.max_wait = absl::Seconds(20);
  TranslationPipeline pipeline(&client_, {}, options, Collect());
  ASSERT_TRUE(pipeline.Add("busy once").ok());
  ASSERT_TRUE(pipeline.Finish().ok());
  EXPECT_THAT(delivered_, ElementsAre("BUSY ONCE"));
}

TEST_F(PipelineTest, BulkResendsWhatWasLostWithACall) {
  TranslationPipeline pipeline(&client_, {}, kBulk, Collect());
  std::vector<std::string> want;
  for (int i = 0; i < 40; ++i) {
    const std::string text = i == 20 ? "hang up once" : "t" + std::to_string(i);
    want.push_back(i == 20 ? "HANG UP ONCE" : "T" + std::to_string(i));
    ASSERT_TRUE(pipeline.Add(text).ok());
  }
  EXPECT_TRUE(pipeline.Finish().ok());
  EXPECT_EQ(delivered_, want);
}

}  // namespace
}  // namespace dragoman
