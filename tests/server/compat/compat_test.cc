// The compatibility APIs, end to end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/base/json.h"
#include "tests/server/http_client.h"
#include "tests/server/test_server.h"

namespace dragoman::compat_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kText[] = "The cat is old.";
constexpr char kJsonType[] = "Content-Type: application/json\r\n";
constexpr char kFormType[] = "Content-Type: application/x-www-form-urlencoded\r\n";

nlohmann::json Json(const HttpReply& reply) {
  return nlohmann::json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
}

class CompatTest : public testing::Test {
 protected:
  HttpReply Post(const std::string& path, const std::string& body,
                 const std::string& headers = kJsonType) {
    return HttpPost(server_.server().http_address(), path, body, headers);
  }
  HttpReply Get(const std::string& path) { return HttpGet(server_.server().http_address(), path); }
  // gRPC's translation of the text, split into sentences as these APIs split it.
  std::string Wanted() { return server_.Translate(kText); }

  TestServer server_;
};

TEST_F(CompatTest, LibreTranslateTakesJsonAndForms) {
  const HttpReply json =
      Post("/translate", R"({"q": "The cat is old.", "source": "en", "target": "de"})");
  ASSERT_EQ(json.code, 200) << json.body;
  EXPECT_EQ(Json(json)["translatedText"], Wanted());
  const HttpReply form = Post("/translate", "q=The+cat+is+old.&source=en&target=de", kFormType);
  EXPECT_EQ(Json(form)["translatedText"], Wanted());
  const HttpReply list = Post("/translate",
                              R"({"q": ["The cat is old."], "source": "auto", "target": "de",
                                  "format": "text", "alternatives": 2})");
  ASSERT_EQ(list.code, 200) << list.body;
  EXPECT_EQ(Json(list)["translatedText"].size(), 1u);
  EXPECT_EQ(Json(list)["alternatives"][0].size(), 2u);
  EXPECT_EQ(Json(list)["detectedLanguage"][0]["language"], "en");
}

// `parts` are everything between the boundaries, including headers.
std::string Multipart(const std::vector<std::string>& parts) {
  std::string body;
  for (const std::string& part : parts) body += "--XY\r\n" + part + "\r\n";
  return body + "--XY--\r\n";
}

std::string Part(const std::string& name, const std::string& value) {
  return "Content-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value;
}

TEST_F(CompatTest, LibreTranslateTakesTheFormsOfBrowsers) {
  const std::string type = "Content-Type: multipart/form-data; boundary=XY\r\n";
  const HttpReply good =
      Post("/translate", Multipart({Part("q", kText), Part("source", "en"), Part("target", "de")}),
           type);
  ASSERT_EQ(good.code, 200) << good.body;
  EXPECT_EQ(Json(good)["translatedText"], Wanted());
  const HttpReply list = Post("/translate",
                              Multipart({Part("q", kText), Part("q", "--X\r\nY"),
                                         Part("source", "en"), Part("target", "de")}),
                              "Content-Type: multipart/form-data; charset=x; boundary=\"XY\"\r\n");
  ASSERT_EQ(list.code, 200) << list.body;
  EXPECT_EQ(Json(list)["translatedText"].size(), 2u);
  const std::string whole = Multipart({Part("q", kText)});
  const std::string file = "Content-Disposition: form-data; name=\"q\"; filename=\"a\"\r\n\r\nx";
  for (const auto& [body, headers, message] :
       std::initializer_list<std::tuple<std::string, std::string, const char*>>{
           {whole, "Content-Type: multipart/form-data\r\n", "no boundary"},
           {whole, "Content-Type: multipart/form-data; boundary=\r\n", "no boundary"},
           {whole, "Content-Type: multipart/form-data; boundary=XYZ\r\n", "truncated or malformed"},
           {whole.substr(0, whole.size() - 6), type, "truncated or malformed"},
           {"--XY\r\nno headers", type, "truncated or malformed"},
           {"", type, "truncated or malformed"},
           {Multipart({file}), type, "q: is a file"},
           {Multipart({"Content-Type: text/plain\r\n\r\nx"}), type, "no name"},
           {Multipart({"Content-Transfer-Encoding: base64\r\n" + Part("q", "eA==")}), type,
            "Content-Transfer-Encoding"},
           {Multipart({Part("q", "\xff")}), type, "UTF-8"}}) {
    const HttpReply reply = Post("/translate", body, headers);
    EXPECT_EQ(reply.code, 400) << body;
    EXPECT_THAT(reply.body, HasSubstr(message)) << body;
  }
}

