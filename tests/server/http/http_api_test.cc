// The JSON API over HTTP, end to end: a server with a real model and a plain socket.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "engine/base/json.h"
#include "tests/server/http_client.h"
#include "tests/server/test_server.h"

namespace dragoman {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

nlohmann::json Json(const HttpReply& answer) {
  return nlohmann::json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
}

class HttpApiTest : public testing::Test {
 protected:
  std::string address() { return server_.server().http_address(); }

  HttpReply Post(const std::string& path, const std::string& body,
                 const std::string& headers = "") {
    return HttpPost(address(), path, body, "Content-Type: application/json\r\n" + headers);
  }

  TestServer server_;
};

TEST_F(HttpApiTest, TranslatesAsGrpcDoes) {
  const HttpReply answer = Post("/v1/translate", R"({"contents": ["The cat is old.", ""]})");
  ASSERT_EQ(answer.code, 200) << answer.body;
  EXPECT_THAT(answer.headers, HasSubstr("Content-Type: application/json"));
  EXPECT_THAT(answer.headers, HasSubstr("X-Request-Id: "));
  const nlohmann::json response = Json(answer);
  ASSERT_EQ(response["translations"].size(), 2u);
  EXPECT_EQ(response["translations"][0]["hypotheses"][0]["text"],
            server_.Translate("The cat is old."));
  EXPECT_EQ(response["model"], "en-de");
}

TEST_F(HttpApiTest, TakesTheNamesOfTheProtoAndOptions) {
  const HttpReply answer = Post("/v1/translate", R"({"contents": ["The cat is old."],
      "source_language": "en", "targetLanguage": "de",
      "options": {"beam_size": 4, "numHypotheses": 2}, "output": {"tokens": true},
      "priority": "PRIORITY_BATCH"})");
  ASSERT_EQ(answer.code, 200) << answer.body;
  const nlohmann::json translation = Json(answer)["translations"][0];
  EXPECT_EQ(translation["hypotheses"].size(), 2u);
  EXPECT_FALSE(translation["hypotheses"][0]["tokenIds"].empty());
}

TEST_F(HttpApiTest, AnErrorIsAStatusThatNamesTheField) {
  const HttpReply answer = Post("/v1/translate", R"({"contents": []})");
  EXPECT_EQ(answer.code, 400);
  const nlohmann::json status = Json(answer);
  EXPECT_EQ(status["code"], 3);
  EXPECT_EQ(status["details"][0]["@type"], "type.googleapis.com/google.rpc.BadRequest");
  EXPECT_EQ(status["details"][0]["fieldViolations"][0]["field"], "contents");
  EXPECT_EQ(Post("/v1/translate", R"({"contents": ["a"], "model": "x"})").code, 404);
}

TEST_F(HttpApiTest, BadBodiesAreRefused) {
  const std::string deep = std::string(5000, '[') + std::string(5000, ']');
  for (const std::string& body :
       {std::string(), std::string("{"), std::string("[]"), std::string("{\"contents\": [1]}"),
        std::string("{\"nothing\": 1}"), std::string("{\"contents\": [\"\xff\"]}"),
        "{\"contents\": " + deep + "}", std::string("{\"contents\": [\"\\ud800\"]}"),
        std::string("null"), std::string("{\"priority\": \"URGENT\"}"),
        std::string(R"({"contents": "AAA"})"),
        std::string(R"({"contents": ["a"], "options": {"glossary": {"source": "a"}}})")}) {
    const HttpReply answer = Post("/v1/translate", body);
    EXPECT_EQ(answer.code, 400) << body.substr(0, 50) << answer.body;
    EXPECT_EQ(Json(answer)["code"], 3) << body.substr(0, 50);
  }
  EXPECT_EQ(HttpPost(address(), "/v1/translate", "{}", "Content-Type: text/plain\r\n").code, 415);
  EXPECT_EQ(HttpPost(address(), "/v1/translate", std::string(2 << 20, ' '),
                     "Content-Type: application/json\r\n")
                .code,
            413);
}

TEST_F(HttpApiTest, ScoresTokenizesAndListsModels) {
  const HttpReply score =
      Post("/v1/score", R"({"pairs": [{"source": "The cat is old.", "target": "Die Katze"}]})");
  ASSERT_EQ(score.code, 200) << score.body;
  EXPECT_LT(Json(score)["scores"][0]["logProb"], 0.0);
  EXPECT_EQ(Post("/v1/score", "{\"pairs\": 1}").code, 400);
  const HttpReply tokens = Post("/v1/tokenize", R"({"contents": ["The cat is old."]})");
  ASSERT_EQ(tokens.code, 200) << tokens.body;
  EXPECT_FALSE(Json(tokens)["texts"][0]["tokenIds"].empty());
  const HttpReply detected =
      Post("/v1/detect", R"({"contents": ["La maison est bleue et le chat dort.", ""]})");
  ASSERT_EQ(detected.code, 200) << detected.body;
  EXPECT_EQ(Json(detected)["texts"][0]["languages"][0]["language"], "fr");
  EXPECT_GT(Json(detected)["texts"][0]["languages"][0]["confidence"], 0.5);
  EXPECT_FALSE(Json(detected)["texts"][1].contains("languages"));
  EXPECT_EQ(Post("/v1/detect", "{}").code, 400);
  const HttpReply models = HttpGet(address(), "/v1/models");
  ASSERT_EQ(models.code, 200) << models.body;
  EXPECT_EQ(Json(models)["models"][0]["name"], "en-de");
  const auto one = Json(HttpGet(address(), "/v1/models/en-de"));
  EXPECT_EQ(one["state"], "STATE_READY");
  EXPECT_EQ(one["id"], "en-de");  // as OpenAI's clients want it
  EXPECT_EQ(HttpGet(address(), "/v1/models/no%2Fsuch").code, 404);
}

