// Files over HTTP: /v1/translate_file, and the APIs that answer an upload with an address.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/json.h"
#include "tests/server/http_client.h"
#include "tests/server/test_server.h"

namespace dragoman::documents_test {
namespace {

using ::testing::HasSubstr;

constexpr char kForm[] = "Content-Type: multipart/form-data; boundary=XY\r\n";
constexpr char kJson[] = "Content-Type: application/json\r\n";
constexpr char kText[] = "The cat is old.\n\n\nThe old teacher sees a small house.\n";

nlohmann::json Json(const HttpReply& reply) {
  return nlohmann::json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
}

// A form with a file, and fields.
std::string Upload(const std::string& file,
                   const std::vector<std::pair<std::string, std::string>>& fields,
                   const std::string& name = "a.txt", const std::string& file_field = "file") {
  std::string body;
  for (const auto& [field, value] : fields) {
    body +=
        "--XY\r\nContent-Disposition: form-data; name=\"" + field + "\"\r\n\r\n" + value + "\r\n";
  }
  return body + "--XY\r\nContent-Disposition: form-data; name=\"" + file_field + "\"; filename=\"" +
         name + "\"\r\nContent-Type: application/octet-stream\r\n\r\n" + file + "\r\n--XY--\r\n";
}

class DocumentsTest : public testing::Test {
 protected:
  explicit DocumentsTest(const ServerOptions& options = TestOptions()) : server_(options) {}

  HttpReply Post(const std::string& path, const std::string& body,
                 const std::string& headers = kForm) {
    return HttpPost(server_.server().http_address(), path, body, headers);
  }
  HttpReply Get(const std::string& path) { return HttpGet(server_.server().http_address(), path); }
  std::string Wanted() {
    return server_.Translate("The cat is old.") + "\n\n\n" +
           server_.Translate("The old teacher sees a small house.") + "\n";
  }
  // The end of DeepL's upload.
  nlohmann::json AwaitDeepL(const nlohmann::json& document) {
    const std::string path = "/v2/document/" + document.value("document_id", "");
    const std::string key = nlohmann::json({{"document_key", document["document_key"]}}).dump();
    while (true) {
      nlohmann::json status = Json(Post(path, key, kJson));
      if (status["status"] != "queued" && status["status"] != "translating") return status;
      EXPECT_TRUE(status["seconds_remaining"].is_number()) << status;
      absl::SleepFor(absl::Milliseconds(10));
    }
  }