TEST_F(CompatTest, LibreTranslateRefusesByName) {
  for (const auto& [body, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"q": "a", "source": "en", "target": "de", "format": "rtf"})", "format"},
           {R"({"source": "en", "target": "de"})", "Invalid request: missing q parameter"},
           {R"({"q": "a", "target": "de"})", "Invalid request: missing source parameter"},
           {R"({"q": {"a": 1}, "source": "en", "target": "de"})", "q"},
           {R"({"q": "a", "source": "en", "target": "xx"})", "xx is not supported"},
           {R"({"q": "a", "source": "en", "target": "de", "alternatives": -1})", "alternatives"},
           {"[", "body"}}) {
    const HttpReply reply = Post("/translate", body);
    EXPECT_EQ(reply.code, 400) << body;
    EXPECT_THAT(std::string(Json(reply)["error"]), HasSubstr(message)) << body;
  }
  EXPECT_EQ(Json(Get("/translate"))["error"].is_string(), true);
}

TEST_F(CompatTest, LibreTranslateListsAndDetects) {
  const nlohmann::json languages = Json(Get("/languages"));
  EXPECT_EQ(languages[1]["code"], "en");
  EXPECT_EQ(languages[1]["name"], "English");
  const nlohmann::json detected = Json(Post("/detect", R"({"q": "Wo ist der Bahnhof?"})"));
  EXPECT_EQ(detected[0]["language"], "de");
  EXPECT_GT(detected[0]["confidence"], 50);
  EXPECT_EQ(Json(Get("/frontend/settings"))["language"]["target"]["code"], "de");
  EXPECT_EQ(Json(Get("/health"))["status"], "ok");
  EXPECT_EQ(Json(Get("/spec"))["paths"].size(), 6u);
}

TEST_F(CompatTest, DeepLTakesListsOfTexts) {
  const HttpReply reply =
      Post("/v2/translate", "text=The%20cat%20is%20old.&text=&target_lang=DE&context=x",
           std::string(kFormType) + "Authorization: DeepL-Auth-Key k:fx\r\n");
  ASSERT_EQ(reply.code, 200) << reply.body;
  const nlohmann::json translations = Json(reply)["translations"];
  ASSERT_EQ(translations.size(), 2u);
  EXPECT_EQ(translations[0]["text"], Wanted());
  EXPECT_EQ(translations[0]["detected_source_language"], "EN");
  EXPECT_THAT(reply.headers, HasSubstr("X-Dragoman-Ignored: context"));
  const HttpReply json =
      Post("/v2/translate",
           R"({"text": ["The cat is old."], "source_lang": "EN", "target_lang": "DE"})");
  EXPECT_EQ(Json(json)["translations"][0]["text"], Wanted());
}

TEST_F(CompatTest, DeepLRefusesByName) {
  for (const char* field :
       {R"("style_id": "1")", R"("tag_handling": "rtf")", R"("tag_handling_version": "v3")",
        R"("formality": "more")", R"("formality": "x")", R"("split_sentences": "2")",
        R"("outline_detection": "maybe")", R"("model_type": "best")"}) {
    const HttpReply reply = Post(
        "/v2/translate",
        std::string(R"({"text": ["a"], "source_lang": "EN", "target_lang": "DE", )") + field + "}");
    EXPECT_EQ(reply.code, 400) << field;
    const std::string name(field + 1, std::string(field + 1).find('"'));
    EXPECT_THAT(std::string(Json(reply)["message"]), HasSubstr(name));
  }
  const nlohmann::json targets = Json(Get("/v2/languages?type=target"));
  EXPECT_EQ(targets[0]["language"], "DE");
  EXPECT_EQ(targets[0]["supports_formality"], false);
  EXPECT_EQ(Json(Get("/v2/usage"))["character_limit"], 1'000'000'000'000);
}

TEST_F(CompatTest, DeepLSaysWhatItDid) {
  const nlohmann::json before = Json(Get("/v2/usage"));
  const nlohmann::json answer = Json(Post(
      "/v2/translate",
      R"({"text": ["The cat is old.\n\nThe cat is old.", "a"], "source_lang": "EN", "target_lang": "DE",
          "split_sentences": "0", "model_type": "prefer_quality_optimized"})"))["translations"];
  EXPECT_EQ(answer[0]["text"], Wanted() + "\n\n" + Wanted());
  EXPECT_EQ(answer[0]["model_type_used"], "quality_optimized");
  EXPECT_EQ(answer.size(), 2u);
  EXPECT_EQ(Json(Get("/v2/usage"))["character_count"],
            static_cast<int>(before["character_count"]) + 33);
}

TEST_F(CompatTest, WhatIsTooLongHasTheCodeOfTheApi) {
  const std::string text(200'000, 'a');
  const auto code = [&](const char* path, const std::string& body) {
    return Post(path, body).code;
  };
  EXPECT_EQ(code("/v2/translate", R"({"target_lang": "DE", "text": [")" + text + "\"]}"), 413);
  EXPECT_EQ(code("/language/translate/v2", R"({"target": "de", "q": ")" + text + "\"}"), 400);
  EXPECT_EQ(code("/translate", R"({"source": "en", "target": "de", "q": ")" + text + "\"}"), 400);
}

