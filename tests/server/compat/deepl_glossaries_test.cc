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
    options.config.set_store("sqlite:" + directory_ + "/store.db");
    options.config.set_glossary_files(directory_);
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

TEST_F(DeepLGlossariesTest, OtherLanguagesAreRefused) {
  const std::string form = "name=a&entries_format=tsv&entries=a%09b&source_lang=EN&target_lang=";
  EXPECT_THAT(std::string(Ask("POST", "/v2/glossaries", 400, form + "XX")["message"]),
              HasSubstr("target_lang: \"XX\" is not supported"));
  std::ofstream(directory_ + "/french.tsv") << "# languages: en fr\nhouse\tmaison\n";
  Restart();
  EXPECT_THAT(
      std::string(Ask("POST", "/v2/translate", 400,
                      "text=a&source_lang=EN&target_lang=DE&glossary_id=french")["message"]),
      HasSubstr("glossary_id: No dictionary found for language pair: glossary \"french\" is for "));
}

constexpr char kTmx[] =
    R"(<?xml version="1.0"?><tmx version="1.4"><header srclang="en"/><body>
<tu><tuv xml:lang="en"><seg>The old house is small.</seg></tuv>
<tuv xml:lang="de"><seg>Klein ist das alte Haus.</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>The cat sleeps.</seg></tuv>
<tuv xml:lang="de"><seg>Es schläft die Katze.</seg></tuv></tu></body></tmx>)";

TEST_F(DeepLGlossariesTest, MemoriesAreImportedAndExported) {
  const std::string path = "/v3/translation_memories", json = "application/json";
  const std::string begin = R"({"source_file": {"file_name": "a.tmx", "content_length": )" +
                            std::to_string(sizeof(kTmx) - 1) +
                            R"(}, "parameters": {"display_name": "Houses"}})";
  nlohmann::json import = Ask("POST", path + "/import", 201, begin, json);
  const std::string job = path + "/jobs/" + std::string(import["job_id"]);
  EXPECT_EQ(import["upload_url"], "http://a" + job + "/file");
  EXPECT_EQ(Ask("GET", job, 200)["results"][0]["status"], "awaiting_input");
  EXPECT_EQ(Send("PUT", job + "/file", kTmx, "application/xml").code, 200);
  const nlohmann::json done = Ask("GET", job, 200)["results"][0];
  EXPECT_EQ(done["status"], "completed");
  const std::string id = done["translation_memory_id"];
  EXPECT_EQ(Send("PUT", job + "/file", kTmx, "application/xml").code, 400) << "once";

  const nlohmann::json memory = Ask("GET", path + "/" + id, 200);
  EXPECT_EQ(memory["name"], "Houses");
  EXPECT_EQ(memory["source_language"], "en");
  EXPECT_EQ(memory["target_languages"], nlohmann::json({"de"}));
  EXPECT_EQ(memory["segment_count"], 2);
  EXPECT_EQ(Ask("GET", path, 200)["translation_memories"], nlohmann::json({memory}));
  EXPECT_EQ(Ask("GET", path + "?page=1&page_size=1", 200)["translation_memories"],
            nlohmann::json::array());
  EXPECT_EQ(
      Ask("POST", "/v2/translate", 200,
          "text=The+old+house+is+small.&source_lang=EN&target_lang=DE&translation_memory_id=" +
              id)["translations"][0]["text"],
      "Klein ist das alte Haus.");

  const nlohmann::json page = Ask("GET", path + "/" + id + "/segments?page_size=1", 200);
  EXPECT_EQ(page["segments"][0]["targets"][0]["target_text"], "Klein ist das alte Haus.");
  EXPECT_EQ(page["segment_count"], 2);
  const std::string cursor = page["next_page_cursor"];
  const nlohmann::json last =
      Ask("GET", path + "/" + id + "/segments?page_size=1&page_cursor=" + cursor, 200);
  EXPECT_EQ(last["segments"][0]["source_text"], "The cat sleeps.");
  EXPECT_FALSE(last.contains("next_page_cursor"));
  const nlohmann::json found = Ask("GET", path + "/" + id + "/segments?filter_text=KATZE", 200);
  EXPECT_THAT(found["segments"], SizeIs(1));
  EXPECT_EQ(found["segments"][0]["source_segment_id"], "1");
  EXPECT_THAT(Ask("GET", path + "/" + id + "/segments?filter_text=KATZE&filter_case_sensitive=true",
                  200)["segments"],
              SizeIs(0));

  const nlohmann::json exported = Ask("POST", path + "/" + id + "/export", 202);
  const nlohmann::json ready =
      Ask("GET", path + "/jobs/" + std::string(exported["job_id"]), 200)["results"][0];
  const std::string address = ready["download_url"];
  EXPECT_THAT(Send("GET", address.substr(sizeof("http://a") - 1)).body,
              HasSubstr("<seg>Es schläft die Katze.</seg>"));
  EXPECT_EQ(Send("DELETE", path + "/" + id).code, 204);
  Ask("GET", path + "/" + id, 404);
}

