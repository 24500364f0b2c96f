#include "engine/request/running_request.h"

#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "engine/decode/worker_pool.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"
#include "tests/request/translate_and_wait.h"

namespace dragoman::running_request_test {
namespace {

using ::testing::ElementsAre;

// Counts how sentences end.
struct Ends : Observer {
  void OnJobDone(const Job&, const JobResult& result) override {
    ++(absl::IsCancelled(result.status) ? cancelled : others);
  }
  std::atomic<int> cancelled = 0, others = 0;
};

// Translates groups of texts by one small model.
class GroupsTest : public testing::Test {
 protected:
  GroupsTest() {
    translator_ = std::make_shared<const Translator>(
        TrainedModel(), &pool_, Limits{.max_source_tokens = 20, .max_beam_size = 8});
  }

  TextGroup Group(const std::string& language, std::vector<size_t> texts) const {
    return {.language = language, .route = Route(translator_), .texts = std::move(texts)};
  }

  // Many long translations, and at last a sentence that is too long.
  TranslateRequest ManyAndOneTooLong() const {
    TranslateRequest request = {.truncation = Truncation::kReject};
    request.texts.assign(64, "The cat is old.");
    request.texts.emplace_back();
    for (int i = 0; i < 50; ++i) request.texts.back() += "cat ";
    request.options.beam_size = 8;
    request.options.min_length = 60;
    request.options.max_length = 61;
    return request;
  }

  Ends ends_;
  WorkerPool pool_{{.workers = 1, .max_batch_rows = 32, .kv_capacity_bytes = 64 << 20}, &ends_};
  std::shared_ptr<const Translator> translator_;
};

TEST_F(GroupsTest, AGroupThatIsRefusedEndsThoseThatRun) {
  std::vector<size_t> many(64);
  std::iota(many.begin(), many.end(), 0);
  const TranslateResponse response =
      TranslateAndWait({.groups = {Group("", many), Group("", {64})}}, ManyAndOneTooLong());
  EXPECT_TRUE(absl::IsInvalidArgument(response.status)) << response.status;
  EXPECT_EQ(FieldOf(response.status), "contents[64]");
  EXPECT_GT(ends_.cancelled, 0);
}

TEST_F(GroupsTest, NothingStartsAfterAGroupWasRefused) {
  std::vector<size_t> many(64);
  std::iota(many.begin(), many.end(), 0);
  const TranslateResponse response =
      TranslateAndWait({.groups = {Group("", {64}), Group("", many)}}, ManyAndOneTooLong());
  EXPECT_TRUE(absl::IsInvalidArgument(response.status)) << response.status;
  EXPECT_EQ(ends_.cancelled + ends_.others, 0);
}

TEST_F(GroupsTest, TextsKeepTheirOrderAndWhatNeedsNoTranslationStaysAsItIs) {
  const TextGroup as_it_is = {.language = "", .route = {}, .texts = {1}};
  const TextGroup through = {
      .language = "", .route = Route(translator_, "", translator_), .texts = {2}};
  const Itinerary itinerary = {.groups = {Group("", {0, 3}), as_it_is, through}};
  const TranslateRequest request = {
      .texts = {"The cat is old.", "Es ist spät.", "The dog.", "The house is small."}};
  const TranslateResponse response = TranslateAndWait(itinerary, request);
  ASSERT_TRUE(response.status.ok()) << response.status;
  std::vector<std::string> texts;
  for (const Translation& translation : response.translations) {
    texts.push_back(translation.hypotheses[0].text);
  }
  const std::string once =
      TranslateAndWait(*translator_, {.texts = {"The dog."}}).translations.at(0).hypotheses[0].text;
  EXPECT_THAT(
      texts,
      ElementsAre(
          "Die Katze ist alt.", "Es ist spät.",
          TranslateAndWait(*translator_, {.texts = {once}}).translations.at(0).hypotheses[0].text,
          TranslateAndWait(*translator_, {.texts = {request.texts[3]}})
              .translations.at(0)
              .hypotheses[0]
              .text));
  // One of the first group, two of the last, and together all that was done.
  ASSERT_EQ(response.steps.size(), 3u);
  TranslateTimes hops = response.steps[1].times;
  hops.AddLater(response.steps[2].times);
  hops.AddBeside(response.steps[0].times);
  EXPECT_EQ(hops.steps, response.times.steps);
  EXPECT_EQ(hops.decode, response.times.decode);
  EXPECT_EQ(hops.tokenize, response.times.tokenize);

  std::vector<std::string> told(request.texts.size());
  const TranslateResponse streamed = WaitFor([&](std::function<void(TranslateResponse)> done) {
    Translate(request, itinerary, std::make_shared<RequestState>(absl::InfiniteFuture()),
              std::move(done),
              [&](TranslateProgress progress) { told[progress.text] += progress.stable_text; });
  });
  ASSERT_TRUE(streamed.status.ok()) << streamed.status;
  EXPECT_TRUE(streamed.translations.empty());
  EXPECT_EQ(told, texts);
}

TEST_F(GroupsTest, OneHopHasNoStepsBesideItsTimes) {
  const TextGroup as_it_is = {.language = "", .route = {}, .texts = {1}};
  for (const Itinerary& itinerary :
       {Itinerary{{Group("", {0, 1})}}, Itinerary{{Group("", {0}), as_it_is}}}) {
    const TranslateResponse response =
        TranslateAndWait(itinerary, {.texts = {"The cat is old.", "Es ist spät."}});
    ASSERT_TRUE(response.status.ok()) << response.status;
    EXPECT_TRUE(response.steps.empty());
  }
}

TEST_F(GroupsTest, TheWaitForAModelIsAPartOfTheQueue) {
  constexpr absl::Duration kLoading = absl::Milliseconds(40);
  std::vector<std::thread> loading;
  const auto late = std::make_shared<const Translator>(
      std::make_shared<const ModelProfile>("late"),
      [&](const std::shared_ptr<RequestState>&, Fetched then) {
        loading.emplace_back([this, then = std::move(then), kLoading] {
          absl::SleepFor(kLoading);
          then(translator_);
        });
      },
      Limits{.max_source_tokens = 20, .max_beam_size = 8});
  for (const Route& route : {Route(late), Route(late, "", translator_)}) {
    const TranslateResponse response = TranslateAndWait(route, {.texts = {"The cat is old."}});
    ASSERT_TRUE(response.status.ok()) << response.status;
    EXPECT_GE(response.times.queue, kLoading);
    if (!response.steps.empty()) {
      EXPECT_GE(response.steps[0].times.queue, kLoading);
    }
  }
  for (std::thread& thread : loading) thread.join();
}

}  // namespace
}  // namespace dragoman::running_request_test