TEST_F(CompatTest, GoogleTakesQueriesAndJson) {
  const HttpReply get =
      Get("/language/translate/v2?q=The+cat+is+old.&source=en&target=de&format=text");
  ASSERT_EQ(get.code, 200) << get.body;
  EXPECT_EQ(Json(get)["data"]["translations"][0]["translatedText"], Wanted());
  const HttpReply post =
      Post("/language/translate/v2", R"({"q": ["The cat is old."], "target": "de"})");
  ASSERT_EQ(post.code, 200) << post.body;
  EXPECT_EQ(Json(post)["data"]["translations"][0]["detectedSourceLanguage"], "en");
  const HttpReply rtf =
      Post("/language/translate/v2", R"({"q": "Hi", "target": "de", "format": "rtf"})");
  EXPECT_EQ(rtf.code, 400);
  EXPECT_THAT(std::string(Json(rtf)["error"]["message"]), HasSubstr("format"));
  EXPECT_EQ(Json(rtf)["error"]["status"], "INVALID_ARGUMENT");
  const nlohmann::json detections =
      Json(Get("/language/translate/v2/detect?q=Wo+ist+der+Bahnhof"))["data"]["detections"];
  EXPECT_EQ(detections[0][0]["language"], "de");
  const nlohmann::json languages =
      Json(Get("/language/translate/v2/languages?target=en"))["data"]["languages"];
  EXPECT_EQ(languages[0]["name"], "German");
  EXPECT_EQ(Json(Get("/language/translate/v2/languages?target=de"))["data"]["languages"][0]["name"],
            "Deutsch");
  EXPECT_EQ(
      Json(Get(
          "/language/translate/v2?q=a&target=de&model=nmt"))["data"]["translations"][0]["model"],
      "nmt");
}

TEST_F(CompatTest, GoogleTakesNullForAbsentAndASlashAtTheEnd) {
  const HttpReply reply = Post("/language/translate/v2/",
                               R"({"q": ["The cat is old."], "target": "de", "cid": [],
                                   "format": "text", "source": null, "model": null})");
  ASSERT_EQ(reply.code, 200) << reply.body;
  EXPECT_EQ(Json(reply)["data"]["translations"][0]["translatedText"], Wanted());
  EXPECT_THAT(reply.headers, Not(HasSubstr("X-Dragoman-Ignored")));
}

TEST_F(CompatTest, GoogleHasItsAdvancedEdition) {
  for (const char* parent : {"/v3/projects/p", "/v3/projects/p/locations/global"}) {
    const HttpReply reply =
        Post(std::string(parent) + ":translateText",
             R"({"contents": ["<b>The cat is old.</b>"], "targetLanguageCode": "de"})");
    ASSERT_EQ(reply.code, 200) << reply.body;
    const nlohmann::json translation = Json(reply)["translations"][0];
    EXPECT_EQ(translation["translatedText"], "<b>" + Wanted() + "</b>");
    EXPECT_EQ(translation["detectedLanguageCode"], "en");
  }
  const nlohmann::json detected =
      Json(Post("/v3/projects/p:detectLanguage", R"({"content": "Wo ist der Bahnhof?"})"));
  EXPECT_EQ(detected["languages"][0]["languageCode"], "de");
  const nlohmann::json languages = Json(
      Get("/v3/projects/p/locations/l/supportedLanguages?displayLanguageCode=en"))["languages"];
  EXPECT_EQ(languages[0], nlohmann::json({{"languageCode", "de"},
                                          {"displayName", "German"},
                                          {"supportSource", false},
                                          {"supportTarget", true}}));
}

TEST_F(CompatTest, GooglesAdvancedEditionRefusesByName) {
  for (const auto& [body, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"contents": ["a"]})", "targetLanguageCode"},
           {R"({"contents": ["a"], "targetLanguageCode": "xx"})",
            "targetLanguageCode: \"xx\" is not served"},
           {R"({"contents": ["a"], "targetLanguageCode": "de", "mimeType": "a/b"})", "mimeType"},
           {R"({"contents": ["a"], "targetLanguageCode": "de", "glossaryConfig": {}})",
            "glossaryConfig"}}) {
    const HttpReply reply = Post("/v3/projects/p:translateText", body);
    EXPECT_EQ(reply.code, 400) << body;
    EXPECT_EQ(Json(reply)["error"]["status"], "INVALID_ARGUMENT");
    EXPECT_THAT(std::string(Json(reply)["error"]["message"]), HasSubstr(message)) << body;
  }
  const HttpReply other = Post("/v3/projects/p:batchTranslateText", "{}");
  EXPECT_EQ(Json(other)["error"]["status"], "NOT_FOUND");
}

