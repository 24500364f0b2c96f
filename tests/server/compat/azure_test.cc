// Azure Translator's API, end to end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/base/json.h"
#include "tests/server/http_client.h"
#include "tests/server/test_server.h"

namespace dragoman::azure_test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr char kJsonType[] = "Content-Type: application/json; charset=UTF-8\r\n";
constexpr char kBody[] = R"([{"Text": "The cat is old."}, {"text": "The man sees the house."}])";

// A model for English to German, and one for many languages.
ServerOptions TwoModels() {
  ServerOptions options = TestOptions();
  options.models.push_back({"many", "tests/golden/models/m2m100-trained"});
  return options;
}

class AzureTest : public testing::Test {
 protected:
  HttpReply Post(const std::string& path, const std::string& body,
                 const std::string& headers = kJsonType) {
    return HttpPost(server_.server().http_address(), path, body, headers);
  }
  nlohmann::json Answer(const std::string& path, const std::string& body = kBody) {
    const HttpReply reply = Post(path, body);
    EXPECT_EQ(reply.code, 200) << reply.body;
    return nlohmann::json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
  }
  nlohmann::json Error(const std::string& path, const std::string& body = kBody) {
    const HttpReply reply = Post(path, body);
    const nlohmann::json error = nlohmann::json::parse(reply.body, nullptr, false)["error"];
    EXPECT_EQ(error["code"].get<int>() / 1000, reply.code) << reply.body;
    return error;
  }
  // What gRPC answers.
  std::string Wanted(const std::string& text, const std::string& target) {
    v1::TranslateRequest request = RequestFor({text});
    request.set_source_language("en");
    request.set_target_language(target);
    v1::TranslateResponse response;
    const grpc::Status status = server_.Translate(request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.translations(0).hypotheses(0).text();
  }

  TestServer server_{TwoModels()};
};

TEST_F(AzureTest, TranslatesIntoSeveralLanguagesAtOnce) {
  const nlohmann::json answer = Answer("/translate?api-version=3.0&from=en&to=de&to=fr");
  ASSERT_EQ(answer.size(), 2u);
  const std::vector<std::string> texts = {"The cat is old.", "The man sees the house."};
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_FALSE(answer[i].contains("detectedLanguage"));
    const nlohmann::json& translations = answer[i]["translations"];
    ASSERT_EQ(translations.size(), 2u);
    for (const auto& [t, target] : {std::pair(0, "de"), {1, "fr"}}) {
      EXPECT_EQ(translations[t]["to"], target);
      EXPECT_EQ(translations[t]["text"], Wanted(texts[i], target));
    }
  }
}

TEST_F(AzureTest, OneLanguageThatIsNotServedFailsTheWhole) {
  for (const char* targets : {"to=xx&to=de", "to=de&to=xx", "to=de,xx"}) {
    const nlohmann::json error =
        Error(std::string("/translate?api-version=3.0&from=en&") + targets);
    EXPECT_EQ(error["code"], 400036) << targets;
    EXPECT_THAT(std::string(error["message"]), HasSubstr("to: no model")) << targets;
  }
}

TEST_F(AzureTest, DetectsTheLanguageIfItIsNotGiven) {
  const nlohmann::json answer = Answer("/translate?api-version=3.0&to=de");
  EXPECT_EQ(answer[0]["detectedLanguage"]["language"], "en");
  EXPECT_GT(answer[0]["detectedLanguage"]["score"], 0.3);
}

TEST_F(AzureTest, CustomEndpointsNeedNoVersion) {
  const nlohmann::json answer =
      Answer("/translator/text/v3.0/translate?from=en&to=de&textType=html",
             R"([{"Text": "<p>The cat is old.</p>"}])");
  EXPECT_EQ(answer[0]["translations"][0]["text"], "<p>" + Wanted("The cat is old.", "de") + "</p>");
}

TEST_F(AzureTest, AlignsWordsAndMeasuresSentences) {
  const nlohmann::json answer = Answer(
      "/translate?api-version=3.0&from=en&to=de&includeAlignment=true&includeSentenceLength=True",
      R"([{"Text": "The cat is old. The man sees the house."}])");
  const nlohmann::json& to = answer[0]["translations"][0];
  EXPECT_THAT(std::string(to["alignment"]["proj"]),
              MatchesRegex("[0-9]+:[0-9]+-[0-9]+:[0-9]+( [0-9]+:[0-9]+-[0-9]+:[0-9]+)*"));
  EXPECT_EQ(to["sentLen"]["srcSentLen"], nlohmann::json({16, 23}));
  const auto lengths = to["sentLen"]["transSentLen"].get<std::vector<int>>();
  EXPECT_EQ(lengths.size(), 2u);
  EXPECT_EQ(std::accumulate(lengths.begin(), lengths.end(), 0),
            static_cast<int>(std::string(to["text"]).size()));
  const HttpReply html =
      Post("/translate?api-version=3.0&to=de&textType=html&includeAlignment=true", kBody);
  EXPECT_THAT(html.body, Not(HasSubstr("alignment")));
}

