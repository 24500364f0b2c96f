// TranslationService over a real connection with a real model: the responses, and every row of the
// table of errors.

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>

#include "tests/server/test_server.h"

namespace dragoman {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TranslateTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ServerOptions options = TestOptions();
    options.models.push_back({"second", kModelDirectory});
    server_ = new TestServer(options);
  }
  static void TearDownTestSuite() { delete std::exchange(server_, nullptr); }

  static TestServer* server_;
};

TestServer* TranslateTest::server_ = nullptr;

TEST_F(TranslateTest, AnswersAllTextsInTheirOrder) {
  const std::vector<std::string> texts = {"The old teacher sees a small house.", "",
                                          "The bridge is not expensive!", "The cat is old."};
  v1::TranslateResponse response;
  const grpc::Status status = server_->Translate(RequestFor(texts), &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(response.translations_size(), 4);
  const auto text = [&](int i) { return response.translations(i).hypotheses(0).text(); };
  EXPECT_EQ(text(0), "Der alte Lehrer sieht ein kleines Haus.");
  EXPECT_EQ(text(1), "");
  EXPECT_EQ(text(2), "Die Brücke ist nicht teuer!");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(text(i), server_->Translate(texts[i])) << i;
}

TEST_F(TranslateTest, SaysWhichModelAndHowLong) {
  v1::TranslateRequest request = RequestFor({"The cat is old."});
  request.set_model("second");
  request.set_source_language("EN");
  request.set_target_language("de");
  v1::TranslateResponse response;
  const grpc::Status status = server_->Translate(request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.model(), "second");
  EXPECT_NE(response.model_version(), "");
  EXPECT_THAT(response.isa(), testing::StartsWith("float32/"));
  const auto nanos = [](const google::protobuf::Duration& duration) {
    return duration.seconds() * 1'000'000'000 + duration.nanos();
  };
  EXPECT_GT(nanos(response.timing().decode()), 0);
  EXPECT_GE(nanos(response.timing().total()), nanos(response.timing().decode()));
}

TEST_F(TranslateTest, ReturnsOnlyWhatIsAskedFor) {
  v1::TranslateRequest request = RequestFor({"The cat is old."});
  request.mutable_options()->set_num_hypotheses(3);
  v1::TranslateResponse bare;
  ASSERT_TRUE(server_->Translate(request, &bare).ok());
  ASSERT_EQ(bare.translations(0).hypotheses_size(), 3);
  EXPECT_EQ(bare.translations(0).hypotheses(0).tokens_size(), 0);
  EXPECT_EQ(bare.translations(0).hypotheses(0).token_scores_size(), 0);
  EXPECT_EQ(bare.translations(0).sentences_size(), 0);
  EXPECT_GT(bare.translations(0).source_tokens(), 1);
  EXPECT_FALSE(bare.translations(0).truncated());

  request.mutable_output()->set_tokens(true);
  request.mutable_output()->set_token_scores(true);
  request.mutable_output()->set_sentence_spans(true);
  v1::TranslateResponse full;
  ASSERT_TRUE(server_->Translate(request, &full).ok());
  const v1::Translation& translation = full.translations(0);
  float last_score = 0;
  for (const v1::Hypothesis& hypothesis : translation.hypotheses()) {
    EXPECT_GT(hypothesis.tokens_size(), 0);
    EXPECT_EQ(hypothesis.tokens_size(), hypothesis.token_ids_size());
    EXPECT_EQ(hypothesis.tokens_size(), hypothesis.token_scores_size());
    EXPECT_EQ(hypothesis.finish_reason(), v1::FINISH_REASON_EOS);
    EXPECT_LE(hypothesis.score(), last_score);
    last_score = hypothesis.score();
  }
  ASSERT_EQ(translation.sentences_size(), 1);
  EXPECT_EQ(translation.sentences(0).source_end(), 15);
  EXPECT_EQ(translation.sentences(0).target_end(),
            static_cast<int>(translation.hypotheses(0).text().size()));
}

TEST_F(TranslateTest, SaysWhenALimitEndedTheTranslation) {
  v1::TranslateRequest request = RequestFor({"The old teacher sees a small house."});
  request.mutable_options()->set_max_length(3);
  request.mutable_options()->set_beam_size(1);
  v1::TranslateResponse response;
  ASSERT_TRUE(server_->Translate(request, &response).ok());
  EXPECT_EQ(response.translations(0).hypotheses(0).finish_reason(), v1::FINISH_REASON_MAX_LENGTH);
}

TEST_F(TranslateTest, KeepsMarkup) {
  v1::TranslateRequest request =
      RequestFor({"<p>The <b>old</b> teacher sees a <i>small</i> house.</p><c>The</c>"});
  request.set_markup(v1::MARKUP_XML);
  request.mutable_markup_options()->add_ignore_tags("c");
  v1::TranslateResponse response;
  const grpc::Status status = server_->Translate(request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.translations(0).hypotheses(0).text(),
            "<p>Der <b>alte</b> Lehrer sieht ein <i>kleines</i> Haus.</p><c>The</c>");
}

TEST_F(TranslateTest, TruncatesALongTextOnlyIfAskedTo) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "The cat is old. ";
  v1::TranslateRequest request = RequestFor({"The cat is old.", text});
  request.set_sentence_splitting(v1::SENTENCE_SPLITTING_NONE);
  request.mutable_options()->set_max_length(5);
  request.set_truncation(v1::TRUNCATION_REJECT);
  v1::TranslateResponse response;
  const grpc::Status refused = server_->Translate(request, &response);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf<google::rpc::BadRequest>(refused).field_violations(0).field(), "contents[1]");
  request.set_truncation(v1::TRUNCATION_TRUNCATE);
  const grpc::Status cut = server_->Translate(request, &response);
  ASSERT_TRUE(cut.ok()) << cut.error_message();
  EXPECT_FALSE(response.translations(0).truncated());
  EXPECT_TRUE(response.translations(1).truncated());
  EXPECT_EQ(response.translations(1).source_tokens(), 512);
}

