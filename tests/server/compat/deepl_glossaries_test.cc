// DeepL's glossaries, in the requests of its libraries.

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "engine/base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/http_client.h"
#include "tests/server/test_server.h"

namespace dragoman::deepl_glossaries_test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

constexpr char kTime[] = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z";
constexpr char kFormType[] = "application/x-www-form-urlencoded";

class DeepLGlossariesTest : public testing::Test {
 protected:
  DeepLGlossariesTest() {
    std::string name = testing::TempDir() + "/deepl-XXXXXX";
    directory_ = mkdtemp(name.data());
    Restart();
  }
  ~DeepLGlossariesTest() override { std::filesystem::remove_all(directory_); }

  void Restart() {
    server_ = nullptr;
    ServerOptions options = TestOptions();
    options.store = "sqlite:" + directory_ + "/store.db";
    options.glossary_files = directory_;
    server_ = std::make_unique<TestServer>(options);
  }

  HttpReply Send(const std::string& method, const std::string& path, const std::string& body = "",
                 const std::string& type = kFormType) {
    RawHttpClient client(server_->server().http_address());
    client.Send(method + " " + path + " HTTP/1.1\r\nHost: a\r\n" +
                (body.empty() ? "" : "Content-Type: " + type + "\r\n") +
                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return client.Receive();
  }
  nlohmann::json Ask(const std::string& method, const std::string& path, int code,
                     const std::string& body = "", const std::string& type = kFormType) {
    const HttpReply reply = Send(method, path, body, type);
    EXPECT_EQ(reply.code, code) << reply.body;
    return nlohmann::json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
  }
  std::string Translated(const std::string& glossary) {
    const nlohmann::json answer =
        Ask("POST", "/v2/translate", 200,
            "text=The+old+house+is+small.&source_lang=EN&target_lang=DE&glossary_id=" + glossary);
    return answer["translations"][0]["text"];
  }

  std::string directory_;
  std::unique_ptr<TestServer> server_;
};

TEST_F(DeepLGlossariesTest, VersionTwo) {
  EXPECT_EQ(Ask("GET", "/v2/glossary-language-pairs", 200)["supported_languages"][0]["source_lang"],
            "en");
  const nlohmann::json made = Ask("POST", "/v2/glossaries", 201,
                                  "name=Houses&source_lang=EN&target_lang=DE&entries_format=tsv&"
                                  "entries=house%09Haus%0ACat%09Kater");
  EXPECT_EQ(made["name"], "Houses");
  EXPECT_EQ(made["ready"], true);
  EXPECT_EQ(made["source_lang"], "en");
  EXPECT_EQ(made["target_lang"], "de");
  EXPECT_EQ(made["entry_count"], 2);
  EXPECT_THAT(std::string(made["creation_time"]), HasSubstr("T"));
  const std::string id = made["glossary_id"];
  EXPECT_EQ(Ask("GET", "/v2/glossaries/" + id, 200), made);
  EXPECT_EQ(Ask("GET", "/v2/glossaries", 200)["glossaries"][0], made);
  const HttpReply entries = Send("GET", "/v2/glossaries/" + id + "/entries");
  EXPECT_EQ(entries.body, "house\tHaus\nCat\tKater");
  EXPECT_THAT(entries.headers, HasSubstr("text/tab-separated-values"));
  EXPECT_THAT(Translated(id), HasSubstr("Haus"));
  EXPECT_EQ(Send("DELETE", "/v2/glossaries/" + id).code, 204);
  EXPECT_THAT(std::string(Ask("GET", "/v2/glossaries/" + id, 404)["message"]), HasSubstr(id));
  Ask("POST", "/v2/translate", 404, "text=a&source_lang=EN&target_lang=DE&glossary_id=" + id);
}

TEST_F(DeepLGlossariesTest, VersionThree) {
  // As deepl-node writes it, and as the Python library does.
  const nlohmann::json made =
      Ask("POST", "/v3/glossaries", 201,
          "name=Houses&dictionaries%5B0%5D.source_lang=EN&dictionaries%5B0%5D.target_lang=DE&"
          "dictionaries%5B0%5D.entries=house%09Haus&dictionaries%5B0%5D.entries_format=tsv");
  const std::string path = "/v3/glossaries/" + std::string(made["glossary_id"]);
  EXPECT_EQ(made["dictionaries"][0]["entry_count"], 1);
  const nlohmann::json more = Ask("PATCH", path, 200,
                                  R"({"name": "More", "dictionaries": [
               {"source_lang": "en", "target_lang": "fr", "entries": "house,maison\n",
                "entries_format": "csv"},
               {"source_lang": "en", "target_lang": "de", "entries": "house\tHeim\ncat\tKatze",
                "entries_format": "tsv"}]})",
                                  "application/json");
  EXPECT_EQ(more["name"], "More");
  ASSERT_THAT(more["dictionaries"], SizeIs(2));
  EXPECT_EQ(more["dictionaries"][0]["entry_count"], 2);
  EXPECT_EQ(Ask("GET", path, 200), more);
  const std::string pair = "?source_lang=EN&target_lang=DE";
  EXPECT_EQ(Ask("GET", path + "/entries" + pair, 200)["dictionaries"][0]["entries"],
            "house\tHeim\ncat\tKatze");
  EXPECT_EQ(Ask("PUT", path + "/dictionaries", 200,
                "source_lang=EN&target_lang=DE&entries=%22old%22%22%2C+x%22%2Calt%2Cen%2Cde&"
                "entries_format=csv")["entry_count"],
            1);
  EXPECT_EQ(Ask("GET", path + "/entries" + pair, 200)["dictionaries"][0]["entries"],
            "old\", x\talt");
  EXPECT_EQ(Send("DELETE", path + "/dictionaries" + pair).code, 204);
  Ask("DELETE", path + "/dictionaries" + pair, 404);
  EXPECT_THAT(Ask("GET", "/v3/glossaries", 200)["glossaries"][0]["dictionaries"], SizeIs(1));
  EXPECT_EQ(Send("DELETE", path).code, 204);
  EXPECT_THAT(Ask("GET", "/v3/glossaries", 200)["glossaries"], SizeIs(0));
}

