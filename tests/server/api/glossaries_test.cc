// Stored glossaries over gRPC and HTTP: storing them, using them, and who sees which.

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "dragoman/v1/translation.grpc.pb.h"
#include "engine/base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/api/kept_fixture.h"
#include "tests/server/http_client.h"

namespace dragoman::glossaries_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class GlossariesTest : public KeptTest<v1::GlossaryService, &v1::ServerConfig::mutable_glossary_files> {
 protected:
  // Stores a glossary for "house" and returns its id.
  std::string Store(const std::string& target, const std::string& token = "", bool shared = false) {
    v1::CreateGlossaryRequest request;
    *request.mutable_glossary() = Houses(target);
    request.mutable_glossary()->set_shared(shared);
    v1::Glossary glossary;
    const grpc::Status status = Call(&Stub::CreateGlossary, request, &glossary, token);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return glossary.id();
  }
  static v1::Glossary Houses(const std::string& target) {
    v1::Glossary glossary;
    glossary.set_name("Houses");
    v1::GlossaryDictionary* const dictionary = glossary.add_dictionaries();
    v1::GlossaryEntry* const entry = dictionary->add_entries();
    entry->set_source("house");
    entry->set_target(target);
    return glossary;
  }

  static v1::TranslateRequest Request(const std::vector<std::string>& ids) {
    v1::TranslateRequest request = RequestFor({"The old house is small."});
    request.mutable_options()->set_glossary_max_loss(100);
    for (const std::string& id : ids) request.add_glossary_ids(id);
    return request;
  }
};

TEST_F(GlossariesTest, ARequestUsesAGlossaryByItsIdAndAtOnceItsNextVersion) {
  Start();
  const std::string id = Store("Heim");
  EXPECT_THAT(TextOf(Request({})), HasSubstr("Haus"));
  EXPECT_THAT(TextOf(Request({id})), HasSubstr("Heim"));
  v1::ReplaceGlossaryRequest replace;
  replace.set_id(id);
  *replace.mutable_glossary() = Houses("Apfel");
  v1::Glossary glossary;
  ASSERT_TRUE(Call(&Stub::ReplaceGlossary, replace, &glossary).ok());
  EXPECT_EQ(glossary.version(), 2);
  // The cache, which has a translation with the old one, does not give it.
  EXPECT_THAT(TextOf(Request({id})), HasSubstr("Apfel"));
  v1::DeleteGlossaryRequest gone;
  gone.set_id(id);
  v1::DeleteGlossaryResponse deleted;
  ASSERT_TRUE(Call(&Stub::DeleteGlossary, gone, &deleted).ok());
  v1::TranslateResponse response;
  const grpc::Status status = Translate(Request({id}), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DetailOf<google::rpc::ResourceInfo>(status).resource_type(), "dragoman.v1.Glossary");
  EXPECT_EQ(DetailOf<google::rpc::ResourceInfo>(status).resource_name(), id);
}

TEST_F(GlossariesTest, OfSeveralTheFirstCounts) {
  Start();
  const std::string first = Store("Heim"), second = Store("Apfel");
  EXPECT_THAT(TextOf(Request({first, second})), HasSubstr("Heim"));
  EXPECT_THAT(TextOf(Request({second, first})), HasSubstr("Apfel"));
  v1::TranslateRequest own = Request({first});
  v1::GlossaryEntry* const entry = own.mutable_options()->add_glossary();
  entry->set_source("house");
  entry->add_targets("Hund");
  EXPECT_THAT(TextOf(own), HasSubstr("Hund"));
}

TEST_F(GlossariesTest, WhatIsLeftOutIsTold) {
  Start();
  v1::TranslateRequest request = Request({Store("Lehrer Lehrer Lehrer")});
  request.mutable_options()->set_glossary_max_loss(0.01f);
  v1::TranslateResponse response;
  ASSERT_TRUE(Translate(request, &response).ok());
  EXPECT_THAT(response.translations(0).hypotheses(0).text(), Not(HasSubstr("Lehrer Lehrer")));
  ASSERT_EQ(response.translations(0).glossary_unmet_size(), 1);
  const v1::UnmetTerm& unmet = response.translations(0).glossary_unmet(0);
  EXPECT_EQ(unmet.glossary_id(), request.glossary_ids(0));
  EXPECT_EQ(unmet.source(), "house");
  EXPECT_EQ(unmet.source_begin(), 8);
  EXPECT_EQ(unmet.source_end(), 13);
  server_->AwaitSample("dragoman_glossary_terms_total{outcome=\"unmet\"}", 1);
  server_->AwaitSample("dragoman_glossary_terms_total{outcome=\"said\"}", 0);
  EXPECT_THAT(TextOf(Request({Store("Heim")})), HasSubstr("Heim"));
  server_->AwaitSample("dragoman_glossary_terms_total{outcome=\"said\"}", 1);
}