// The stable texts of an event stream, concatenated.
std::string StableText(const std::string& events) {
  std::string text;
  for (size_t at = 0; (at = events.find("event: stable_text\ndata: ", at)) != std::string::npos;) {
    at += sizeof("event: stable_text\ndata: ") - 1;
    const std::string data = events.substr(at, events.find('\n', at) - at);
    text += nlohmann::json::parse(data, nullptr, false).value("stableText", "");
  }
  return text;
}

TEST_F(HttpApiTest, AStreamOfEventsHasTheSameText) {
  const std::string request = R"({"contents": ["The cat is old."]})";
  RawHttpClient client(address());
  client.Send(
      "POST /v1/translate:stream HTTP/1.0\r\nContent-Type: application/json\r\n"
      "X-Request-Id: mine\r\nContent-Length: " +
      std::to_string(request.size()) + "\r\n\r\n" + request);
  const HttpReply reply = client.Receive();
  EXPECT_EQ(reply.code, 200);
  EXPECT_THAT(reply.headers, HasSubstr("Content-Type: text/event-stream"));
  EXPECT_THAT(reply.headers, HasSubstr("X-Request-Id: mine"));
  EXPECT_EQ(StableText(reply.body), server_.Translate("The cat is old."));
  EXPECT_THAT(reply.body, HasSubstr("event: translation\n"));
  EXPECT_THAT(reply.body, HasSubstr("event: summary\n"));
  EXPECT_EQ(Post("/v1/translate:stream", R"({"contents": []})").code, 400);
}

TEST_F(HttpApiTest, DeadlinesAreMet) {
  EXPECT_EQ(
      Post("/v1/translate", R"({"contents": ["The cat is old."]})", "grpc-timeout: 1n\r\n").code,
      504);
  for (const char* bad : {"X-Request-Timeout: soon\r\n", "X-Request-Timeout: -1\r\n",
                          "X-Request-Timeout: nan\r\n", "grpc-timeout: 5\r\n"}) {
    const HttpReply answer = Post("/v1/translate", R"({"contents": ["a"]})", bad);
    EXPECT_EQ(answer.code, 400) << bad << answer.body;
  }
  EXPECT_EQ(Post("/v1/translate", R"({"contents": ["a"]})", "X-Request-Timeout: 30s\r\n").code,
            200);
}

TEST_F(HttpApiTest, AClientThatGoesAwayCancelsItsWork) {
  std::string texts = R"("The cat is old.")";
  for (int i = 1; i < 128; ++i) texts += R"(, "The cat is old.")";
  const std::string body = R"({"contents": [)" + texts +
                           R"(], "options": {"beamSize": 16, "minLength": 490, "maxLength": 500}})";
  {
    RawHttpClient client(address());
    client.Send(
        "POST /v1/translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
    server_.AwaitSample("dragoman_requests_in_flight", 1);
  }
  server_.AwaitSample("dragoman_requests_in_flight", 0);
  server_.AwaitSample("dragoman_cancelled_total{cause=\"client\"}", 1);
}

TEST_F(HttpApiTest, ItsCallsAreCountedAsThoseOfGrpcAre) {
  const std::string text = R"({"contents": ["a"]})", late = "X-Request-Timeout: soon\r\n";
  Post("/v1/translate", text);
  Post("/v1/translate", text, late);
  Post("/v1/translate:stream", text);
  Post("/v1/score", R"({"pairs": [{"source": "a", "target": "b"}]})");
  Post("/v1/score", text, late);
  Post("/v1/tokenize", text);
  HttpGet(address(), "/v1/models");
  HttpGet(address(), "/v1/models/en-de");
  std::map<std::string, int> calls;
  for (const auto& [name, count] : server_.Metrics()) {
    if (!name.starts_with("dragoman_requests_total{") || count == 0) continue;
    calls[name.substr(name.find('{') + 1, name.find(",model=") - name.find('{') - 1)] += count;
  }
  EXPECT_THAT(calls, UnorderedElementsAre(Pair("code=\"OK\",method=\"Translate\"", 1),
                                          Pair("code=\"INVALID_ARGUMENT\",method=\"Translate\"", 1),
                                          Pair("code=\"OK\",method=\"TranslateStream\"", 1),
                                          Pair("code=\"OK\",method=\"Score\"", 1),
                                          Pair("code=\"INVALID_ARGUMENT\",method=\"Score\"", 1),
                                          Pair("code=\"OK\",method=\"Tokenize\"", 1),
                                          Pair("code=\"OK\",method=\"ListModels\"", 1),
                                          Pair("code=\"OK\",method=\"GetModel\"", 1)));
}

TEST_F(HttpApiTest, CountsItsAnswersByPath) {
  Post("/v1/translate", R"({"contents": ["a"]})");
  HttpGet(address(), "/nothing");
  server_.AwaitSample(
      "dragoman_http_responses_total{api=\"dragoman\",code=\"2xx\",path=\"/v1/translate\"}", 1);
  server_.AwaitSample("dragoman_http_responses_total{api=\"\",code=\"4xx\",path=\"\"}", 1);
}

}  // namespace
}  // namespace dragoman