// As DeepL sends them; its Python library reads no others.
TEST_F(DeepLGlossariesTest, TimesHaveMilliseconds) {
  const std::string day = "2021-08-03T14:16:";
  const auto describe = [&](const std::string& id, const std::string& seconds) {
    std::ofstream(directory_ + "/" + id + ".tsv")
        << "# languages: en de\n# created: " << day << seconds << "Z\nhouse\tHaus\n";
  };
  const std::pair<std::string, std::string> times[] = {
      {"18", "18.000"}, {"19.3", "19.300"}, {"20.329", "20.329"}, {"59.99999", "59.999"}};
  for (const auto& [seconds, want] : times) describe("at" + seconds.substr(0, 2), seconds);
  Restart();
  for (const auto& [seconds, want] : times) {
    for (const std::string version : {"/v2", "/v3"}) {
      const std::string path = version + "/glossaries/at" + seconds.substr(0, 2);
      EXPECT_EQ(Ask("GET", path, 200)["creation_time"], day + want + "Z") << path;
    }
  }
  for (const std::string version : {"/v2", "/v3"}) {
    const nlohmann::json made = Ask("POST", version + "/glossaries", 201,
                                    R"({"name": "n", "source_lang": "en", "target_lang": "de",
        "entries": "a\tb", "entries_format": "tsv", "dictionaries": [{"source_lang": "en",
        "target_lang": "de", "entries": "a\tb", "entries_format": "tsv"}]})",
                                    "application/json");
    EXPECT_THAT(std::string(made["creation_time"]), MatchesRegex(kTime)) << version;
    const nlohmann::json all = Ask("GET", version + "/glossaries", 200)["glossaries"];
    EXPECT_THAT(all, SizeIs(version == "/v2" ? 5 : 6));
    for (const nlohmann::json& one : all) {
      EXPECT_THAT(std::string(one["creation_time"]), MatchesRegex(kTime)) << version;
    }
  }
}

TEST_F(DeepLGlossariesTest, ErrorsNameTheField) {
  const auto error = [&](const std::string& body) {
    return std::string(Ask("POST", "/v2/glossaries", 400, body)["message"]);
  };
  EXPECT_THAT(error("source_lang=EN&target_lang=DE"), HasSubstr("entries"));
  EXPECT_THAT(error("source_lang=EN&target_lang=DE&entries=a%09b%0Ac"), HasSubstr("line 2"));
  EXPECT_THAT(error("source_lang=EN&entries=a%09b"), HasSubstr("target_lang"));
  EXPECT_THAT(error("source_lang=EN&target_lang=DE&entries=a%09b&entries_format=tbx"),
              HasSubstr("entries_format"));
  EXPECT_THAT(std::string(Ask("POST", "/v3/glossaries", 400, R"({"dictionaries": "x"})",
                              "application/json")["message"]),
              HasSubstr("dictionaries"));
}

}  // namespace
}  // namespace dragoman::deepl_glossaries_test
