#include "engine/request/translator.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "engine/text/chrf.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"
#include "tests/request/translator_fixture.h"

namespace dragoman::translator_test {
namespace {

// Translates with a pool of its own.
TranslateResponse TranslateWith(std::shared_ptr<const Model> model, TranslateRequest request) {
  Observer observer;
  WorkerPool pool({.workers = 1}, &observer);
  return TranslateAndWait(Translator(std::move(model), &pool, Limits()), std::move(request));
}

// The example of translator.h, which docs_test.py compares with these lines.
absl::Status RunExample(const std::function<void(TranslateResponse)>& done) {
  Observer observer;
  WorkerPool pool(WorkerPoolOptions(), &observer);
  ASSIGN_OR_RETURN(const auto model,
                   Model::Load("en-de-fr-es", "models/en-de-fr-es", ModelOptions()));
  const Translator translator(model, &pool, Limits());
  translator.Translate({.texts = {"The cat sleeps."}}, absl::InfiniteFuture(), done);
  pool.Drain();
  return absl::OkStatus();
}

TEST(Translator, TheExampleOfItsHeaderTranslates) {
  std::string text;
  const absl::Status status = RunExample([&](TranslateResponse response) {
    ASSERT_TRUE(response.status.ok()) << response.status;
    text = response.translations[0].hypotheses[0].text;
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(text, "Die Katze schläft.");
}

TEST_F(TranslatorTest, TranslatesTextsInTheirOrder) {
  const TranslateResponse response = Translate(
      {.texts = {"The old teacher sees a small house.", "Anna buys the red apple today."}});
  ASSERT_TRUE(response.status.ok()) << response.status;
  ASSERT_EQ(response.translations.size(), 2u);
  const Translation& first = response.translations[0];
  ASSERT_EQ(first.hypotheses.size(), 1u);
  EXPECT_EQ(first.hypotheses[0].text, "Der alte Lehrer sieht ein kleines Haus.");
  EXPECT_EQ(first.hypotheses[0].finish_reason, FinishReason::kEos);
  EXPECT_EQ(first.hypotheses[0].token_ids.front(), 831);
  EXPECT_EQ(first.hypotheses[0].tokens.size(), first.hypotheses[0].token_ids.size());
  EXPECT_EQ(first.hypotheses[0].token_scores.size(), first.hypotheses[0].token_ids.size());
  EXPECT_LT(first.hypotheses[0].score, 0.0f);
  EXPECT_EQ(first.source_tokens, 11);
  EXPECT_FALSE(first.truncated);
  EXPECT_EQ(response.translations[1].hypotheses[0].text, "Anna kauft d roten Apfel heute.");
  EXPECT_GT(response.times.decode, absl::ZeroDuration());
}

// A shipped model with a shortlist made from its own translations.
TEST(TranslatorWithShortlist, TranslatesToTheCandidatesAlone) {
  const auto plain =
      Model::Load("en-de", "tests/golden/models/en-de", {.precision = Precision::kInt8});
  ASSERT_TRUE(plain.ok()) << plain.status();
  const std::vector<std::string> texts = {"The weather is nice today.", "Where is the station?",
                                          "I would like a cup of coffee, please."};
  TranslateRequest request = {.texts = texts};
  request.options.beam_size = 1;
  const TranslateResponse whole = TranslateWith(*plain, request);
  ASSERT_TRUE(whole.status.ok()) << whole.status;

  // The table maps each source token to all tokens of the translation, but leaves out the last
  // text.
  const std::string file = testing::TempDir() + "translator_test.lex";
  std::ofstream table(file);
  const Tokenizer& tokenizer = (*plain)->tokenizer();
  for (size_t t = 0; t + 1 < texts.size(); ++t) {
    for (const int32_t source : tokenizer.Encode(texts[t]).ids) {
      for (const std::string& piece : whole.translations[t].hypotheses[0].tokens) {
        table << piece << " " << tokenizer.SourcePiece(source) << " 0.5\n";
      }
    }
  }
  table.close();
  for (const Precision precision : {Precision::kInt8, Precision::kFloat32}) {
    const auto listed =
        Model::Load("en-de", "tests/golden/models/en-de",
                    {.precision = precision, .shortlist = {.file = file, .first = 30}});
    ASSERT_TRUE(listed.ok()) << listed.status();
    for (const int beam_size : {1, 4}) {
      request.options.beam_size = beam_size;
      const TranslateResponse response = TranslateWith(*listed, request);
      ASSERT_TRUE(response.status.ok()) << response.status;
      for (size_t t = 0; t < texts.size(); ++t) {
        const TranslatedHypothesis& hypothesis = response.translations[t].hypotheses[0];
        if (precision == Precision::kInt8 && beam_size == 1 && t + 1 < texts.size()) {
          EXPECT_EQ(hypothesis.text, whole.translations[t].hypotheses[0].text);
        }
        const std::vector<int32_t> candidates =
            (*listed)->shortlist()->TokensFor(tokenizer.Encode(texts[t]).ids);
        for (const int32_t token : hypothesis.token_ids) {
          EXPECT_TRUE(std::binary_search(candidates.begin(), candidates.end(), token)) << token;
        }
      }
    }
  }
}

TEST_F(TranslatorTest, AnEmptyTextIsAnEmptyTranslation) {
  const TranslateResponse response = Translate({.texts = {"", "The cat is old.", " \t"}});
  ASSERT_TRUE(response.status.ok()) << response.status;
  ASSERT_EQ(response.translations.size(), 3u);
  EXPECT_EQ(response.translations[0].hypotheses.at(0).text, "");
  EXPECT_EQ(response.translations[0].source_tokens, 0);
  EXPECT_NE(response.translations[1].hypotheses.at(0).text, "");
  EXPECT_EQ(response.translations[2].hypotheses.at(0).text, " \t");
}

TEST_F(TranslatorTest, WhatHasNoWordsComesBackWithoutTheModel) {
  for (const std::string text : {"0", "...", "***", "$5", "12:30", "№ 5", "2024-01-02T10:00:00Z",
                                 "A-Z", "{m}:{s}m", "{count} km", "B2", "-----\n\n5."}) {
    const TranslateResponse response =
        Translate({.texts = {text}, .splitting = Splitting::kSentences});
    ASSERT_TRUE(response.status.ok()) << response.status;
    EXPECT_EQ(response.translations[0].hypotheses.at(0).text, text);
    EXPECT_EQ(response.translations[0].source_tokens, 0) << text;
    const TranslateResponse html =
        Translate({.texts = {"<b>" + text + "</b>"}, .markup = Markup::kHtml});
    ASSERT_TRUE(html.status.ok()) << html.status;
    EXPECT_EQ(html.translations[0].hypotheses.at(0).text, "<b>" + text + "</b>");
  }
}

TEST_F(TranslatorTest, MarkersOfLinesStayOutsideOfSentences) {
  const auto translate = [&](const std::string& text) {
    const TranslateResponse response =
        Translate({.texts = {text}, .splitting = Splitting::kSentences});
    EXPECT_TRUE(response.status.ok()) << response.status;
    return response.translations.at(0).hypotheses.at(0).text;
  };
  const std::string alone = translate("The cat is old.");
  for (const std::string marker : {"* ", "· ", "# ", "> ", "a) ", "1) ", "> * "}) {
    EXPECT_EQ(translate("\n" + marker + "The cat is old."), "\n" + marker + alone);
  }
  EXPECT_EQ(translate("(The cat is old.)"), "(" + alone + ")");
}

TEST_F(TranslatorTest, GivesAsManyHypothesesAsAskedBestFirst) {
  TranslateRequest request = {.texts = {"The bridge is not expensive!"}};
  request.options.beam_size = 5;
  request.options.num_hypotheses = 3;
  const TranslateResponse response = Translate(request);
  ASSERT_TRUE(response.status.ok()) << response.status;
  const std::vector<TranslatedHypothesis>& found = response.translations[0].hypotheses;
  ASSERT_EQ(found.size(), 3u);
  EXPECT_GE(found[0].score, found[1].score);
  EXPECT_GE(found[1].score, found[2].score);
  EXPECT_NE(found[0].token_ids, found[1].token_ids);
}

// The candidates are those of the same request without consensus; their agreement is computed here.
TEST_F(TranslatorTest, ConsensusReturnsTheCandidateMostLikeTheOthers) {
  int moved = 0;
  for (const bool sampling : {false, true}) {
    for (const std::string& text : TestSentences()) {
      TranslateRequest request = {.texts = {text}, .keep_literals = false};
      request.options.num_hypotheses = 5;
      if (sampling) {
        request.options.sampling = true;
        request.options.sampling_seed = 3;
        request.options.sampling_temperature = 1.5f;
      } else {
        request.options.beam_size = 5;
      }
      const TranslateResponse all = Translate(request);
      ASSERT_TRUE(all.status.ok()) << all.status;
      const std::vector<TranslatedHypothesis>& candidates = all.translations[0].hypotheses;
      size_t best = 0;
      double most = -1.0;
      for (size_t i = 0; i < candidates.size(); ++i) {
        double sum = 0.0;
        for (size_t j = 0; j < candidates.size(); ++j) {
          if (j != i) {
            sum += ChrF(CharacterNgrams(candidates[i].text), CharacterNgrams(candidates[j].text));
          }
        }
        if (sum > most + 1e-9) best = i, most = sum;
      }
      moved += best != 0 ? 1 : 0;
      request.options.mbr_candidates = 5;
      request.options.num_hypotheses = 1;
      const TranslateResponse chosen = Translate(request);
      ASSERT_TRUE(chosen.status.ok()) << chosen.status;
      EXPECT_EQ(chosen.translations[0].hypotheses[0].text, candidates[best].text) << text;
    }
  }
  EXPECT_GT(moved, 5);  // not the likeliest
}

TEST_F(TranslatorTest, KeepsTheWhiteSpaceBetweenSentences) {
  const std::string text = "  The cat is old.\n\nAnna buys the red apple today.  The dog sleeps.\n";
  const TranslateResponse split = Translate({.texts = {text}, .splitting = Splitting::kSentences});
  ASSERT_TRUE(split.status.ok()) << split.status;
  const Translation& whole = split.translations[0];
  ASSERT_EQ(whole.sentences.size(), 3u);
  std::string expected = "  ";
  for (const auto& [sentence, after] : {std::pair("The cat is old.", "\n\n"),
                                        {"Anna buys the red apple today.", "  "},
                                        {"The dog sleeps.", "\n"}}) {
    expected += Translate({.texts = {sentence}}).translations[0].hypotheses[0].text + after;
  }
  EXPECT_EQ(whole.hypotheses[0].text, expected);
  const SentencePair& second = whole.sentences[1];
  EXPECT_EQ(text.substr(second.source.begin, second.source.end - second.source.begin),
            "Anna buys the red apple today.");
  EXPECT_EQ(
      whole.hypotheses[0].text.substr(second.target.begin, second.target.end - second.target.begin),
      "Anna kauft d roten Apfel heute.");
}

TEST_F(TranslatorTest, SplitsByDefaultUnlessThereIsAPrefix) {
  const std::string text = "The cat is old. The dog sleeps.";
  const auto sentences = [&](TranslateRequest request) {
    const TranslateResponse response = Translate(std::move(request));
    EXPECT_TRUE(response.status.ok()) << response.status;
    return response.translations[0].sentences.size();
  };
  EXPECT_EQ(sentences({.texts = {text}, .splitting = Splitting::kAuto}), 2u);
  EXPECT_EQ(sentences({.texts = {text}, .splitting = Splitting::kNone}), 1u);
  EXPECT_EQ(sentences({.texts = {text}, .splitting = Splitting::kAuto, .target_prefixes = {"Die"}}),
            1u);
}

// A bulk call tries again what finds the queue full, so it must hear when nobody wants it.
TEST(Translator, SaysThatARequestIsNotWantedEvenIfTheQueueIsFull) {
  std::atomic<bool> full = false;
  Observer observer;
  WorkerPool pool({.workers = 1, .max_waiting_requests = 1, .max_batch_rows = 1}, &observer);
  const Translator translator(TrainedModel(), &pool, Limits());
  TranslateRequest slow = {.texts = {"The cat is old."}};
  slow.options.beam_size = 1;
  slow.options.min_length = 300;
  for (int i = 0; i < 100 && !full; ++i) {
    translator.Translate(slow, absl::InfiniteFuture(), [&full](const TranslateResponse& response) {
      if (absl::IsResourceExhausted(response.status)) full = true;
    });
  }
  ASSERT_TRUE(full);
  const auto state = std::make_shared<RequestState>(absl::InfiniteFuture());
  state->Cancel(absl::Now());
  absl::Status status;
  translator.Translate({.texts = {"The cat is old."}}, state,
                       [&](const TranslateResponse& response) { status = response.status; });
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  pool.Drain();
}

TEST_F(TranslatorTest, NamesTheFieldThatIsWrong) {
  ExpectInvalid({}, "contents");
  ExpectInvalid({.texts = std::vector<std::string>(5, "a")}, "contents");
  ExpectInvalid({.texts = {"a", "\xff"}}, "contents[1]");
  ExpectInvalid({.texts = {"a", std::string(1001, 'a')}}, "contents[1]");
  const auto with = [](auto set) {
    TranslateRequest request = {.texts = {"cat"}};
    set(&request.options);
    return request;
  };
  for (const int beam_size : {0, -1, 17}) {
    ExpectInvalid(with([&](auto* o) { o->beam_size = beam_size; }), "options.beam_size");
  }
  ExpectInvalid(with([](auto* o) { o->num_hypotheses = 0; }), "options.num_hypotheses");
  ExpectInvalid(with([](auto* o) { o->beam_size = 2, o->num_hypotheses = 3; }),
                "options.num_hypotheses");
  ExpectInvalid(with([](auto* o) { o->length_penalty = std::nanf(""); }), "options.length_penalty");
  ExpectInvalid(with([](auto* o) { o->max_length = 0; }), "options.max_length");
  ExpectInvalid(with([](auto* o) { o->max_length = 513; }), "options.max_length");
  ExpectInvalid(with([](auto* o) { o->min_length = 5, o->max_length = 5; }), "options.min_length");
  ExpectInvalid(with([](auto* o) { o->max_length_ratio = 0.0f; }), "options.max_length_ratio");
  ExpectInvalid(with([](auto* o) { o->no_repeat_ngram_size = -1; }),
                "options.no_repeat_ngram_size");
  ExpectInvalid(with([](auto* o) { o->repetition_penalty = 0.0f; }), "options.repetition_penalty");
  ExpectInvalid({.texts = {"a"}, .target_language = "xyz"}, "target_language");
}

TEST_F(TranslatorTest, RefusesALongSentenceOrTruncatesItAndSaysSo) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "the cat and ";
  ExpectInvalid({.texts = {"a", text}, .truncation = Truncation::kReject}, "contents[1]");
  const TranslateResponse response =
      Translate({.texts = {"a", text}, .truncation = Truncation::kTruncate});
  ASSERT_TRUE(response.status.ok()) << response.status;
  EXPECT_FALSE(response.translations[0].truncated);
  EXPECT_TRUE(response.translations[1].truncated);
  EXPECT_EQ(response.translations[1].source_tokens, 40);
}

TEST_F(TranslatorTest, SaysWhenALimitEndedTheTranslation) {
  TranslateRequest request = {.texts = {"The old teacher sees a small house."}};
  request.options.max_length = 3;
  const TranslateResponse response = Translate(request);
  ASSERT_TRUE(response.status.ok()) << response.status;
  EXPECT_EQ(response.translations[0].hypotheses[0].finish_reason, FinishReason::kMaxLength);
  EXPECT_LE(response.translations[0].hypotheses[0].token_ids.size(), 3u);
}

TEST_F(TranslatorTest, ADeadlineThatPassedIsDeadlineExceeded) {
  const TranslateResponse response = Translate({.texts = {"cat"}}, absl::InfinitePast());
  EXPECT_TRUE(absl::IsDeadlineExceeded(response.status)) << response.status;
}

TEST_F(TranslatorTest, ACancelledRequestIsReportedOnce) {
  for (int i = 0; i < 50; ++i) {
    absl::Notification done;
    absl::Status status;
    const auto state =
        translator_.Translate({.texts = {TestSentences()[5], TestSentences()[0]}},
                              absl::InfiniteFuture(), [&](TranslateResponse response) {
                                status = response.status;
                                done.Notify();
                              });
    state->Cancel(absl::Now());
    done.WaitForNotification();
    EXPECT_TRUE(status.ok() || absl::IsCancelled(status)) << status;
  }
}

// Cancels a request when the last of its jobs is done.
struct Canceller : Observer {
  void OnJobDone(const Job& job, const JobResult&) override {
    if (--jobs_left == 0) job.request->Cancel(absl::Now());
  }
  std::atomic<int> jobs_left = 0;
};

TEST(Translator, WhatNobodyWaitsForAnyMoreIsNotPutTogether) {
  Canceller canceller;
  WorkerPool pool({.workers = 1}, &canceller);
  const Translator translator(TrainedModel(), &pool, Limits());
  const std::string sentence = "The old teacher sees a small house. ";
  std::string long_text;
  for (int i = 0; i < 128; ++i) long_text += sentence;
  for (const bool is_stream : {false, true}) {
    TranslateRequest request = {.texts = {long_text}, .splitting = Splitting::kSentences};
    if (!is_stream) request.texts.assign(128, sentence);
    canceller.jobs_left = 128;
    bool translated = false;
    OnProgress on_progress;
    if (is_stream) {
      on_progress = [&](const TranslateProgress& progress) {
        translated = translated || progress.translation.has_value();
      };
    }
    const TranslateResponse response = WaitFor([&](std::function<void(TranslateResponse)> done) {
      translator.Translate(request, std::make_shared<RequestState>(absl::InfiniteFuture()),
                           std::move(done), on_progress);
    });
    EXPECT_EQ(canceller.jobs_left, 0);
    EXPECT_TRUE(absl::IsCancelled(response.status)) << response.status;
    EXPECT_FALSE(translated);
  }
}

TEST(Translator, WhoWaitsToBePreparedHearsAtOnceThatItIsLate) {
  Observer observer;
  WorkerPool pool({.workers = 1, .preparing_threads = 1}, &observer);
  const Translator translator(TrainedModel(), &pool, Limits());
  absl::Notification end;
  ASSERT_TRUE(pool.Prepare(std::make_shared<RequestState>(absl::InfiniteFuture()),
                           [&](const absl::Status&) { end.WaitForNotification(); })
                  .ok());
  const TranslateRequest request = {.texts = {std::string(5000, 'a')}};
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      TranslateAndWait(translator, request, absl::Now() + absl::Milliseconds(50)).status));
  end.Notify();
}

TEST_F(TranslatorTest, ADrainingPoolIsUnavailable) {
  pool_.Drain();
  EXPECT_TRUE(absl::IsUnavailable(Translate({.texts = {"cat"}}).status));
  EXPECT_TRUE(Translate({.texts = {""}}).status.ok());  // needs no pool
}

}  // namespace
}  // namespace dragoman::translator_test
