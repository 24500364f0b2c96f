#include "client/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/fake_server.h"

namespace dragoman {
namespace {

using ::testing::ElementsAre;

class PipelineTest : public ::testing::Test {
 protected:
  TranslationPipeline::Deliver Collect() {
    return [this](const TranslationPipeline::Translated& translated) {
      delivered_.push_back(translated.translation.hypotheses(0).text());
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

TEST_F(PipelineTest, NothingInNothingOut) {
  TranslationPipeline pipeline(&client_, {}, {}, Collect());
  EXPECT_TRUE(pipeline.Flush().ok());
  EXPECT_TRUE(pipeline.Finish().ok());
  EXPECT_TRUE(delivered_.empty());
  EXPECT_TRUE(server_.requests().empty());
}

TEST_F(PipelineTest, DeliversWhatCameBeforeAnErrorAndNothingAfterIt) {
  TranslationPipeline pipeline(&client_, {}, {.max_texts = 1}, Collect());
  for (const char* text : {"one", "two", "bad", "three", "four", "five"}) {
    pipeline.Add(text).IgnoreError();
  }
  EXPECT_EQ(pipeline.Finish().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(pipeline.failed_at(), 2);
  EXPECT_THAT(delivered_, ElementsAre("ONE", "TWO"));
}

TEST_F(PipelineTest, AddFailsOnceARequestHas) {
  TranslationPipeline pipeline(&client_, {}, {.max_texts = 1}, Collect());
  absl::Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) status = pipeline.Add("bad");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(pipeline.failed_at(), 0);
}

}  // namespace
}  // namespace dragoman
