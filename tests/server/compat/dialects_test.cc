// The APIs that share `POST /translate`, and their other paths, end to end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "engine/base/json.h"
#include "tests/server/http_client.h"
#include "tests/server/test_server.h"

namespace dragoman::dialects_test {
namespace {

using ::testing::HasSubstr;

constexpr char kText[] = "The cat is old.";
constexpr char kJsonType[] = "Content-Type: application/json\r\n";

nlohmann::json Post(TestServer& server, const std::string& path, const std::string& body,
                    int code = 200) {
  const HttpReply reply = HttpPost(server.server().http_address(), path, body, kJsonType);
  EXPECT_EQ(reply.code, code) << path << " " << body << ": " << reply.body;
  return nlohmann::json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
}

TEST(Dialects, AreToldApartByTheirFields) {
  TestServer server;
  const std::string wanted = server.Translate(kText);
  const nlohmann::json list = Post(
      server, "/translate",
      R"({"source": ["The cat is old.", ""], "src_lang": "eng_Latn", "tgt_lang": "deu_Latn"})");
  EXPECT_EQ(list, nlohmann::json({{"translation", {wanted, ""}}}));
  const nlohmann::json single =
      Post(server, "/translate", R"({"text": "The cat is old.", "target_lang": "de"})");
  EXPECT_EQ(single["code"], 200);
  EXPECT_GT(single["id"], 0);
  EXPECT_EQ(single["data"], wanted);
  EXPECT_EQ(single["alternatives"], nlohmann::json::array());
  EXPECT_EQ(single["source_lang"], "EN");
  EXPECT_EQ(single["target_lang"], "DE");
  EXPECT_EQ(single["method"], "Free");
  const nlohmann::json other =
      Post(server, "/translate", R"({"q": "The cat is old.", "source": "en", "target": "de"})");
  EXPECT_EQ(other, nlohmann::json({{"translatedText", wanted}}));
}

TEST(Dialects, RefuseInTheirOwnWords) {
  TestServer server;
  for (const auto& [body, path, message] :
       std::initializer_list<std::tuple<const char*, const char*, const char*>>{
           {R"({"source": ["a"], "src_lang": "en", "tgt_lang": "xx"})", "/detail",
            "tgt_lang: \"xx\" is not served"},
           {R"({"source": [1], "src_lang": "en", "tgt_lang": "de"})", "/detail",
            "source: is neither"},
           {R"({"text": "a", "target_lang": "xx"})", "/message",
            "target_lang: \"xx\" is not served"},
           {R"({"text": ["a"], "target_lang": "de"})", "/message", "text: is not one text"},
           {R"({"text": "a", "target_lang": "de", "tag_handling": "rtf"})", "/message",
            "tag_handling"},
           {R"({"q": "a", "source": "en", "target": "xx"})", "/error", "xx is not supported"},
           {R"({"text": "a"})", "/error", "Invalid request: missing q parameter"}}) {
    const nlohmann::json error = Post(server, "/translate", body, 400);
    EXPECT_THAT(error.value(nlohmann::json::json_pointer(path), ""), HasSubstr(message)) << body;
  }
}

TEST(Dialects, OnlyThoseThatAreEnabledAnswer) {
  ServerOptions options = TestOptions();
  options.compat = {"deeplx"};
  TestServer server(options);
  const std::string call = R"({"source": ["a"], "src_lang": "en", "tgt_lang": "de"})";
  EXPECT_EQ(Post(server, "/translate", call, 400)["code"], 400);
  Post(server, "/translator", "{}", 404);
}

TEST(Dialects, DeepLXKeepsMarkup) {
  TestServer server;
  const nlohmann::json answer = Post(server, "/translate",
                                     R"({"text": "<b>The cat is old.</b>", "source_lang": "auto",
                                         "target_lang": "DE", "tag_handling": "html"})");
  EXPECT_EQ(answer["data"], "<b>" + server.Translate(kText) + "</b>");
}

TEST(Dialects, SubtitleEditSendsOneTextToTranslator) {
  TestServer server;
  const nlohmann::json answer =
      Post(server, "/translator",
           R"({ "text": "The cat is old.",  "source": "eng_Latn", "target": "deu_Latn" })");
  EXPECT_EQ(answer, nlohmann::json({{"result", server.Translate(kText)}}));
  EXPECT_THAT(std::string(Post(server, "/translator", R"({"text": "a"})", 400)["detail"]),
              HasSubstr("target: is missing"));
}

TEST(Dialects, ImmersiveTranslateSendsListsOfTexts) {
  TestServer server;
  const nlohmann::json answer =
      Post(server, "/imme?token=any",
           R"({"source_lang": "auto", "target_lang": "de", "text_list": ["The cat is old.", ""]})");
  ASSERT_EQ(answer["translations"].size(), 2u);
  EXPECT_EQ(answer["translations"][0]["text"], server.Translate(kText));
  EXPECT_EQ(answer["translations"][0]["detected_source_lang"], "en");
  EXPECT_THAT(std::string(Post(server, "/imme", R"({"target_lang": "de"})", 400)["error"]),
              HasSubstr("text_list: is missing"));
}

TEST(Dialects, KissTranslatorSendsOneTextOrSeveral) {
  TestServer server;
  const nlohmann::json wanted = {{"text", server.Translate(kText)}, {"src", "en"}};
  EXPECT_EQ(Post(server, "/kiss", R"({"texts": ["The cat is old."], "from": "auto", "to": "de"})"),
            nlohmann::json({{"translations", {wanted}}}));
  EXPECT_EQ(Post(server, "/kiss", R"({"text": "The cat is old.", "from": "en", "to": "de"})"),
            wanted);
  EXPECT_THAT(std::string(Post(server, "/kiss", R"({"to": "de"})", 400)["error"]),
              HasSubstr("texts: is missing"));
}

TEST(Dialects, HcfyHasChineseNamesOfLanguages) {
  TestServer server;
  const nlohmann::json wanted = {
      {"text", "The cat is old.\n\nThe cat is old."},
      {"from", "英语"},
      {"to", "德语"},
      {"result", {server.Translate(kText), "", server.Translate(kText)}}};
  // What is in the first language goes into the second one.
  for (const char* languages : {R"("destination": ["英语", "德语"])",
                                R"("destination": ["德语", "英语"], "source": "英语")",
                                R"("destination": ["de"], "source": "")"}) {
    EXPECT_EQ(Post(server, "/hcfy",
                   absl::StrCat(R"({"name": "any", "text": "The cat is old.\n\nThe cat is old.", )",
                                languages, "}")),
              wanted);
  }
  for (const char* wrong : {R"("destination": [])", R"x("destination": ["中文(繁体)"])x"}) {
    const nlohmann::json answer =
        Post(server, "/hcfy", absl::StrCat(R"({"text": "a", "source": "英语", )", wrong, "}"), 400);
    EXPECT_THAT(std::string(answer["error"]), HasSubstr("destination: "));
  }
}

TEST(Dialects, GooglesPagesAskForASingleText) {
  TestServer server;
  const std::string wanted = server.Translate(kText);
  const std::string query = "?client=gtx&sl=auto&tl=de&dt=t&q=The%20cat%20is%20old.";
  for (const char* path : {"/translate_a/single", "/google/translate_a/single"}) {
    const HttpReply reply = HttpGet(server.server().http_address(), path + query);
    const nlohmann::json list = nlohmann::json::parse(reply.body);
    EXPECT_EQ(list[0], nlohmann::json::parse("[[" + nlohmann::json(wanted).dump() +
                                             R"(, "The cat is old.", null, null, 1]])"));
    EXPECT_EQ(list[2], "en");
    EXPECT_EQ(list.size(), 8u);
  }
  const nlohmann::json object = Post(server, "/translate_a/single" + query + "&dj=1", "");
  EXPECT_EQ(object["sentences"][0]["trans"], wanted);
  EXPECT_EQ(object["src"], "en");
  EXPECT_EQ(Post(server, "/translate_a/single?q=a&tl=xx", "", 400)["error"]["code"], 400);
}

}  // namespace
}  // namespace dragoman::dialects_test
