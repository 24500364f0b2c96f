// What a client sees of the result cache: only the time that it saves, and the number of sentences
// that took no work.

#include <gtest/gtest.h>

#include "tests/server/test_server.h"

namespace dragoman {
namespace {

ServerOptions WithCache() {
  ServerOptions options = TestOptions();
  options.pool.cache_bytes = size_t{1} << 20;
  return options;
}

v1::TranslateResponse Translate(TestServer* server, const v1::TranslateRequest& request) {
  v1::TranslateResponse response;
  const grpc::Status status = server->Translate(request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response;
}

std::string TranslationsOf(const v1::TranslateResponse& response) {
  std::string bytes;
  for (const v1::Translation& translation : response.translations()) {
    bytes += translation.SerializeAsString();
  }
  return bytes;
}

TEST(Cache, AnAnswerSaysHowManyOfItsSentencesTookNoWork) {
  TestServer server(WithCache());
  v1::TranslateRequest request = RequestFor({"The cat is old.", "The dog is old."});
  request.mutable_output()->set_token_scores(true);
  const v1::TranslateResponse first = Translate(&server, request);
  EXPECT_EQ(first.timing().reused_sentences(), 0);
  *request.add_contents() = "The house is old.";
  const v1::TranslateResponse second = Translate(&server, request);
  EXPECT_EQ(second.timing().reused_sentences(), 2);
  EXPECT_EQ(TranslationsOf(second).substr(0, TranslationsOf(first).size()), TranslationsOf(first));
  const Samples samples = server.Metrics();
  EXPECT_EQ(samples.at("dragoman_cache_lookups_total{result=\"hit\"}"), 2);
  EXPECT_EQ(samples.at("dragoman_cache_lookups_total{result=\"miss\"}"), 3);
  EXPECT_EQ(samples.at("dragoman_cache_entries"), 3);
  EXPECT_EQ(samples.at("dragoman_sentences_total"), 3);
}

TEST(Cache, TheSentencesOfATextAreCachedOneByOne) {
  TestServer server(WithCache());
  v1::TranslateRequest request = RequestFor({"The cat is old. The dog is old. The cat is old."});
  request.set_sentence_splitting(v1::SENTENCE_SPLITTING_SENTENCES);
  EXPECT_EQ(Translate(&server, request).timing().reused_sentences(), 1);
  EXPECT_EQ(Translate(&server, RequestFor({"The dog is old."})).timing().reused_sentences(), 1);
}

TEST(Cache, OtherOptionsAreOtherTranslations) {
  TestServer server(WithCache());
  v1::TranslateRequest request = RequestFor({"The cat is old."});
  const auto reused = [&] { return Translate(&server, request).timing().reused_sentences(); };
  EXPECT_EQ(reused(), 0);
  request.mutable_output()->set_tokens(true);  // changes what is returned, not the search
  EXPECT_EQ(reused(), 1);
  request.mutable_options()->set_beam_size(3);
  EXPECT_EQ(reused(), 0);
  request.mutable_options()->add_never_say("Katze");
  EXPECT_EQ(reused(), 0);
  EXPECT_EQ(reused(), 1);
  request.mutable_options()->add_suppress_token_ids(7);
  EXPECT_EQ(reused(), 0);
  *request.add_target_prefixes() = "Der";
  EXPECT_EQ(reused(), 0);
  EXPECT_EQ(reused(), 1);
}

TEST(Cache, ASampleIsCachedByItsSeed) {
  TestServer server(WithCache());
  v1::TranslateRequest request = RequestFor({"The cat is old."});
  request.mutable_options()->set_beam_size(1);
  request.mutable_options()->mutable_sampling()->set_seed(1);
  const v1::TranslateResponse first = Translate(&server, request);
  const v1::TranslateResponse again = Translate(&server, request);
  EXPECT_EQ(again.timing().reused_sentences(), 1);
  EXPECT_EQ(TranslationsOf(again), TranslationsOf(first));
  request.mutable_options()->mutable_sampling()->set_seed(2);
  EXPECT_EQ(Translate(&server, request).timing().reused_sentences(), 0);
}

TEST(Cache, AModelDoesNotAnswerForAnother) {
  ServerOptions options = WithCache();
  options.models.push_back({"other", "tests/golden/models/marian-rand"});
  TestServer server(options);
  v1::TranslateRequest request = RequestFor({"The cat is old."});
  const v1::TranslateResponse first = Translate(&server, request);
  request.set_model("other");
  const v1::TranslateResponse second = Translate(&server, request);
  EXPECT_EQ(second.timing().reused_sentences(), 0);
  EXPECT_NE(TranslationsOf(second), TranslationsOf(first));
}

TEST(Cache, WithoutACacheNothingIsCached) {
  TestServer server;
  Translate(&server, RequestFor({"The cat is old."}));
  const v1::TranslateResponse again = Translate(&server, RequestFor({"The cat is old."}));
  EXPECT_EQ(again.timing().reused_sentences(), 0);
  EXPECT_EQ(server.Metrics().at("dragoman_cache_capacity_bytes"), 0);
}

}  // namespace
}  // namespace dragoman