TEST_F(DeepLGlossariesTest, MemoriesAreRefusedByName) {
  const std::string path = "/v3/translation_memories", json = "application/json";
  for (const auto& [body, message] :
       {std::pair("{}", "source_file.file_name: is missing"),
        {R"({"source_file": 1})", "source_file: is not an object"},
        {R"({"source_file": {"file_name": "a"}})", "content_length"}}) {
    EXPECT_THAT(std::string(Ask("POST", path + "/import", 400, body, json)["message"]),
                HasSubstr(message));
  }
  const std::string begin = R"({"source_file": {"file_name": "a.tmx", "content_length": 4}})";
  for (const auto& [file, message] :
       {std::pair("abcde", "the file has 5 bytes, its job was begun for 4"), {"abcd", "XML"}}) {
    const std::string id = Ask("POST", path + "/import", 201, begin, json)["job_id"];
    Ask("PUT", path + "/jobs/" + id + "/file", 400, file, "application/xml");
    const nlohmann::json result = Ask("GET", path + "/jobs/" + id, 200)["results"][0];
    EXPECT_EQ(result["status"], "failed");
    EXPECT_THAT(std::string(result["error"]["message"]), HasSubstr(message));
  }
  Ask("PUT", path + "/jobs/none/file", 404, "abcd", "application/xml");
  Ask("GET", path + "/jobs/none", 404);
  Ask("POST", path + "/none/export", 404);
  for (const char* query : {"page_size=101", "page_cursor=x", "filter_text=a"}) {
    Ask("GET", path + "/none/segments?" + query, 400);
  }
}

TEST_F(DeepLGlossariesTest, OnlyWhoBeganAJobSeesItAndTheirLinkNeedsNoToken) {
  server_ = nullptr;
  ServerOptions options = TestOptions();
  options.auth.tokens = directory_ + "/tokens";
  std::ofstream(options.auth.tokens)
      << "alice AAAAAAAAAAAAAAAAAAAAAAAA\nbob BBBBBBBBBBBBBBBBBBBBBBBB\n";
  server_ = std::make_unique<TestServer>(options);
  const auto ask = [&](const char* key, const std::string& method, const std::string& path,
                       const std::string& body, const std::string& type) {
    RawHttpClient client(server_->server().http_address());
    client.Send(method + " " + path + " HTTP/1.1\r\nHost: a\r\nContent-Type: " + type +
                (*key != 0 ? std::string("\r\nAuthorization: DeepL-Auth-Key ") + key : "") +
                "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return client.Receive();
  };
  const char alice[] = "AAAAAAAAAAAAAAAAAAAAAAAA", bob[] = "BBBBBBBBBBBBBBBBBBBBBBBB";
  const std::string path = "/v3/translation_memories", json = "application/json";
  const std::string begin = R"({"source_file": {"file_name": "a.tmx", "content_length": )" +
                            std::to_string(sizeof(kTmx) - 1) + "}}";
  EXPECT_EQ(ask("", "POST", path + "/import", begin, json).code, 403);
  const HttpReply begun = ask(alice, "POST", path + "/import", begin, json);
  ASSERT_EQ(begun.code, 201) << begun.body;
  const std::string job =
      path + "/jobs/" + std::string(nlohmann::json::parse(begun.body)["job_id"]);
  EXPECT_EQ(ask(bob, "GET", job, "", json).code, 404);
  EXPECT_EQ(ask("", "PUT", job + "/file", kTmx, "application/xml").code, 200);
  const nlohmann::json mine =
      nlohmann::json::parse(ask(alice, "GET", path, "", json).body)["translation_memories"];
  EXPECT_THAT(mine, SizeIs(1));
  EXPECT_EQ(nlohmann::json::parse(ask(bob, "GET", path, "", json).body)["translation_memories"],
            nlohmann::json::array());
}

}  // namespace
}  // namespace dragoman::deepl_glossaries_test