TEST_F(AzureTest, RefusesInItsOwnNumbers) {
  const std::string base = "/translate?api-version=3.0";
  for (const auto& [query, body, code] :
       std::initializer_list<std::tuple<const char*, const char*, int>>{
           {"&to=de", "[", 400074},
           {"&to=de", R"({"Text": "a"})", 400074},
           {"&to=de", R"([{"Text": 1}])", 400005},
           {"&to=de", R"(["a"])", 400005},
           {"&to=de&from=en", "[]", 400072},
           {"&to=de", R"([{"Text": "<mstrans:dictionary translation='x'>y"}])", 400005},
           {"&to=de", R"([{"Text": "<mstrans:dictionary>y</mstrans:dictionary>"}])", 400005},
           {"", kBody, 400036},
           {"&to=xx", kBody, 400036},
           {"&to=de&from=xx", kBody, 400035},
           {"&to=de&textType=rtf", kBody, 400071},
           {"&to=de&toScript=Latn", kBody, 400080},
           {"&to=de&profanityAction=Deleted", kBody, 400000},
           {"&to=de&category=x&allowFallback=false", kBody, 400002},
           {"&to=de&includeAlignment=maybe", kBody, 400000}}) {
    EXPECT_EQ(Error(base + query, body)["code"], code) << query << " " << body;
  }
  EXPECT_EQ(Error("/translate?api-version=2.0&to=de")["code"], 400021);
  EXPECT_EQ(Post(base, kBody, "Content-Type: text/plain\r\n").code, 415);
  EXPECT_THAT(HttpGet(server_.server().http_address(), base).body, HasSubstr("405000"));
}

TEST_F(AzureTest, WhatItIgnoresIsListed) {
  EXPECT_THAT(
      Post("/translate?api-version=3.0&to=de&category=general&suggestedFrom=en", kBody).headers,
      HasSubstr("X-Dragoman-Ignored: category, suggestedFrom"));
}

TEST_F(AzureTest, ItsLimitHasItsNumber) {
  const std::string body = R"([{"Text": ")" + std::string(200'000, 'a') + R"("}])";
  EXPECT_EQ(Error("/translate?api-version=3.0&to=de", body)["code"], 400077);
  EXPECT_THAT(Post("/translate?api-version=3.0&to=de", kBody).headers, HasSubstr("X-RequestId: "));
}

TEST_F(AzureTest, DictionariesSayHowAPhraseIsTranslated) {
  const nlohmann::json answer = Answer(
      "/translate?api-version=3.0&from=en&to=de",
      R"x([{"Text": "The <mstrans:dictionary translation=\"Kater\">cat</mstrans:dictionary> is old."},
           {"Text": "The cat is old."}])x");
  EXPECT_THAT(std::string(answer[0]["translations"][0]["text"]), HasSubstr("Kater"));
  EXPECT_EQ(answer[1]["translations"][0]["text"], Wanted("The cat is old.", "de"));
}

TEST_F(AzureTest, DetectsBreaksAndLists) {
  const nlohmann::json detected =
      Answer("/detect?api-version=3.0", R"([{"Text": "Wo ist der Bahnhof?"}, {"Text": ""}])");
  EXPECT_EQ(detected[0]["language"], "de");
  EXPECT_EQ(detected[0]["isTranslationSupported"], true);
  EXPECT_EQ(detected[1]["score"], 0);
  const nlohmann::json broken =
      Answer("/breaksentence?api-version=3.0",
             R"([{"Text": "How are you? I am fine. What did you do today?"}])");
  EXPECT_EQ(broken[0]["sentLen"], nlohmann::json({13, 11, 22}));
  EXPECT_EQ(broken[0]["detectedLanguage"]["language"], "en");
  const HttpReply list =
      HttpGet(server_.server().http_address(), "/languages?api-version=3.0&scope=translation");
  const nlohmann::json languages = nlohmann::json::parse(list.body, nullptr, false);
  EXPECT_EQ(languages.size(), 1u);
  EXPECT_EQ(languages["translation"]["de"]["name"], "German");
  EXPECT_EQ(languages["translation"]["de"]["nativeName"], "Deutsch");
  RawHttpClient client(server_.server().http_address());
  client.Send(
      "GET /languages?api-version=3.0 HTTP/1.1\r\nHost: a\r\n"
      "Accept-Language: fr-FR,fr;q=0.9\r\n\r\n");
  const nlohmann::json french = nlohmann::json::parse(client.Receive().body, nullptr, false);
  EXPECT_EQ(french["translation"]["de"]["name"], "Allemand");
  EXPECT_EQ(languages["translation"]["de"]["dir"], "ltr");
}

}  // namespace
}  // namespace dragoman::azure_test