  TestServer server_;
};

TEST_F(DocumentsTest, AnswersAFormWithTheTranslatedFile) {
  const HttpReply reply = Post("/v1/translate_file", Upload(kText, {{"target_language", "de"}}));
  ASSERT_EQ(reply.code, 200) << reply.body;
  // The body comes in chunks.
  EXPECT_THAT(reply.headers, HasSubstr("filename*=UTF-8''a.de.txt"));
  EXPECT_THAT(reply.headers, HasSubstr("text/plain"));
  EXPECT_THAT(reply.body, HasSubstr(Wanted()));
}

TEST_F(DocumentsTest, ReadsTheOptionsOfARequest) {
  const HttpReply good =
      Post("/v1/translate_file", Upload(kText, {{"request", R"({"options": {"beamSize": 2},
                                                             "targetLanguage": "de"})"}}));
  EXPECT_EQ(good.code, 200) << good.body;
  for (const auto& [fields, message] :
       {std::pair<std::vector<std::pair<std::string, std::string>>, const char*>{
            {{"request", R"({"option": 1})"}}, "option"},
        {{{"request", R"({"options": {"beamSize": 99}})"}}, "beam_size"},
        {{{"langauge", "de"}}, "langauge: is not a field"},
        {{{"target_language", "xx"}}, "target_language"},
        {{{"skip_errors", "perhaps"}}, "skip_errors"},
        {{{"format", "tar"}}, "tar"}}) {
    const HttpReply reply = Post("/v1/translate_file", Upload(kText, fields));
    EXPECT_EQ(reply.code, 400) << message;
    EXPECT_THAT(std::string(Json(reply)["message"]), HasSubstr(message));
  }
  EXPECT_THAT(std::string(Json(Post("/v1/translate_file", "--XY--\r\n"))["message"]),
              HasSubstr("file: is missing"));
  EXPECT_THAT(std::string(Json(Post("/v1/translate_file", "--XY\r\nhalf"))["message"]),
              HasSubstr("truncated"));
  EXPECT_EQ(Post("/v1/translate_file", "", "").code, 400);
  EXPECT_EQ(Post("/v1/translate_file", "{}", kJson).code, 415);
}

TEST_F(DocumentsTest, LibreTranslateAnswersWithAnAddress) {
  EXPECT_EQ(Json(Get("/frontend/settings"))["filesTranslation"], true);
  EXPECT_THAT(Get("/frontend/settings").body, HasSubstr("\".txt\""));
  const HttpReply reply =
      Post("/translate_file", Upload(kText, {{"source", "en"}, {"target", "de"}}));
  ASSERT_EQ(reply.code, 200) << reply.body;
  const std::string url = Json(reply)["translatedFileUrl"];
  const size_t path = url.find("/download_file/");
  ASSERT_NE(path, std::string::npos) << url;
  EXPECT_THAT(url, HasSubstr("http://"));
  EXPECT_THAT(url, HasSubstr("a.de.txt"));
  const HttpReply file = Get(url.substr(path));
  EXPECT_EQ(file.code, 200);
  EXPECT_THAT(file.body, HasSubstr(Wanted()));
  EXPECT_EQ(Get(url.substr(path)).code, 404);  // it was fetched
  EXPECT_EQ(Get("/download_file/00000000000000000000000000000000.txt").code, 404);
  EXPECT_THAT(std::string(Json(Post("/translate_file", Upload(kText, {})))["error"]),
              HasSubstr("missing source parameter"));
  const HttpReply unknown =
      Post("/translate_file", Upload(kText, {{"source", "en"}, {"target", "de"}}, "a.xyz"));
  EXPECT_EQ(unknown.code, 400);
  EXPECT_THAT(std::string(Json(unknown)["error"]), HasSubstr("a.xyz"));
}

TEST_F(DocumentsTest, DeepLGivesAnIdAndTellsHowFarItIs) {
  const HttpReply upload = Post("/v2/document", Upload(kText, {{"target_lang", "DE"}}));
  ASSERT_EQ(upload.code, 200) << upload.body;
  const nlohmann::json document = Json(upload);
  const std::string path = "/v2/document/" + document.value("document_id", "");
  const std::string key = "document_key=" + document.value("document_key", "");
  const std::string form = "Content-Type: application/x-www-form-urlencoded\r\n";
  const nlohmann::json status = AwaitDeepL(document);
  EXPECT_EQ(status["status"], "done") << status;
  EXPECT_EQ(status["billed_characters"], 15 + 35);
  EXPECT_EQ(Post(path + "/result", "document_key=wrong", form).code, 404);
  EXPECT_EQ(Post("/v2/document/1234", key, form).code, 404);
  const HttpReply file = Post(path + "/result", key, form);
  EXPECT_EQ(file.code, 200);
  EXPECT_THAT(file.headers, HasSubstr("a.de.txt"));
  EXPECT_THAT(file.body, HasSubstr(Wanted()));
  EXPECT_EQ(Post(path + "/result", key, form).code, 404);  // it was fetched
  EXPECT_EQ(Post(path, key, form).code, 404);
}

TEST_F(DocumentsTest, DeepLSaysWhatWentWrong) {
  EXPECT_THAT(std::string(Json(Post("/v2/document", "--XY--\r\n"))["message"]),
              HasSubstr("file: is missing"));
  EXPECT_EQ(Post("/v2/document", Upload(kText, {})).code, 400);
  for (const auto& [target, name, message] :
       {std::tuple("XX", "a.txt", "target_lang: \"xx\" is not supported"),
        {"DE", "a.xyz", "unknown file extension: header.file_name: \"a.xyz\""}}) {
    const HttpReply refusal = Post("/v2/document", Upload(kText, {{"target_lang", target}}, name));
    EXPECT_EQ(refusal.code, 400);
    EXPECT_THAT(std::string(Json(refusal)["message"]), HasSubstr(message));
  }
  const nlohmann::json status =
      AwaitDeepL(Json(Post("/v2/document", Upload(kText, {{"target_lang", "DE"}}, "a.docx"))));
  EXPECT_EQ(status["status"], "error");
  EXPECT_THAT(std::string(status["error_message"]), HasSubstr("not a zip"));
}

TEST_F(DocumentsTest, AzureAnswersWithTheFile) {
  const std::string path = "/translator/document:translate?api-version=2024-05-01";
  const std::string to_german = path + "&targetLanguage=de";
  const HttpReply reply = Post(to_german, Upload(kText, {}, "a.txt", "document"));
  ASSERT_EQ(reply.code, 200) << reply.body;
  EXPECT_THAT(reply.headers, HasSubstr("text/plain"));
  EXPECT_THAT(reply.body, HasSubstr(Wanted()));
  const std::string named = Upload(kText, {}, "a.txt", "document");
  for (const auto& [target, body, field, message] :
       {std::tuple<std::string, std::string, const char*, const char*>{
            path, named, "targetLanguage", "is missing"},
        {to_german, Upload(kText, {}), "document", "is missing"},
        {to_german, "--XY--\r\n", "document", "is missing"},
        {to_german, Upload(kText, {}, "a.xyz", "document"), "document", "a.xyz"},
        {to_german, Upload(kText, {{"glossary", "cat,Hund"}}, "a.txt", "document"), "glossary",
         "is not supported"},
        {to_german + "&category=mine", named, "category", "is not supported"},
        {path + "&sourceLanguage=en&targetLanguage=xx", named, "targetLanguage", "xx"},
        {to_german + "&sourceLanguage=xx", named, "sourceLanguage", "xx"},
        {"/translator/document:translate?targetLanguage=de", named, "api-version", "2024-05-01"}}) {
    const HttpReply refusal = Post(target, body);
    EXPECT_EQ(refusal.code, 400) << refusal.body;
    const nlohmann::json error = Json(refusal)["error"];
    EXPECT_EQ(error["code"], "InvalidRequest");
    EXPECT_EQ(error["target"], field) << error;
    EXPECT_THAT(std::string(error["message"]), HasSubstr(message));
  }
  EXPECT_EQ(Post(to_german, "{}", kJson).code, 415);
}

std::string GoogleBody(const std::string& file, const std::string& type,
                       const nlohmann::json& more = {{"targetLanguageCode", "de"}}) {
  nlohmann::json body = {
      {"documentInputConfig", {{"content", absl::Base64Escape(file)}, {"mimeType", type}}}};
  body.update(more, /*merge_objects=*/true);
  return body.dump();
}

TEST_F(DocumentsTest, GoogleAnswersInBase64) {
  for (const char* place : {"any", "any/locations/global"}) {
    const std::string path = absl::StrCat("/v3/projects/", place, ":translateDocument");
    const HttpReply reply = Post(path, GoogleBody(kText, "text/plain"), kJson);
    ASSERT_EQ(reply.code, 200) << reply.body;
    EXPECT_THAT(reply.headers, HasSubstr("application/json"));
    EXPECT_THAT(reply.body, HasSubstr("\"mimeType\":\"text/plain\",\"detectedLanguageCode\":\"en\","
                                      "\"byteStreamOutputs\":[\""));
    EXPECT_THAT(reply.body, HasSubstr(absl::Base64Escape(Wanted())));
  }
  const HttpReply given = Post(
      "/v3/projects/any:translateDocument",
      GoogleBody("", "text/plain",
                 {{"sourceLanguageCode", "en"}, {"targetLanguageCode", "de"}, {"model", "any"}}),
      kJson);
  EXPECT_EQ(
      given.body,
      R"({"documentTranslation":{"mimeType":"text/plain","byteStreamOutputs":[""]},"model":"any"})");
  EXPECT_THAT(given.headers, HasSubstr("X-Dragoman-Ignored: model"));
}

TEST_F(DocumentsTest, GoogleSaysWhatWentWrong) {
  const nlohmann::json german = {{"targetLanguageCode", "de"}};
  const auto with = [&](const nlohmann::json& more) {
    nlohmann::json all = german;
    all.update(more);
    return GoogleBody(kText, "text/plain", all);
  };
  for (const auto& [body, message] :
       {std::pair<std::string, const char*>{
            GoogleBody(kText, "text/plain", nlohmann::json::object()),
            "targetLanguageCode: is missing"},
        {"{", "the body"},
        {german.dump(), "documentInputConfig: is missing"},
        {GoogleBody(kText, ""), "documentInputConfig.mimeType"},
        {GoogleBody(kText, "application/pdf"), "application/pdf"},
        {with({{"documentInputConfig", {{"content", 1}}}}), "content"},
        {with({{"documentInputConfig", {{"content", "%"}}}}), "base64"},
        {with({{"documentInputConfig", {{"gcsSource", "x"}}}}),
         "documentInputConfig.gcsSource: is not supported"},
        {with({{"glossaryConfig", "x"}}), "glossaryConfig"},
        {with({{"documentOutputConfig", {{"gcsDestination", "x"}}}}),
         "documentOutputConfig.gcsDestination"},
        {with({{"sourceLanguageCode", "en"}, {"targetLanguageCode", "xx"}}), "targetLanguageCode"},
        {with({{"sourceLanguageCode", "xx"}}), "sourceLanguageCode"}}) {
    const HttpReply reply = Post("/v3/projects/any:translateDocument", body, kJson);
    EXPECT_EQ(reply.code, 400) << reply.body;
    EXPECT_EQ(Json(reply)["error"]["status"], "INVALID_ARGUMENT");
    EXPECT_THAT(std::string(Json(reply)["error"]["message"]), HasSubstr(message));
  }
  EXPECT_EQ(Post("/v3/projects/any:translateDocument", "--XY--", kForm).code, 415);
}

TEST_F(DocumentsTest, AFileIsKeptForAnHour) {
  const nlohmann::json document =
      Json(Post("/v2/document", Upload(kText, {{"target_lang", "DE"}})));
  const std::string path = "/v2/document/" + document.value("document_id", "");
  const std::string key = nlohmann::json({{"document_key", document["document_key"]}}).dump();
  AwaitDeepL(document);
  DocumentStore& store = server_.server().stored_documents();
  store.Look(absl::Now() + absl::Minutes(59));
  EXPECT_EQ(Post(path, key, kJson).code, 200);
  store.Look(absl::Now() + absl::Minutes(61));
  EXPECT_EQ(Post(path, key, kJson).code, 404);
}

TEST_F(DocumentsTest, HalfTheRoomIsForOneCaller) {
  const nlohmann::json first = Json(Post("/v2/document", Upload("\n", {{"target_lang", "DE"}})));
  AwaitDeepL(first);
  for (int i = 0; i < DocumentStoreLimits().documents / 2; ++i) {
    AwaitDeepL(Json(Post("/v2/document", Upload("\n", {{"target_lang", "DE"}}))));
  }
  const std::string key = nlohmann::json({{"document_key", first["document_key"]}}).dump();
  EXPECT_EQ(Post("/v2/document/" + first.value("document_id", ""), key, kJson).code, 404);
}

TEST_F(DocumentsTest, AFormOfVeryManyPartsIsRefused) {
  std::string body;
  for (int i = 0; i < 20'000; ++i) {
    body += "--XY\r\nContent-Disposition: form-data; name=\"\"\r\n\r\n\r\n";
  }
  for (const char* path : {"/v1/translate_file", "/v2/document", "/translate_file"}) {
    const HttpReply reply = Post(path, body + "--XY--\r\n");
    EXPECT_EQ(reply.code, 400) << path;
    EXPECT_THAT(reply.body, HasSubstr("10000 parts")) << path;
  }
}

constexpr char kToken[] = "ann-secret-token-1";

class DocumentTokensTest : public DocumentsTest {
 protected:
  static ServerOptions Options() {
    ServerOptions options = TestOptions();
    options.documents.at_once = 3;
    options.auth.tokens = testing::TempDir() + "dragoman_documents_" + std::to_string(getpid());
    std::ofstream(options.auth.tokens) << "ann " << kToken << "\n";
    return options;
  }
  DocumentTokensTest() : DocumentsTest(Options()) {}

  // A client that has sent the head of a form, of which nothing has come yet but `begin`.
  std::unique_ptr<RawHttpClient> Open(const std::string& path, const std::string& headers,
                                      const std::string& begin = "") {
    auto client = std::make_unique<RawHttpClient>(server_.server().http_address());
    client->Send("POST " + path + " HTTP/1.1\r\nHost: x\r\n" + kForm + headers +
                 "Content-Length: 1000000\r\n\r\n" + begin);
    return client;
  }
  static std::string Field(const std::string& name, const std::string& value) {
    return "--XY\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value +
           "\r\n--XY";
  }
};

TEST_F(DocumentTokensTest, AWrongTokenIsRefusedBeforeTheRestIsRead) {
  const std::string azure =
      "/translator/document:translate?api-version=2024-05-01&targetLanguage=de";
  for (const auto& [path, headers, begin, code] :
       {std::tuple<std::string, const char*, std::string, int>{"/v1/translate_file", "", "", 401},
        {"/v1/translate_file", "Authorization: Bearer wrong\r\n", "", 401},
        {"/translate_file", "Authorization: Bearer wrong\r\n", "", 403},
        {"/translate_file", "", Field("api_key", "wrong"), 403},
        {"/v2/document", "Authorization: DeepL-Auth-Key wrong\r\n", "", 403},
        {"/v2/document", "", Field("auth_key", "wrong"), 403},
        {azure, "", "", 401},
        {azure + "&Subscription-Key=wrong", "", "", 401}}) {
    const HttpReply reply = Open(path, headers, begin)->Receive();
    EXPECT_EQ(reply.code, code) << path << " " << headers << begin << reply.body;
    EXPECT_THAT(reply.headers, HasSubstr("Connection: close"));
  }
}

// There are twelve places.
TEST_F(DocumentTokensTest, CallersWithoutATokenKeepNobodyElseOut) {
  const std::string file =
      "--XY\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nThe cat is";
  std::vector<std::unique_ptr<RawHttpClient>> silent;
  for (int i = 0; i < 8; ++i) {
    silent.push_back(Open("/translate_file", "", file));
    silent.push_back(Open("/translate_file", ""));
    silent.push_back(Open("/v2/document", "", Field("target_lang", "DE")));
    silent.push_back(Open("/v2/document", "", file));
    silent.push_back(Open("/v1/translate_file", ""));
  }
  EXPECT_EQ(silent.back()->Receive().code, 401);
  const std::string bearer = absl::StrCat("Authorization: Bearer ", kToken, "\r\n");
  const std::string deepl = absl::StrCat("Authorization: DeepL-Auth-Key ", kToken, "\r\n");
  const std::vector<std::pair<std::string, std::string>> libre = {
      {"api_key", kToken}, {"source", "en"}, {"target", "de"}};
  const std::string german = Upload(kText, {{"target_language", "de"}});
  EXPECT_EQ(Post("/v1/translate_file", german, kForm + bearer).code, 200);
  EXPECT_EQ(Post("/translate_file", Upload(kText, libre)).code, 200);
  EXPECT_EQ(Post("/v2/document", Upload(kText, {{"target_lang", "DE"}}), kForm + deepl).code, 200);
}

TEST_F(DocumentTokensTest, FieldsWithoutATokenAreBounded) {
  const HttpReply reply =
      Open("/v2/document", "", Field("text", std::string(100'000, 'x')))->Receive();
  EXPECT_EQ(reply.code, 403) << reply.body;
}

TEST_F(DocumentTokensTest, TheTokenMayBeAnyFieldOfTheForm) {
  std::string behind = Upload(kText, {{"source", "en"}, {"target", "de"}});
  behind.resize(behind.rfind("--XY--"));
  behind += Field("api_key", kToken) + "--\r\n";
  EXPECT_EQ(Post("/translate_file", behind).code, 200);
  for (const char* place : {"first", "last"}) {
    std::vector<std::pair<std::string, std::string>> fields = {{"source", "en"}, {"target", "de"}};
    fields.insert(std::string(place) == "first" ? fields.begin() : fields.end(),
                  {"api_key", kToken});
    EXPECT_EQ(Post("/translate_file", Upload(kText, fields)).code, 200) << place;
  }
}

class DocumentPatienceTest : public DocumentsTest {
 protected:
  static ServerOptions Options() {
    ServerOptions options = TestOptions();
    options.documents.at_once = 1;
    options.config.mutable_http_body_timeout()->set_seconds(1);
    return options;
  }
  DocumentPatienceTest() : DocumentsTest(Options()) {}
};

TEST_F(DocumentPatienceTest, WhoFallsSilentLosesThePlace) {
  std::vector<std::unique_ptr<RawHttpClient>> silent;
  for (int i = 0; i < 4; ++i) {
    silent.push_back(std::make_unique<RawHttpClient>(server_.server().http_address()));
    silent.back()->Send(absl::StrCat("POST /v1/translate_file HTTP/1.1\r\nHost: x\r\n", kForm,
                                     "Content-Length: 1000\r\n\r\n--XY\r\n"));
  }
  for (const auto& client : silent) EXPECT_EQ(client->Receive().code, 408);
  EXPECT_EQ(Post("/v1/translate_file", Upload(kText, {{"target_language", "de"}})).code, 200);
}

// It is done when there is a place.
TEST_F(DocumentPatienceTest, AFileThatIsFetchedLaterWaitsForAPlace) {
  absl::StatusOr<Share> place = server_.server().documents().Enter("somebody");
  ASSERT_TRUE(place.ok());
  const nlohmann::json document =
      Json(Post("/v2/document", Upload(kText, {{"target_lang", "DE"}})));
  const std::string path = "/v2/document/" + document.value("document_id", "");
  const std::string key = nlohmann::json({{"document_key", document["document_key"]}}).dump();
  absl::SleepFor(absl::Milliseconds(500));
  EXPECT_EQ(Json(Post(path, key, kJson)).value("status", ""), "queued");
  *place = Share();
  EXPECT_EQ(AwaitDeepL(document)["status"], "done");
}

class DocumentBytesTest : public DocumentsTest {
 protected:
  static ServerOptions Options() {
    ServerOptions options = TestOptions();
    options.documents.max_bytes = 3 << 20;
    return options;
  }
  DocumentBytesTest() : DocumentsTest(Options()) {}
};

TEST_F(DocumentBytesTest, AFileMayBeLongerThanAnyOtherBody) {
  const std::string lines(3 << 20, '\n');
  EXPECT_EQ(Post("/v1/translate_file", Upload(lines, {{"target_language", "de"}})).code, 200);
  EXPECT_EQ(Post("/v1/translate_file", Upload(lines + "\n", {{"target_language", "de"}})).code,
            413);
  EXPECT_EQ(Post("/v1/translate_file", Upload(lines + lines, {{"target_language", "de"}})).code,
            413);
  EXPECT_EQ(Post("/v1/translate", std::string(2 << 20, ' '), kJson).code, 413);
  const std::string google = "/v3/projects/any:translateDocument";
  EXPECT_EQ(Post(google, GoogleBody(lines, "text/plain"), kJson).code, 200);
  EXPECT_EQ(Post(google, GoogleBody(lines + "\n", "text/plain"), kJson).code, 413);
  EXPECT_EQ(Post(google, GoogleBody(lines + lines, "text/plain"), kJson).code, 413);
}

}  // namespace
}  // namespace dragoman::documents_test