TEST_F(CompatTest, DeepLTakesEverythingFromTheQuery) {
  const std::string query = "?auth_key=k&text=The%20cat%20is%20old.&source_lang=EN&target_lang=DE";
  for (const char* path : {"/v2/translate", "/v1/translate"}) {
    const HttpReply reply = Get(path + query);
    ASSERT_EQ(reply.code, 200) << reply.body;
    EXPECT_EQ(Json(reply)["translations"][0]["text"], Wanted());
  }
  EXPECT_EQ(Json(Post("/v2/translate" + query, "", ""))["translations"][0]["text"], Wanted());
}

TEST_F(CompatTest, WhatAnApiHasNotIsRefusedInItsForm) {
  EXPECT_THAT(std::string(Json(Get("/v2/rephrase"))["message"]), HasSubstr("translate"));
  EXPECT_THAT(std::string(Json(Get("/translate_file"))["error"]), HasSubstr("want POST"));
  EXPECT_THAT(std::string(Json(Post("/suggest", "q=a", kFormType))["error"]),
              HasSubstr("suggestions"));
}

// What each API calls HTML or XML, and the translation of kText in it.
TEST_F(CompatTest, MarkupIsKept) {
  const std::string html = R"(<p class='a'>The cat is old.</p><!-- old --><br>)";
  const std::string wanted = "<p class='a'>" + Wanted() + "</p><!-- old --><br>";
  nlohmann::json libre = {{"q", {html}}, {"source", "en"}, {"target", "de"}, {"format", "html"}};
  EXPECT_EQ(Json(Post("/translate", libre.dump()))["translatedText"][0], wanted);
  nlohmann::json google = {{"q", html}, {"source", "en"}, {"target", "de"}};
  EXPECT_EQ(Json(Post("/language/translate/v2",
                      google.dump()))["data"]["translations"][0]["translatedText"],
            wanted);
  nlohmann::json deepl = {{"text", {html}}, {"target_lang", "DE"}, {"tag_handling", "html"}};
  EXPECT_EQ(Json(Post("/v2/translate", deepl.dump()))["translations"][0]["text"], wanted);
}

TEST_F(CompatTest, DeepLReadsTheOptionsOfXml) {
  nlohmann::json call = {{"text", {"<a>The cat is old.</a><x>The cat is old.</x>"}},
                         {"source_lang", "EN"},
                         {"target_lang", "DE"},
                         {"tag_handling", "xml"},
                         {"tag_handling_version", "v2"},
                         {"formality", "prefer_more"},
                         {"split_sentences", "nonewlines"},
                         {"outline_detection", false},
                         {"splitting_tags", "a,x"},
                         {"ignore_tags", {"x"}}};
  const HttpReply reply = Post("/v2/translate", call.dump());
  ASSERT_EQ(reply.code, 200) << reply.body;
  const nlohmann::json translation = Json(reply)["translations"][0];
  EXPECT_EQ(translation["text"], "<a>" + Wanted() + "</a><x>The cat is old.</x>");
  EXPECT_EQ(translation["tag_handling_version"], "v2");
  call["text"] = {"<a>The cat"};
  const HttpReply broken = Post("/v2/translate", call.dump());
  EXPECT_EQ(broken.code, 400);
  EXPECT_THAT(std::string(Json(broken)["message"]), HasSubstr("line 1"));
}

TEST_F(CompatTest, LibreTranslateListsLanguagesThatAreOnlyTargets) {
  const nlohmann::json languages = Json(Get("/languages"));
  ASSERT_GE(languages.size(), 2u);
  EXPECT_EQ(languages[0]["code"], "de");
  EXPECT_TRUE(languages[0]["targets"].empty());
  EXPECT_EQ(languages[1]["targets"][0], "de");
}

TEST_F(CompatTest, AutoIsForGrpcToo) {
  v1::TranslateRequest request = RequestFor({kText, "Wo ist der Bahnhof?", "12"});
  request.set_source_language("auto");
  request.set_target_language("de");
  v1::TranslateResponse response;
  const grpc::Status status = server_.Translate(request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.translations(0).hypotheses(0).text(), Wanted());
  EXPECT_EQ(response.translations(0).detected_language(), "en");
  EXPECT_GT(response.translations(0).detection_confidence(), 0.5f);
  EXPECT_EQ(response.translations(1).hypotheses(0).text(), "Wo ist der Bahnhof?");
  EXPECT_EQ(response.translations(1).detected_language(), "de");
  EXPECT_EQ(response.translations(2).detection_confidence(), 0);
}

}  // namespace
}  // namespace dragoman::compat_test
