// Which model translates a request that names none, and translations through a third language.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/server/test_server.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

// Loads the golden model en-de for another pair of languages.  The translations stay the same,
// but requests find it under the new pair.
std::string Disguised(const std::string& source, const std::string& target) {
  const std::string directory = testing::TempDir() + "/languages_" + source + "_" + target;
  std::filesystem::remove_all(directory);
  std::filesystem::copy("tests/golden/models/en-de", directory);
  std::ofstream(directory + "/tokenizer_config.json")
      << R"({"source_lang": ")" << source << R"(", "target_lang": ")" << target << R"("})";
  return directory;
}

ServerOptions ThreeModels(const std::string& pivot) {
  ServerOptions options = TestOptions();
  options.models = {{"first", "tests/golden/models/en-de", {}},
                    {"fr-en", Disguised("fra", "eng"), {}},
                    {"en-es", Disguised("en", "es"), {}}};
  options.default_model = "first";
  options.pivot = pivot;
  return options;
}

v1::TranslateRequest RequestIn(const std::string& text, const std::string& source,
                               const std::string& target) {
  v1::TranslateRequest request = RequestFor({text});
  request.set_source_language(source);
  request.set_target_language(target);
  return request;
}

class LanguagesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new TestServer(ThreeModels("en")); }
  static void TearDownTestSuite() { delete server_; }

  static v1::TranslateResponse Translate(const v1::TranslateRequest& request) {
    v1::TranslateResponse response;
    const grpc::Status status = server_->Translate(request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  static TestServer* server_;
};

TestServer* LanguagesTest::server_ = nullptr;

TEST_F(LanguagesTest, ThePairChoosesTheModel) {
  EXPECT_EQ(Translate(RequestIn("The cat is old.", "", "")).model(), "first");
  EXPECT_EQ(Translate(RequestIn("The cat is old.", "en-US", "de-AT")).model(), "first");
  EXPECT_EQ(Translate(RequestIn("The cat is old.", "fr", "en")).model(), "fr-en");
  EXPECT_EQ(Translate(RequestIn("The cat is old.", "", "es")).model(), "en-es");
}

TEST_F(LanguagesTest, WithoutADirectModelTheTextGoesThroughThePivot) {
  const std::string text = "The cat is old.  The house is small.";
  v1::TranslateRequest request = RequestIn(text, "fr", "de");
  request.mutable_options()->set_num_hypotheses(2);
  request.mutable_output()->set_sentence_spans(true);
  request.set_sentence_splitting(v1::SENTENCE_SPLITTING_SENTENCES);
  const v1::TranslateResponse response = Translate(request);
  EXPECT_EQ(response.model(), "fr-en+first");

  v1::TranslateRequest step = RequestIn(text, "fr", "en");
  step.set_sentence_splitting(v1::SENTENCE_SPLITTING_SENTENCES);
  const v1::TranslateResponse first = Translate(step);
  step = RequestIn(first.translations(0).hypotheses(0).text(), "en", "de");
  step.set_sentence_splitting(v1::SENTENCE_SPLITTING_SENTENCES);
  const v1::TranslateResponse second = Translate(step);
  const v1::Translation& translation = response.translations(0);
  EXPECT_EQ(translation.hypotheses(0).text(), second.translations(0).hypotheses(0).text());
  EXPECT_EQ(translation.hypotheses_size(), 2);
  EXPECT_EQ(translation.source_tokens(), first.translations(0).source_tokens());
  ASSERT_GE(translation.sentences_size(), 1);
  EXPECT_EQ(translation.sentences(translation.sentences_size() - 1).source_end(),
            static_cast<int>(text.size()));

  const v1::Timing& timing = response.timing();
  ASSERT_EQ(timing.steps_size(), 2);
  EXPECT_EQ(timing.steps(0).model(), "fr-en");
  EXPECT_EQ(timing.steps(1).model(), "first");
  const auto nanos = [](const auto& timing_or_step) {
    const google::protobuf::Duration& decode = timing_or_step.decode();
    return decode.seconds() * 1'000'000'000 + decode.nanos();
  };
  for (const v1::StepTiming& one : timing.steps()) EXPECT_GT(nanos(one), 0);
  EXPECT_EQ(nanos(timing), nanos(timing.steps(0)) + nanos(timing.steps(1)));
}

// An English text, a French one, which goes through the pivot, and a German one, which needs no
// translation.  Long enough that the first is in progress when the second comes.
v1::TranslateRequest InThreeLanguages() {
  v1::TranslateRequest request =
      RequestFor({"Good morning, where is the station?", "La maison est bleue et le chat dort.",
                  "Guten Morgen, wo ist der Bahnhof?"});
  request.set_source_language("auto");
  request.set_target_language("de");
  request.mutable_options()->set_min_length(60);
  request.mutable_options()->set_max_length(80);
  return request;
}

TEST_F(LanguagesTest, EachTextOfACallTakesTheRouteOfItsLanguage) {
  const v1::TranslateRequest request = InThreeLanguages();
  const v1::TranslateResponse response = Translate(request);
  ASSERT_EQ(response.translations_size(), 3);
  for (const auto& [text, source] : {std::pair(0, "en"), {1, "fr"}}) {
    v1::TranslateRequest alone = RequestIn(request.contents(text), source, "de");
    *alone.mutable_options() = request.options();
    EXPECT_EQ(response.translations(text).hypotheses(0).text(),
              Translate(alone).translations(0).hypotheses(0).text());
    EXPECT_EQ(response.translations(text).detected_language(), source);
  }
  EXPECT_EQ(response.translations(2).hypotheses(0).text(), request.contents(2));
}

TEST_F(LanguagesTest, SoDoesEachTextOfAStream) {
  const v1::TranslateRequest request = InThreeLanguages();
  const v1::TranslateResponse response = Translate(request);
  grpc::ClientContext context;
  const auto stream = server_->translation().TranslateStream(&context, request);
  std::vector<std::string> texts(3);
  for (v1::TranslateStreamResponse message; stream->Read(&message);) {
    if (message.has_stable_text()) texts[message.content_index()] += message.stable_text();
  }
  const grpc::Status status = stream->Finish();
  ASSERT_TRUE(status.ok()) << status.error_message();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(texts[i], response.translations(i).hypotheses(0).text()) << i;
  }
}