// The rows of the table of errors that a single request can cause.
struct BadCase {
  const char* name;
  std::function<void(v1::TranslateRequest*)> spoil;
  const char* field;
};

v1::DecodingOptions* OptionsOf(v1::TranslateRequest* r) { return r->mutable_options(); }

const BadCase kBadCases[] = {
    {"NoTexts", [](auto* r) { r->clear_contents(); }, "contents"},
    {"TooManyTexts",
     [](auto* r) {
       while (r->contents_size() < 129) r->add_contents("a");
     },
     "contents"},
    {"TooManyCharacters", [](auto* r) { r->add_contents(std::string(131073, 'a')); },
     "contents[1]"},
    {"InvalidUtf8", [](auto* r) { r->add_contents("\xff"); }, "contents[1]"},
    {"CutOffUtf8",
     [](auto* r) {
       r->add_contents("good");
       r->add_contents("bad \xe2\x82");
       r->add_contents("good");
     },
     "contents[2]"},
    {"InvalidUtf8InModel", [](auto* r) { r->set_model("\xc0\x80"); }, "model"},
    {"ZeroBeam", [](auto* r) { OptionsOf(r)->set_beam_size(0); }, "options.beam_size"},
    {"HugeBeam", [](auto* r) { OptionsOf(r)->set_beam_size(17); }, "options.beam_size"},
    {"MoreHypothesesThanBeams",
     [](auto* r) {
       OptionsOf(r)->set_beam_size(2);
       OptionsOf(r)->set_num_hypotheses(3);
     },
     "options.num_hypotheses"},
    {"TooManyHypotheses",
     [](auto* r) {
       OptionsOf(r)->set_beam_size(16);
       OptionsOf(r)->set_num_hypotheses(9);
     },
     "options.num_hypotheses"},
    {"NegativeMinLength", [](auto* r) { OptionsOf(r)->set_min_length(-1); }, "options.min_length"},
    {"ZeroMaxLength", [](auto* r) { OptionsOf(r)->set_max_length(0); }, "options.max_length"},
    {"HugeMaxLength", [](auto* r) { OptionsOf(r)->set_max_length(100000); }, "options.max_length"},
    {"ZeroLengthRatio", [](auto* r) { OptionsOf(r)->set_max_length_ratio(0); },
     "options.max_length_ratio"},
    {"NanLengthPenalty", [](auto* r) { OptionsOf(r)->set_length_penalty(NAN); },
     "options.length_penalty"},
    {"NegativeNgram", [](auto* r) { OptionsOf(r)->set_no_repeat_ngram_size(-1); },
     "options.no_repeat_ngram_size"},
    {"ZeroRepetitionPenalty", [](auto* r) { OptionsOf(r)->set_repetition_penalty(0); },
     "options.repetition_penalty"},
    {"UnknownEarlyStopping",
     [](auto* r) { OptionsOf(r)->set_early_stopping(static_cast<v1::EarlyStopping>(9)); },
     "options.early_stopping"},
    {"UnknownTruncation", [](auto* r) { r->set_truncation(static_cast<v1::Truncation>(9)); },
     "truncation"},
    {"UnknownSplitting",
     [](auto* r) { r->set_sentence_splitting(static_cast<v1::SentenceSplitting>(9)); },
     "sentence_splitting"},
    {"UnknownMarkup", [](auto* r) { r->set_markup(static_cast<v1::Markup>(9)); }, "markup"},
    {"BrokenXml",
     [](auto* r) {
       r->set_markup(v1::MARKUP_XML);
       r->add_contents("<b>The cat is old.</i>");
     },
     "contents[1]"},
    {"OtherSourceLanguage", [](auto* r) { r->set_source_language("fr"); }, "source_language"},
    {"OtherTargetLanguage", [](auto* r) { r->set_target_language("it"); }, "target_language"},
};