TEST_F(GlossariesTest, TwoPrincipalsNeverSeeEachOthersEntries) {
  StartWithTokens();
  const std::string own = Store("Heim", kAlice), shared = Store("Apfel", kAlice, /*shared=*/true);
  EXPECT_THAT(TextOf(Request({own}), kAlice), HasSubstr("Heim"));
  EXPECT_THAT(TextOf(Request({shared}), kBob), HasSubstr("Apfel"));
  v1::TranslateResponse response;
  EXPECT_EQ(Translate(Request({own}), &response, kBob).error_code(), grpc::StatusCode::NOT_FOUND);
  v1::GetGlossaryRequest get;
  get.set_id(own);
  v1::ReplaceGlossaryRequest replace;
  replace.set_id(own);
  v1::DeleteGlossaryRequest gone;
  gone.set_id(own);
  v1::DeleteGlossaryResponse deleted;
  v1::Glossary glossary;
  for (const grpc::Status& status : {Call(&Stub::GetGlossary, get, &glossary, kBob),
                                     Call(&Stub::GetGlossaryEntries, get, &glossary, kBob),
                                     Call(&Stub::ReplaceGlossary, replace, &glossary, kBob),
                                     Call(&Stub::DeleteGlossary, gone, &deleted, kBob)}) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND) << status.error_message();
  }
  EXPECT_EQ(Call(&Stub::GetGlossary, get, &glossary).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  gone.set_id(shared);
  EXPECT_EQ(Call(&Stub::DeleteGlossary, gone, &deleted, kBob).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  v1::ListGlossariesResponse list;
  ASSERT_TRUE(Call(&Stub::ListGlossaries, v1::ListGlossariesRequest(), &list, kBob).ok());
  ASSERT_EQ(list.glossaries_size(), 1);
  EXPECT_EQ(list.glossaries(0).id(), shared);
  EXPECT_TRUE(list.glossaries(0).read_only());
  ASSERT_TRUE(Call(&Stub::ListGlossaries, v1::ListGlossariesRequest(), &list, kAlice).ok());
  EXPECT_EQ(list.glossaries_size(), 2);
  EXPECT_FALSE(list.glossaries(0).read_only());
}

// Whatever Bob asks of an id of Alice's, the answer is that of an id that nobody has.
TEST_F(GlossariesTest, NorOverHttpNorOverTheApiOfDeepL) {
  StartWithTokens();
  const std::string own = Store("Hof", kAlice);
  const std::string gone(own.size(), 'x');
  // The code and the body of an answer, without the id.
  const auto ask = [&](const std::string& token, const std::string& request,
                       const std::string& body, const std::string& id) {
    RawHttpClient client(server_->server().http_address());
    const std::string sent = absl::StrReplaceAll(body, {{"ID", id}});
    client.Send(absl::StrReplaceAll(request, {{"ID", id}}) +
                " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + token +
                "\r\nContent-Type: application/json\r\nContent-Length: " +
                std::to_string(sent.size()) + "\r\n\r\n" + sent);
    const HttpReply reply = client.Receive();
    return std::pair(reply.code, absl::StrReplaceAll(reply.body, {{id, ""}}));
  };
  constexpr char kEntries[] =
      R"({"source_lang": "en", "target_lang": "de", "entries": "a\tb", "entries_format": "tsv"})";
  constexpr char kPair[] = "?source_lang=en&target_lang=de";
  const std::pair<std::string, std::string> calls[] = {
      {"GET /v1/glossaries/ID", ""},
      {"GET /v1/glossaries/ID/entries", ""},
      {"PUT /v1/glossaries/ID", "{}"},
      {"DELETE /v1/glossaries/ID", ""},
      {"POST /v1/translate", R"({"contents": ["A house."], "glossaryIds": ["ID"]})"},
      {"GET /v2/glossaries/ID", ""},
      {"GET /v2/glossaries/ID/entries", ""},
      {"DELETE /v2/glossaries/ID", ""},
      {"POST /v2/translate",
       R"({"text": ["A house."], "source_lang": "EN", "target_lang": "DE", "glossary_id": "ID"})"},
      {"GET /v3/glossaries/ID", ""},
      {"GET /v3/glossaries/ID/entries", ""},
      {"PATCH /v3/glossaries/ID", R"({"name": "Mine"})"},
      {"PUT /v3/glossaries/ID/dictionaries", kEntries},
      {"DELETE /v3/glossaries/ID/dictionaries" + std::string(kPair), ""},
      {"DELETE /v3/glossaries/ID", ""},
  };
  for (const auto& [request, body] : calls) {
    const auto answer = ask(kBob, request, body, own);
    EXPECT_EQ(answer, ask(kBob, request, body, gone)) << request;
    EXPECT_EQ(answer.first, 404) << request << answer.second;
  }
  for (const char* request : {"GET /v1/glossaries", "GET /v2/glossaries", "GET /v3/glossaries"}) {
    EXPECT_THAT(ask(kAlice, request, "", gone).second, HasSubstr(own)) << request;
    EXPECT_THAT(ask(kBob, request, "", gone).second, Not(HasSubstr(own))) << request;
  }
  EXPECT_THAT(TextOf(Request({own}), kAlice), HasSubstr("Hof"));
}

TEST_F(GlossariesTest, ThereAreDefaultsForAModelAndForAPrincipal) {
  PutFile("houses.tsv", "# case: ignore\nHOUSE\tHeim\n");
  PutFile("cats.tsv", "# languages: en fr\nhouse\tApfel\n");
  PutFile("bobs.tsv", "# owner: bob\nsmall\tHund\n");
  UseByDefault("en-de", {"cats", "houses", "gone"}, options_.config.mutable_default_glossaries());
  UseByDefault("other", {"bobs"}, options_.config.mutable_default_glossaries());
  UseByDefault("", {"bobs"}, options_.config.mutable_default_glossaries());
  StartWithTokens();
  v1::TranslateRequest request = Request({});
  request.set_source_language("en");
  request.set_target_language("de");
  EXPECT_THAT(TextOf(request, kAlice), HasSubstr("Heim"));
  EXPECT_THAT(TextOf(request, kAlice), Not(HasSubstr("Hund")));
  EXPECT_THAT(TextOf(request, kBob), HasSubstr("Hund"));
}

TEST_F(GlossariesTest, ErrorsNameTheField) {
  Start();
  v1::CreateGlossaryRequest request;
  *request.mutable_glossary() = Houses("a\tb");
  v1::Glossary glossary;
  grpc::Status status = Call(&Stub::CreateGlossary, request, &glossary);
  EXPECT_EQ(DetailOf<google::rpc::BadRequest>(status).field_violations(0).field(),
            "glossary.dictionaries[0].entries[0].targets");
  v1::TranslateResponse response;
  status = Translate(Request(std::vector<std::string>(17, "x")), &response);
  EXPECT_EQ(DetailOf<google::rpc::BadRequest>(status).field_violations(0).field(), "glossary_ids");
}

TEST_F(GlossariesTest, JsonHasTheSameMethods) {
  Start();
  const std::string http = server_->server().http_address();
  std::string headers;  // of the last answer
  const auto ask = [&](const std::string& method, const std::string& path,
                       const nlohmann::json& body, int code, const std::string& more = "") {
    RawHttpClient client(http);
    const std::string text = body.is_null() ? "" : body.dump();
    client.Send(method + " " + path + " HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" +
                more + "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text);
    const HttpReply reply = client.Receive();
    EXPECT_EQ(reply.code, code) << reply.body;
    headers = reply.headers;
    return nlohmann::json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
  };
  const nlohmann::json houses = {
      {"name", "Houses"},
      {"dictionaries",
       {{{"sourceLanguage", "en"},
         {"targetLanguage", "de"},
         {"entries", {{{"source", "house"}, {"target", "Heim"}, {"targets", {"Heims"}}}}}}}}};
  const nlohmann::json made = ask("POST", "/v1/glossaries", houses, 200);
  const std::string path = "/v1/glossaries/" + made["id"].get<std::string>();
  EXPECT_EQ(made["version"], "1");
  EXPECT_EQ(made["temporary"], true);
  EXPECT_EQ(made["dictionaries"][0]["entryCount"], 1);
  EXPECT_FALSE(made["dictionaries"][0].contains("entries"));
  EXPECT_EQ(ask("GET", path, {}, 200), made);
  EXPECT_EQ(ask("GET", path + "/entries", {}, 200)["dictionaries"][0]["entries"],
            houses["dictionaries"][0]["entries"]);
  EXPECT_THAT(ask("GET", "/v1/glossaries", {}, 200)["glossaries"], SizeIs(1));
  nlohmann::json next = houses;
  next["version"] = "1";
  EXPECT_EQ(ask("PUT", path, next, 200)["version"], "2");
  EXPECT_THAT(headers, HasSubstr("ETag: \"2\""));
  ask("PUT", path, next, 400);  // there is a newer one
  ask("PUT", path, houses, 412, "If-Match: \"1\"\r\n");
  EXPECT_EQ(ask("PUT", path, houses, 200, "If-Match: \"2\"\r\n")["version"], "3");
  ask("PUT", path, houses, 400, "If-Match: W/\"3\"\r\n");
  // The entries have no methods of the glossary, whatever their slash is written as.
  for (const char* entries : {"/entries", "%2Fentries", "%2fentries"}) {
    ask("DELETE", path + entries, {}, 405);
    ask("PUT", path + entries, next, 405);
    EXPECT_EQ(ask("GET", path + entries, {}, 200)["id"], made["id"]);
  }
  EXPECT_EQ(ask("DELETE", path, {}, 200), nlohmann::json::object());
  ask("GET", path, {}, 404);
  ask("GET", path + "/entries", {}, 404);
}

}  // namespace
}  // namespace dragoman::glossaries_test