TEST_F(LanguagesTest, AnErrorNamesTheTextByItsNumberInTheCall) {
  v1::TranslateRequest request = InThreeLanguages();
  for (int i = 0; i < 200; ++i) request.mutable_contents(1)->append(" La maison est bleue");
  request.set_sentence_splitting(v1::SENTENCE_SPLITTING_NONE);
  request.set_truncation(v1::TRUNCATION_REJECT);
  v1::TranslateResponse response;
  const grpc::Status status = server_->Translate(request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf<google::rpc::BadRequest>(status).field_violations(0).field(), "contents[1]");
  EXPECT_THAT(status.error_message(), testing::StartsWith("contents[1]: a sentence has"));
}

TEST_F(LanguagesTest, AStreamInSeveralLanguagesEndsWithItsError) {
  v1::TranslateRequest request = InThreeLanguages();
  for (int i = 0; i < 200; ++i) request.mutable_contents(1)->append(" La maison est bleue");
  request.set_sentence_splitting(v1::SENTENCE_SPLITTING_NONE);
  request.set_truncation(v1::TRUNCATION_REJECT);
  grpc::ClientContext context;
  const auto stream = server_->translation().TranslateStream(&context, request);
  v1::TranslateStreamResponse message;
  EXPECT_FALSE(stream->Read(&message));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
  EXPECT_EQ(DetailOf<google::rpc::BadRequest>(status).field_violations(0).field(), "contents[1]");
}

TEST_F(LanguagesTest, TheLimitsAreThoseOfTheWholeCall) {
  const v1::TranslateRequest three = InThreeLanguages();
  v1::TranslateRequest request;
  request.set_source_language("auto");
  request.set_target_language("de");
  while (request.contents_size() <= Limits().max_texts) {
    request.add_contents(three.contents(request.contents_size() % 3));
  }
  v1::TranslateResponse response;
  const grpc::Status status = server_->Translate(request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf<google::rpc::BadRequest>(status).field_violations(0).field(), "contents");
}

TEST_F(LanguagesTest, TheErrorForAnUnknownPairNamesThoseThereAre) {
  const struct {
    const char *source, *target, *message;
  } cases[] = {
      {"ja", "de", "no model translates from \"ja\"; there are en-de, fr-en, en-es"},
      {"ja", "", "no model translates from \"ja\"; there are en-de, fr-en, en-es"},
      {"", "fi", "no model translates into \"fi\"; there are en-de, fr-en, en-es"},
      {"en", "fi", "no model translates into \"fi\"; there are en-de, en-es, fr-en"},
  };
  for (const auto& test : cases) {
    v1::TranslateResponse response;
    const grpc::Status status =
        server_->Translate(RequestIn("The cat is old.", test.source, test.target), &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(), HasSubstr(test.message));
  }
}

TEST(Languages, WithoutAPivotThereIsNoRoute) {
  TestServer server(ThreeModels(""));
  v1::TranslateResponse response;
  const grpc::Status status = server.Translate(RequestIn("The cat is old.", "fr", "de"), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(),
              HasSubstr("no model translates \"fr\" to \"de\"; there are en-de, fr-en, en-es"));
}

TEST(Languages, ManyToManyModelTakesTags) {
  ServerOptions options = TestOptions();
  options.models = {{"nllb", "tests/golden/models/nllb-trained", {}}};
  options.default_model = "nllb";
  TestServer server(options);
  v1::TranslateRequest request = RequestIn("The old teacher sees a small house.", "en", "de-CH");
  request.mutable_output()->set_tokens(true);
  v1::TranslateResponse response;
  grpc::Status status = server.Translate(request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  const v1::Hypothesis& hypothesis = response.translations(0).hypotheses(0);
  EXPECT_EQ(hypothesis.text(), "Der alte Lehrer sieht ein kleines Haus.");
  EXPECT_EQ(hypothesis.tokens(0), "deu_Latn");  // a generated token like any other

  const std::string text = hypothesis.text();
  request.clear_source_language();
  request.clear_target_language();  // the tokenizer's default is the same
  response.Clear();
  status = server.Translate(request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.translations(0).hypotheses(0).text(), text);

  grpc::ClientContext context;
  v1::ListModelsResponse models;
  ASSERT_TRUE(server.models().ListModels(&context, {}, &models).ok());
  EXPECT_THAT(models.models(0).target_languages(), testing::Contains("zh-Hant"));
  EXPECT_THAT(models.models(0).target_languages(), testing::Contains("de"));
  EXPECT_EQ(models.models(0).language_pairs_size(), 0);  // there would be too many
}

}  // namespace
}  // namespace dragoman