class InvalidRequestTest : public TranslateTest, public testing::WithParamInterface<BadCase> {};

TEST_P(InvalidRequestTest, IsInvalidArgumentThatNamesTheField) {
  v1::TranslateRequest request = RequestFor({"The cat is old."});
  GetParam().spoil(&request);
  v1::TranslateResponse response;
  const grpc::Status status = server_->Translate(request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
  const auto detail = DetailOf<google::rpc::BadRequest>(status);
  ASSERT_EQ(detail.field_violations_size(), 1);
  EXPECT_EQ(detail.field_violations(0).field(), GetParam().field);
  EXPECT_THAT(status.error_message(), HasSubstr(GetParam().field));
}

INSTANTIATE_TEST_SUITE_P(ErrorTable, InvalidRequestTest, testing::ValuesIn(kBadCases),
                         [](const auto& test) { return test.param.name; });

TEST_F(TranslateTest, PairThatIsNotServedNamesThoseThatAre) {
  v1::TranslateRequest request = RequestFor({"The cat is old."});
  request.set_target_language("it");
  v1::TranslateResponse response;
  EXPECT_THAT(server_->Translate(request, &response).error_message(),
              HasSubstr("no model translates into \"it\"; there are en-de, en-fr"));
}

TEST_F(TranslateTest, ATextIsUnchangedInItsOwnLanguage) {
  for (const auto& [source, target] :
       {std::pair("en", "en"), std::pair("EN", "en"), std::pair("en", "en-GB"),
        std::pair("en-US", "en-GB"), std::pair("ja", "ja"), std::pair("eng_Latn", "en"),
        std::pair("zh", "zh-Hans"), std::pair("zh-HK", "zh-TW")}) {
    v1::TranslateRequest request = RequestFor({"The cat is old.", "  5 <b>"});
    request.set_source_language(source);
    request.set_target_language(target);
    request.mutable_output()->set_quality(true);
    v1::TranslateResponse response;
    const grpc::Status status = server_->Translate(request, &response);
    ASSERT_TRUE(status.ok()) << source << " " << target << " " << status.error_message();
    ASSERT_EQ(response.translations_size(), 2);
    EXPECT_EQ(response.translations(0).hypotheses(0).text(), "The cat is old.");
    EXPECT_EQ(response.translations(0).hypotheses(0).quality().score(), 1.0f);
    EXPECT_EQ(response.translations(1).hypotheses(0).text(), "  5 <b>");
    EXPECT_EQ(response.translations(0).detected_language(), "");
  }
  for (const auto& [source, target] : {std::pair("zh-Hans", "zh-Hant"), std::pair("zh", "zh-TW"),
                                       std::pair("sr-Latn", "sr"), std::pair("en", "eng+deu")}) {
    v1::TranslateRequest request = RequestFor({"The cat is old."});
    request.set_source_language(source);
    request.set_target_language(target);
    v1::TranslateResponse response;
    EXPECT_FALSE(server_->Translate(request, &response).ok()) << source << " " << target;
  }
}

TEST_F(TranslateTest, UnknownModelIsNotFound) {
  v1::TranslateRequest request = RequestFor({"The cat is old."});
  request.set_model("en-xx");
  v1::TranslateResponse response;
  const grpc::Status status = server_->Translate(request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("there is en-de, second"));
  EXPECT_EQ(DetailOf<google::rpc::ResourceInfo>(status).resource_name(), "en-xx");
}

TEST_F(TranslateTest, BytesThatAreNoMessageAreInvalid) {
  const grpc::Slice slice("\xff\xff\xff\xff garbage");
  const grpc::ByteBuffer garbage(&slice, 1);
  grpc::ByteBuffer response;
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub(server_->channel());
  auto call =
      stub.PrepareUnaryCall(&context, "/dragoman.v1.TranslationService/Translate", garbage, &queue);
  call->StartCall();
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag;
  bool ok;
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
}

TEST_F(TranslateTest, MessageOverTheLimitIsResourceExhausted) {
  v1::TranslateResponse response;
  const grpc::Status status =
      server_->Translate(RequestFor({std::string(2 << 20, 'a')}), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(TranslateTest, GivesAlignmentsIfAskedTo) {
  v1::TranslateResponse response;
  v1::TranslateRequest request = RequestFor({"The old teacher sees a small house."});
  request.mutable_output()->set_tokens(true);
  ASSERT_TRUE(server_->Translate(request, &response).ok());
  EXPECT_FALSE(response.translations(0).hypotheses(0).has_aligned_text());
  request.mutable_output()->set_alignments(true);
  ASSERT_TRUE(server_->Translate(request, &response).ok());
  const v1::Hypothesis& links = response.translations(0).hypotheses(0);
  EXPECT_EQ(links.alignment_size(), links.tokens_size());  // one link per token
  EXPECT_EQ(links.aligned_text().target_tokens_size(), links.tokens_size());
  EXPECT_EQ(links.aligned_text().source_tokens_size(), response.translations(0).source_tokens());
  EXPECT_GE(links.aligned_text().words_size(), 5);
  EXPECT_EQ(links.aligned_text().attention_size(), 0);
  request.mutable_output()->set_attention(true);
  request.mutable_output()->set_alignment_threshold(1e-9f);
  v1::TranslateResponse whole;
  ASSERT_TRUE(server_->Translate(request, &whole).ok());
  const v1::Hypothesis& all = whole.translations(0).hypotheses(0);
  const int pairs = all.tokens_size() * whole.translations(0).source_tokens();
  ASSERT_EQ(all.aligned_text().attention_size(), 1);
  EXPECT_EQ(all.aligned_text().attention(0).probabilities_size(), pairs);
  EXPECT_EQ(all.alignment_size(), pairs);
}

TEST_F(TranslateTest, AThresholdThatIsNoProbabilityIsInvalid) {
  for (const float threshold : {0.0f, -1.0f, 1.5f, std::nanf("")}) {
    v1::TranslateResponse response;
    v1::TranslateRequest request = RequestFor({"The cat is old."});
    request.mutable_output()->set_alignments(true);
    request.mutable_output()->set_alignment_threshold(threshold);
    const grpc::Status status = server_->Translate(request, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(), HasSubstr("output.alignment_threshold"));
  }
}

TEST_F(TranslateTest, TheSameSeedDrawsTheSameTextWhateverTheTraffic) {
  v1::TranslateRequest request = RequestFor({"The cat is old."});
  request.mutable_options()->mutable_sampling()->set_seed(7);
  request.mutable_options()->set_num_hypotheses(3);
  v1::TranslateResponse alone, crowd;
  grpc::Status status = server_->Translate(request, &alone);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(alone.translations(0).hypotheses_size(), 3);
  request.mutable_contents()->Clear();
  for (const char* text : {"Anna buys the red apple today.", "Hello", "The cat is old."}) {
    request.add_contents(text);
  }
  status = server_->Translate(request, &crowd);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(crowd.translations(2).SerializeAsString(), alone.translations(0).SerializeAsString());
  request.mutable_options()->set_beam_size(4);
  EXPECT_EQ(server_->Translate(request, &crowd).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(TranslateTest, ATranslationBeginsWithItsPrefix) {
  v1::TranslateRequest request = RequestFor({"The cat is old."});
  request.add_target_prefixes("Diese");
  v1::TranslateResponse response;
  grpc::Status status = server_->Translate(request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  const std::string whole = response.translations(0).hypotheses(0).text();
  EXPECT_EQ(whole.rfind("Diese", 0), 0u) << whole;
  request.mutable_output()->set_hide_prefix(true);
  ASSERT_TRUE(server_->Translate(request, &response).ok());
  EXPECT_EQ("Diese " + response.translations(0).hypotheses(0).text(), whole);
}

TEST_F(TranslateTest, GlossariesAndForbiddenPhrasesAreObeyed) {
  v1::TranslateRequest request = RequestFor({"The cat is old."});
  v1::TranslateResponse response;
  v1::GlossaryEntry* const entry = request.mutable_options()->add_glossary();
  entry->set_source("cat");
  entry->set_target("Hund");
  grpc::Status status = server_->Translate(request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_THAT(response.translations(0).hypotheses(0).text(), HasSubstr("Hund"));
  request.mutable_options()->clear_glossary();
  request.mutable_options()->add_never_say("Katze");
  status = server_->Translate(request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_THAT(response.translations(0).hypotheses(0).text(), Not(HasSubstr("Katze")));
}

TEST_F(TranslateTest, NumbersThatDoNotComeThroughAreTold) {
  v1::TranslateRequest request = RequestFor({"I have 24 cats. I have 3 cats."});
  request.add_target_prefixes("Ich habe 42 Katzen. Ich habe drei Katzen.");
  request.mutable_output()->set_sentence_spans(true);
  v1::TranslateResponse response;
  ASSERT_TRUE(server_->Translate(request, &response).ok());
  EXPECT_FALSE(response.translations(0).hypotheses(0).has_quality());
  request.mutable_output()->set_quality(true);
  ASSERT_TRUE(server_->Translate(request, &response).ok());
  const v1::Translation& translation = response.translations(0);
  ASSERT_EQ(translation.hypotheses(0).quality().literals_size(), 1) << translation.DebugString();
  const v1::LiteralFault& fault = translation.hypotheses(0).quality().literals(0);
  EXPECT_EQ(fault.kind(), v1::LiteralFault::KIND_CHANGED);
  EXPECT_EQ(fault.text(), "24");
  EXPECT_EQ(fault.found(), "42");
  EXPECT_EQ(fault.source_begin(), 7);
  EXPECT_EQ(fault.source_end(), 9);
  EXPECT_EQ(fault.target_begin(), 9);
  EXPECT_EQ(fault.target_end(), 11);
  EXPECT_EQ(translation.sentences(0).quality().literals_size(), 1);
}

TEST_F(TranslateTest, ALongSentenceIsDivided) {
  std::string text = "The old cat is small";
  while (text.size() < 5000) text += ", and the old cat is small";
  v1::TranslateRequest request = RequestFor({text + "."});
  request.set_sentence_splitting(v1::SENTENCE_SPLITTING_SENTENCES);
  request.mutable_options()->set_beam_size(1);
  request.mutable_output()->set_sentence_spans(true);
  v1::TranslateResponse response;
  ASSERT_TRUE(server_->Translate(request, &response).ok());
  const v1::Translation& translation = response.translations(0);
  EXPECT_TRUE(translation.divided());
  EXPECT_FALSE(translation.truncated());
  ASSERT_GT(translation.sentences_size(), 1);
  int end = -1;
  for (const v1::SentenceSpan& span : translation.sentences()) {
    EXPECT_TRUE(span.part());
    EXPECT_EQ(span.source_begin(), end + 1);
    end = span.source_end();
  }
  EXPECT_EQ(end, static_cast<int>(text.size()) + 1);
}

TEST_F(TranslateTest, ScoresOfItsOwnTranslationsAgree) {
  v1::TranslateRequest request = RequestFor({"The weather is nice today."});
  request.mutable_options()->set_beam_size(1);
  request.mutable_output()->set_token_scores(true);
  request.mutable_output()->set_quality(true);
  v1::TranslateResponse response;
  ASSERT_TRUE(server_->Translate(request, &response).ok());
  const v1::Hypothesis& best = response.translations(0).hypotheses(0);
  v1::ScoreRequest pairs;
  pairs.add_pairs()->set_source("The weather is nice today.");
  pairs.mutable_pairs(0)->set_target(best.text());
  grpc::ClientContext contexts[2];
  v1::ScoreResponse scores;
  grpc::Status status = server_->translation().Score(&contexts[0], pairs, &scores);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(scores.scores_size(), 1);
  EXPECT_NEAR(scores.scores(0).score(), best.score(), 1e-3);
  EXPECT_NEAR(scores.scores(0).score(), best.quality().mean_log_prob(), 1e-3);
  EXPECT_EQ(scores.scores(0).tokens_size(), scores.scores(0).token_scores_size());

  v1::TokenizeRequest tokenize;
  tokenize.add_contents("The weather is nice today.");
  v1::TokenizeResponse tokens;
  status = server_->translation().Tokenize(&contexts[1], tokenize, &tokens);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(tokens.texts(0).token_ids_size(), response.translations(0).source_tokens());
}

TEST_F(TranslateTest, ModelsAreListedInOrderAndFoundByName) {
  grpc::ClientContext contexts[4];
  v1::ListModelsResponse list;
  ASSERT_TRUE(server_->models().ListModels(&contexts[0], v1::ListModelsRequest(), &list).ok());
  ASSERT_EQ(list.models_size(), 2);
  EXPECT_EQ(list.models(0).name(), "en-de");
  EXPECT_TRUE(list.models(0).is_default());
  EXPECT_EQ(list.models(1).name(), "second");
  EXPECT_FALSE(list.models(1).is_default());

  v1::GetModelRequest request;
  v1::Model model;
  ASSERT_TRUE(server_->models().GetModel(&contexts[1], request, &model).ok());
  EXPECT_EQ(model.name(), "en-de");
  EXPECT_EQ(model.architecture(), "MarianMTModel");
  EXPECT_EQ(model.precision(), "float32");
  EXPECT_EQ(model.state(), v1::Model::STATE_READY);
  EXPECT_EQ(model.max_source_tokens(), 512);
  EXPECT_EQ(model.vocabulary_size(), 935);
  ASSERT_GE(model.language_pairs_size(), 1);
  EXPECT_EQ(model.language_pairs(0).source(), "en");
  EXPECT_EQ(model.language_pairs(0).target(), "de");

  request.set_name("second");
  ASSERT_TRUE(server_->models().GetModel(&contexts[2], request, &model).ok());
  EXPECT_EQ(model.name(), "second");
  request.set_name("third");
  const grpc::Status missing = server_->models().GetModel(&contexts[3], request, &model);
  EXPECT_EQ(missing.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DetailOf<google::rpc::ResourceInfo>(missing).resource_name(), "third");
}

}  // namespace
}  // namespace dragoman
