// The matrix of permissions: what every kind of right lets through of every method, over gRPC and
// over HTTP.
//
// Every call asks for the model en-de and, where its method has them, for a beam of four and for
// interactive priority, so that each principal lacks at most the one right that it is named after.

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <grpcpp/impl/client_unary_call.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/base/json.h"
#include "server/api/methods.h"
#include "server/base/methods.h"
#include "server/compat/rpc.h"
#include "tests/server/http_client.h"
#include "tests/server/test_server.h"

namespace dragoman::permissions_test {
namespace {

using absl::StatusCode;
using ::testing::HasSubstr;
using ::testing::Not;

using google::protobuf::Message;
using google::protobuf::MessageLite;

bool IsOfGlossaries(const std::string& method) { return absl::StrContains(method, "Gloss"); }
bool IsOfMemories(const std::string& method) {
  return absl::StrContains(method, "Memor") || method == "LearnSegments";
}

std::string TokenOf(const std::string& principal) { return principal + "-token-0123456789"; }

// The first principal may do everything, the last ones a single method each.
std::string Tokens() {
  std::string file;
  const auto add = [&](const std::string& principal, const std::string& rights) {
    absl::StrAppend(&file, principal, " ", TokenOf(principal), " ", rights, "\n");
  };
  add("free", "");
  add("none", "methods=none");
  add("elsewhere", "models=second");
  add("narrow", "beam=3");
  add("patient", "priority=batch");
  add("spent", "texts=1");
  add("careful", "texts=1");
  add("greedy", "beam=1");
  for (const std::string& method : ApiMethods()) add(method, "methods=" + method);
  return file;
}

// What came back: a code, and the message of an error or a part of the answer.
struct Outcome {
  StatusCode code = StatusCode::kOk;
  std::string text;
};

constexpr char kText[] = "The cat is old.";

// What calls ask for.
std::string asked_model = "en-de", asked_source;

v1::TranslateRequest Asked() {
  v1::TranslateRequest request;
  request.set_model(asked_model);
  request.set_source_language(asked_source);
  request.set_priority(v1::PRIORITY_INTERACTIVE);
  request.mutable_options()->set_beam_size(4);
  return request;
}

v1::TranslateRequest ToTranslate() {
  v1::TranslateRequest request = Asked();
  request.add_contents(kText);
  return request;
}

// The descriptor of a method.
const google::protobuf::MethodDescriptor& RpcOf(const std::string& method) {
  const auto& pool = *google::protobuf::DescriptorPool::generated_pool();
  return *pool.FindMethodByName(ServiceOf(method) + "." + method);
}

std::unique_ptr<Message> New(const google::protobuf::Descriptor* type) {
  auto* const factory = google::protobuf::MessageFactory::generated_factory();
  return std::unique_ptr<Message>(factory->GetPrototype(type)->New());
}

// With those of the values that the message has fields for.
std::unique_ptr<Message> Filled(const google::protobuf::Descriptor* type,
                                const nlohmann::json& values) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  std::unique_ptr<Message> message = New(type);
  EXPECT_TRUE(
      google::protobuf::util::JsonStringToMessage(WriteJson(values), message.get(), options).ok());
  return message;
}

nlohmann::json PairOf(const char* source, const char* target) {
  return {{"source", source}, {"target", target}};
}

// A request of any method, as far as its fields have the usual names.  What it names is
// everybody's, so that who may call a method that changes it learns that.
std::unique_ptr<Message> RequestOf(const std::string& method) {
  nlohmann::json all = {{"model", asked_model},
                        {"name", asked_model},
                        {"sourceLanguage", asked_source},
                        {"priority", "PRIORITY_INTERACTIVE"},
                        {"options", {{"beamSize", 4}}},
                        {"contents", nlohmann::json::array({kText})},
                        {"pairs", nlohmann::json::array({PairOf(kText, "Die Katze ist alt.")})},
                        {"id", "everybodys"}};
  if (method == "LearnSegments") {
    all["segments"] = nlohmann::json::array({PairOf("A dog.", "Ein Hund.")});
  }
  return Filled(RpcOf(method).input_type(), all);
}

template <typename Request>
Request As(const std::string& method) {
  return static_cast<const Request&>(*RequestOf(method));
}

// A file waits for the texts that its principal may send, so its calls have a deadline.
constexpr int kDeadlineMs = 500;

class PermissionsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    InitLogging({}, &log_);
    const std::string path =
        testing::TempDir() + "dragoman_permissions_" + std::to_string(getpid());
    std::ofstream(path) << Tokens();
    ServerOptions options = TestOptions();
    options.config.set_glossary_files(Glossaries());
    std::filesystem::create_directory(options.config.glossary_files());
    std::ofstream(options.config.glossary_files() + "/everybodys.tsv") << "house\tHaus\n";
    options.config.set_memory_files(Glossaries() + "/memories");
    std::filesystem::create_directory(options.config.memory_files());
    std::ofstream(options.config.memory_files() + "/everybodys.tsv") << "A house.\tEin Haus.\n";
    options.models.push_back({"second", kModelDirectory});
    options.models.push_back({"third", "tests/golden/models/m2m100-trained"});
    options.auth.tokens = path;
    server_ = new TestServer(options);
    std::filesystem::remove(path);
  }
  static void TearDownTestSuite() {
    const std::string glossaries = Glossaries();
    delete std::exchange(server_, nullptr);
    std::filesystem::remove_all(glossaries);
    InitLogging(LogOptions());
  }

  static std::string Glossaries() {
    return testing::TempDir() + "dragoman_permissions_glossaries_" + std::to_string(getpid());
  }

  // The call of a method by a principal over gRPC.
  static Outcome OverGrpc(const std::string& method, const std::string& principal);
  // That of any method of one message for one.
  static Outcome Unary(const std::string& path, const Message& request,
                       const google::protobuf::Descriptor* answer_type,
                       const std::string& principal);
  // And over HTTP; nothing for the one method that HTTP does not have.
  static std::optional<Outcome> OverHttp(const std::string& method, const std::string& principal);

  static HttpReply Post(const std::string& path, const std::string& body,
                        const std::string& principal, const std::string& headers = "") {
    return HttpPost(server_->server().http_address(), path, body,
                    "Authorization: Bearer " + TokenOf(principal) + "\r\n" +
                        (headers.empty() ? "Content-Type: application/json\r\n" : headers));
  }
  static HttpReply Get(const std::string& path, const std::string& principal) {
    return Send("GET", path, principal);
  }
  static HttpReply Send(const std::string& method, const std::string& path,
                        const std::string& principal, const std::string& body = "") {
    RawHttpClient client(server_->server().http_address());
    client.Send(method + " " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
                TokenOf(principal) +
                "\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
    return client.Receive();
  }
  static void Show(grpc::ClientContext* context, const std::string& principal) {
    context->AddMetadata("authorization", "Bearer " + TokenOf(principal));
  }
  static Outcome ToOutcome(const grpc::Status& status, const std::string& text = "") {
    return {static_cast<StatusCode>(status.error_code()),
            status.ok() ? text : status.error_message()};
  }
  static v1::TranslateResponse Translate(const v1::TranslateRequest& request,
                                         const std::string& principal) {
    grpc::ClientContext context;
    Show(&context, principal);
    v1::TranslateResponse response;
    const grpc::Status status = server_->translation().Translate(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  static TestServer* server_;
  static std::ostringstream log_;
};

TestServer* PermissionsTest::server_ = nullptr;
std::ostringstream PermissionsTest::log_;

// The status of an item is that of the call.
Outcome Bulk(v1::TranslationService::Stub* stub, grpc::ClientContext* context) {
  const auto call = stub->TranslateBulk(context);
  v1::TranslateBulkRequest request;
  *request.mutable_request() = ToTranslate();
  call->Write(request);
  call->WritesDone();
  v1::TranslateBulkResponse answer;
  const bool answered = call->Read(&answer);
  const grpc::Status status = call->Finish();
  if (!answered || !status.ok()) {
    return {static_cast<StatusCode>(status.error_code()), status.error_message()};
  }
  return {static_cast<StatusCode>(answer.error().code()), answer.error().message()};
}

// Sends a small file, and reads to the end of the call.
grpc::Status TranslateFile(v1::TranslationService::Stub* stub, grpc::ClientContext* context) {
  const auto call = stub->TranslateDocument(context);
  v1::TranslateDocumentRequest header, chunk;
  header.mutable_header()->set_file_name("a.txt");
  *header.mutable_header()->mutable_request() = Asked();
  chunk.set_chunk(kText);
  call->Write(header);
  call->Write(chunk);
  call->WritesDone();
  v1::TranslateDocumentResponse answer;
  while (call->Read(&answer)) {
  }
  return call->Finish();
}

Outcome Document(v1::TranslationService::Stub* stub, grpc::ClientContext* context) {
  context->set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(kDeadlineMs));
  const grpc::Status status = TranslateFile(stub, context);
  return {static_cast<StatusCode>(status.error_code()), status.error_message()};
}

Outcome PermissionsTest::OverGrpc(const std::string& method, const std::string& principal) {
  grpc::ClientContext context;
  Show(&context, principal);
  v1::TranslationService::Stub& stub = server_->translation();
  if (method == "TranslateBulk") return Bulk(&stub, &context);
  if (method == "TranslateDocument") return Document(&stub, &context);
  if (method == "TranslateStream") {
    const auto call = stub.TranslateStream(&context, ToTranslate());
    v1::TranslateStreamResponse message;
    while (call->Read(&message)) {
    }
    return ToOutcome(call->Finish());
  }
  return Unary("/" + FullNameOf(method), *RequestOf(method), RpcOf(method).output_type(),
               principal);
}

Outcome PermissionsTest::Unary(const std::string& path, const Message& request,
                               const google::protobuf::Descriptor* answer_type,
                               const std::string& principal) {
  grpc::ClientContext context;
  Show(&context, principal);
  const std::unique_ptr<Message> answer = New(answer_type);
  const grpc::internal::RpcMethod rpc(path.c_str(), grpc::internal::RpcMethod::NORMAL_RPC);
  const grpc::Status status =
      grpc::internal::BlockingUnaryCall<MessageLite, MessageLite, MessageLite, MessageLite>(
          server_->channel().get(), rpc, &context, request, answer.get());
  return ToOutcome(status, answer->ShortDebugString());
}

std::string JsonOf(const Message& message) {
  std::string json;
  EXPECT_TRUE(google::protobuf::util::MessageToJsonString(message, &json).ok());
  return json;
}

Outcome OutcomeOf(const HttpReply& reply) {
  for (const auto& [http, code] : {std::pair(200, StatusCode::kOk),
                                   {400, StatusCode::kFailedPrecondition},
                                   {403, StatusCode::kPermissionDenied},
                                   {429, StatusCode::kResourceExhausted},
                                   {504, StatusCode::kDeadlineExceeded}}) {
    if (reply.code == http) return {code, reply.body};
  }
  return {StatusCode::kUnknown, absl::StrCat(reply.code, ": ", reply.body)};
}

std::optional<Outcome> PermissionsTest::OverHttp(const std::string& method,
                                                 const std::string& principal) {
  const Method& row = MethodOf(method);
  if (row.path == nullptr) return std::nullopt;
  if (method != "TranslateDocument") {
    const std::unique_ptr<Message> request = RequestOf(method);
    const std::string path =
        absl::StrReplaceAll(row.path, {{"{id}", "everybodys"}, {"{name=**}", asked_model}});
    const std::string body = row.body == nullptr ? JsonOf(*request) : "{}";
    return OutcomeOf(Send(row.verb, path, principal, row.has_body() ? body : ""));
  }
  const std::string form =
      "--XY\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n" + JsonOf(Asked()) +
      "\r\n--XY\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n" +
      kText + "\r\n--XY--\r\n";
  return OutcomeOf(
      Post("/v1/translate_file", form, principal,
           absl::StrCat("Content-Type: multipart/form-data; boundary=XY\r\nX-Request-Timeout: ",
                        kDeadlineMs, "ms\r\n")));
}

bool IsOfModels(const std::string& method) {
  return method != "DetectLanguage" && method != "ListModels" && !IsOfGlossaries(method) &&
         !IsOfMemories(method);
}

// What a principal gets from a method: OK, or a code and what the message must say.
Outcome Wanted(const std::string& principal, const std::string& method) {
  const auto is_one_of = [&](std::initializer_list<const char*> methods) {
    return std::count(methods.begin(), methods.end(), method) > 0;
  };
  const bool translates = absl::StartsWith(method, "Translate");
  const auto lacks = [&](const std::string& right) {
    return Outcome{StatusCode::kPermissionDenied, "\"" + principal + "\" lacks the right " + right};
  };
  if (principal == "none") return lacks("methods=" + method);
  if (principal == "elsewhere" && IsOfModels(method)) return lacks("models=en-de");
  if (principal == "narrow" && translates) return lacks("beam=4");
  if (principal == "patient" && (translates || method == "Score")) {
    return lacks("priority=interactive");
  }
  if (principal == "spent" && method == "TranslateDocument") {
    return {StatusCode::kDeadlineExceeded, ""};
  }
  if (principal == "spent" && (translates || method == "Score")) {
    return {StatusCode::kResourceExhausted, "\"spent\" has used up its right texts=1 a minute"};
  }
  if (principal == "free" || principal == method ||
      !std::count(ApiMethods().begin(), ApiMethods().end(), principal)) {
    if (is_one_of({"LearnSegments", "DeleteMemory"})) {
      return {StatusCode::kFailedPrecondition, "the translation memory is not yours"};
    }
    if (!is_one_of({"ReplaceGlossary", "DeleteGlossary"})) return {};
    return {StatusCode::kFailedPrecondition, "the glossary is not yours"};
  }
  return lacks("methods=" + method);
}

TEST_F(PermissionsTest, EachRightIsJudgedForEachMethodOverGrpcAndHttpAlike) {
  v1::TranslateRequest many = RequestFor(std::vector<std::string>(10, kText));
  Translate(many, "spent");  // it owes the texts of nine minutes
  std::vector<std::string> principals = {"free", "none", "elsewhere", "narrow", "patient", "spent"};
  principals.insert(principals.end(), ApiMethods().begin(), ApiMethods().end());
  size_t cells = 0;
  for (const std::string& principal : principals) {
    for (const std::string& method : ApiMethods()) {
      const Outcome wanted = Wanted(principal, method);
      const std::string cell = principal + " calls " + method;
      const Outcome grpc = OverGrpc(method, principal);
      EXPECT_EQ(grpc.code, wanted.code) << cell << ": " << grpc.text;
      EXPECT_THAT(grpc.text, HasSubstr(wanted.text)) << cell;
      ++cells;
      const std::optional<Outcome> http = OverHttp(method, principal);
      if (!http.has_value()) continue;
      EXPECT_EQ(http->code, wanted.code) << cell << " over HTTP: " << http->text;
      const std::string quoted = absl::StrReplaceAll(wanted.text, {{"\"", "\\\""}});
      EXPECT_THAT(http->text, HasSubstr(quoted)) << cell << " over HTTP";
      ++cells;
    }
  }
  const size_t methods = ApiMethods().size();  // of which HTTP lacks one
  EXPECT_EQ(cells, (6 + methods) * (2 * methods - 1));
}

// A request of another API, as far as its fields have these names.
nlohmann::json AskedElsewhere() {
  return {{"contents", nlohmann::json::array({kText})},
          {"content", kText},
          {"sourceLanguageCode", "en"},
          {"targetLanguageCode", "de"},
          {"documentInputConfig", {{"content", "QSBjYXQu"}, {"mimeType", "text/plain"}}},
          {"name", "en-de"},
          {"modelName", "en-de"},
          {"inputs",
           {{{"name", "text"},
             {"datatype", "BYTES"},
             {"shape", {1}},
             {"contents", {{"bytesContents", {"QSBjYXQu"}}}}}}}};
}

TEST_F(PermissionsTest, OtherApisOverGrpcNeedTheRightToTheMethodThatACallAmountsTo) {
  std::vector<std::string> principals = {"free", "none"};
  principals.insert(principals.end(), ApiMethods().begin(), ApiMethods().end());
  for (const Method& row : CompatMethods()) {
    const std::string rpc = row.rpc;
    const auto& descriptor = *google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
        absl::StrReplaceAll(rpc, {{"/", "."}}));
    for (const std::string& principal : principals) {
      const bool open = absl::StrContains(rpc, "/Server");  // anybody may ask
      const bool may = open || principal == "free" || principal == row.name;
      const std::unique_ptr<Message> request = Filled(descriptor.input_type(), AskedElsewhere());
      const Outcome outcome = Unary("/" + rpc, *request, descriptor.output_type(), principal);
      // There is no such glossary, which only those learn who may ask.
      const bool of_glossaries = absl::StrContains(rpc, "Glossar");
      const bool answered = outcome.code == StatusCode::kOk ||
                            (of_glossaries && (outcome.code == StatusCode::kInvalidArgument ||
                                               outcome.code == StatusCode::kNotFound));
      EXPECT_TRUE(may ? answered : outcome.code == StatusCode::kPermissionDenied)
          << principal << " calls " << rpc << ": " << outcome.text;
      const std::string lacks = may ? "" : absl::StrCat("lacks the right methods=", row.name);
      EXPECT_THAT(outcome.text, HasSubstr(lacks));
    }
  }
}

TEST_F(PermissionsTest, AHiddenModelIsAsOneThatDoesNotExist) {
  int pairs = 0;
  for (const std::string& method : ApiMethods()) {
    if (!IsOfModels(method)) continue;
    for (const char* source : {"", "en", "tlh", "auto"}) {
      asked_source = source;
      const auto outcomes_of = [&](const std::string& model) {
        asked_model = model;
        std::vector<std::string> texts;
        for (const auto& outcome :
             {std::optional(OverGrpc(method, "elsewhere")), OverHttp(method, "elsewhere")}) {
          if (!outcome.has_value()) continue;
          EXPECT_EQ(outcome->code, StatusCode::kPermissionDenied) << method << outcome->text;
          EXPECT_THAT(outcome->text, HasSubstr("models=" + model)) << method;
          std::string text = absl::StrReplaceAll(outcome->text, {{model, "NAME"}});
          // The fields of a map come in any order.
          if (text.starts_with("{")) text = nlohmann::json::parse(text).dump();
          texts.push_back(std::move(text));
        }
        return texts;
      };
      EXPECT_EQ(outcomes_of("en-de"), outcomes_of("gone")) << method << " from " << source;
      ++pairs;
    }
  }
  asked_model = "en-de";
  asked_source = "";
  EXPECT_EQ(pairs, 7 * 4);
  FlushLog(absl::Seconds(10));
  EXPECT_THAT(log_.str(), HasSubstr(" right=models "));  // what does not exist may be any text
  EXPECT_THAT(log_.str(), Not(HasSubstr("models=gone")));
}

TEST_F(PermissionsTest, ARequestThatNamesNoModelGetsOneThatItMayUse) {
  v1::TranslateRequest open = RequestFor({kText}), pair = open, hidden = open;
  pair.set_source_language("en");
  pair.set_target_language("de");
  for (const auto& request : {open, pair}) {
    EXPECT_EQ(Translate(request, "free").model(), "en-de");
    EXPECT_EQ(Translate(request, "elsewhere").model(), "second");
  }
  hidden.set_source_language("fr");  // only the third translates that
  hidden.set_target_language("de");
  EXPECT_EQ(Translate(hidden, "free").model(), "third");
  grpc::ClientContext context;
  Show(&context, "elsewhere");
  v1::TranslateResponse response;
  const grpc::Status status = server_->translation().Translate(&context, hidden, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("no model translates from \"fr\"; there are en-"));
  EXPECT_THAT(status.error_message(), Not(HasSubstr("third")));
  EXPECT_THAT(OverGrpc("ListModels", "elsewhere").text, HasSubstr("is_default: true"));
}

// What is asked for does not exist; the error lists what does, as far as the caller may use it.
TEST_F(PermissionsTest, ErrorsListOnlyModelsThatTheCallerMayUse) {
  v1::TranslateRequest unknown = ToTranslate(), pair = ToTranslate();
  unknown.set_model("gone");
  pair.clear_model();
  pair.set_source_language("en");
  pair.set_target_language("tlh");
  v1::ScoreRequest score = As<v1::ScoreRequest>("Score");
  score.set_model("gone");
  v1::TokenizeRequest tokenize = As<v1::TokenizeRequest>("Tokenize");
  tokenize.set_model("gone");
  const auto over_grpc = [&](const std::string& principal, const auto& call) {
    grpc::ClientContext context;
    Show(&context, principal);
    const grpc::Status status = call(&context);
    EXPECT_FALSE(status.ok());
    return status.error_message();
  };
  v1::TranslationService::Stub& stub = server_->translation();
  const auto errors_of = [&](const std::string& principal) {
    v1::TranslateResponse translated;
    v1::ScoreResponse scored;
    v1::TokenizeResponse tokens;
    v1::Model model;
    v1::GetModelRequest named;
    named.set_name("gone");
    const auto all = [&](grpc::ClientContext* context) {
      return server_->models().GetModel(context, named, &model);
    };
    const auto translate = [&](grpc::ClientContext* context) {
      return stub.Translate(context, unknown, &translated);
    };
    const auto translate_pair = [&](grpc::ClientContext* context) {
      return stub.Translate(context, pair, &translated);
    };
    const auto rate = [&](grpc::ClientContext* context) {
      return stub.Score(context, score, &scored);
    };
    const auto cut = [&](grpc::ClientContext* context) {
      return stub.Tokenize(context, tokenize, &tokens);
    };
    return std::vector<std::string>{over_grpc(principal, all),
                                    over_grpc(principal, translate),
                                    over_grpc(principal, rate),
                                    over_grpc(principal, cut),
                                    Get("/v1/models/gone", principal).body,
                                    Post("/v1/translate", JsonOf(unknown), principal).body,
                                    Post("/v1/score", JsonOf(score), principal).body,
                                    Post("/v1/tokenize", JsonOf(tokenize), principal).body,
                                    over_grpc(principal, translate_pair),
                                    Post("/v1/translate", JsonOf(pair), principal).body};
  };
  const std::vector<std::string> free = errors_of("free"), elsewhere = errors_of("elsewhere");
  for (size_t i = 0; i < free.size() - 2; ++i) {
    EXPECT_THAT(free[i], HasSubstr("there is en-de, second, third"));
    EXPECT_THAT(elsewhere[i], HasSubstr("lacks the right models=gone"));
    EXPECT_THAT(elsewhere[i], Not(HasSubstr("en-de")));
    EXPECT_THAT(elsewhere[i], Not(HasSubstr("third")));
  }
  for (size_t i = free.size() - 2; i < free.size(); ++i) {
    EXPECT_THAT(free[i], HasSubstr("there are en-de, en-fr, "));  // and those of the third
    EXPECT_THAT(elsewhere[i], HasSubstr("there are en-de, en-fr"));
    EXPECT_THAT(elsewhere[i], Not(HasSubstr("en-fr, ")));
  }
}

TEST_F(PermissionsTest, OtherApisRefuseWithTheirOwnErrors) {
  const struct {
    const char* path;
    const char* headers;
    const char* body;
    const char* says;
  } cases[] = {
      {"/v2/translate", "application/json", R"({"text": ["Hi."], "target_lang": "DE"})",
       R"({"message":"\"none\" lacks the right methods=Translate"})"},
      {"/language/translate/v2", "application/json", R"({"q": "Hi.", "target": "de"})",
       R"("status":"PERMISSION_DENIED")"},
      {"/translate?api-version=3.0&to=de", "application/json", R"([{"Text": "Hi."}])",
       R"("code":403000)"},
      {"/translate", "application/json", R"({"q": "Hi.", "source": "en", "target": "de"})",
       R"({"error":"\"none\" lacks the right methods=Translate"})"},
      {"/translate", "application/json", R"({"text": "Hi.", "target_lang": "DE"})",
       R"("message":"\"none\" lacks the right methods=Translate")"},
      {"/imme", "application/json",
       R"({"source_lang": "en", "target_lang": "de", "text_list": ["Hi."]})",
       R"(lacks the right methods=Translate)"},
      {"/translate", "application/json", R"({"src_lang": "en", "tgt_lang": "de", "text": "Hi."})",
       R"(lacks the right methods=Translate)"},
      {"/detect?api-version=3.0", "application/json", R"([{"Text": "Hi."}])",
       R"(lacks the right methods=DetectLanguage)"},
      {"/breaksentence?api-version=3.0", "application/json", R"([{"Text": "Hi."}])",
       R"(lacks the right methods=Tokenize)"},
  };
  for (const auto& test : cases) {
    const HttpReply reply =
        Post(test.path, test.body, "none", absl::StrCat("Content-Type: ", test.headers, "\r\n"));
    EXPECT_EQ(reply.code, 403) << test.path << reply.body;
    EXPECT_THAT(reply.body, HasSubstr(test.says)) << test.path;
  }
}

TEST_F(PermissionsTest, OtherApisRefuseFilesToo) {
  const std::string form =
      "--XY\r\nContent-Disposition: form-data; name=\"target_lang\"\r\n\r\nDE\r\n"
      "--XY\r\nContent-Disposition: form-data; name=\"source\"\r\n\r\nen\r\n"
      "--XY\r\nContent-Disposition: form-data; name=\"target\"\r\n\r\nde\r\n"
      "--XY\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nHi.\r\n"
      "--XY--\r\n";
  for (const char* path : {"/v2/document", "/translate_file"}) {
    const HttpReply reply =
        Post(path, form, "none", "Content-Type: multipart/form-data; boundary=XY\r\n");
    EXPECT_EQ(reply.code, 403) << path << reply.body;
    EXPECT_THAT(reply.body, HasSubstr("lacks the right methods=TranslateDocument")) << path;
  }
}

TEST_F(PermissionsTest, AFileIsRefusedWithTheRightAsATextIs) {
  grpc::ClientContext context;
  Show(&context, "narrow");
  const grpc::Status status = TranslateFile(&server_->translation(), &context);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(status).metadata().at("right"), "beam");
}

TEST_F(PermissionsTest, ARefusalNamesTheRightInItsDetailsAndInTheLog) {
  grpc::ClientContext context;
  Show(&context, "elsewhere");
  v1::TranslateResponse response;
  const grpc::Status status = server_->translation().Translate(&context, ToTranslate(), &response);
  const auto info = DetailOf<google::rpc::ErrorInfo>(status);
  EXPECT_EQ(info.reason(), "MISSING_RIGHT");
  EXPECT_EQ(info.metadata().at("right"), "models");
  EXPECT_EQ(info.metadata().at("value"), "en-de");
  FlushLog(absl::Seconds(10));
  EXPECT_THAT(log_.str(), HasSubstr("code=PERMISSION_DENIED reason=missing_right"));
  EXPECT_THAT(log_.str(), HasSubstr(" right=\"models=en-de\" "));
  EXPECT_THAT(log_.str(), HasSubstr(" principal=elsewhere "));
  EXPECT_THAT(log_.str(), Not(HasSubstr("The cat")));
  EXPECT_THAT(log_.str(), Not(HasSubstr("-token-0123456789")));
  EXPECT_GE(server_->Metrics().at("dragoman_rejected_total{reason=\"missing_right\"}"), 1);
}

TEST_F(PermissionsTest, AListHasOnlyModelsThatMayBeUsed) {
  EXPECT_THAT(OverGrpc("ListModels", "free").text, HasSubstr("\"en-de\""));
  const Outcome listed = OverGrpc("ListModels", "elsewhere");
  EXPECT_THAT(listed.text, HasSubstr("\"second\""));
  EXPECT_THAT(listed.text, Not(HasSubstr("\"en-de\"")));
}

TEST_F(PermissionsTest, WhatARequestLeavesOpenStaysWithinTheRights) {
  const v1::TranslateRequest open = RequestFor({"The old teacher sees a small house."});
  // Of all steps since the last time, the rows besides the first ones.
  auto more_rows = [last = 0.0]() mutable {
    const Samples samples = server_->Metrics();
    const double more = samples.at("dragoman_batch_rows_sum{phase=\"decode\"}") -
                        samples.at("dragoman_batch_rows_count{phase=\"decode\"}");
    return more - std::exchange(last, more);
  };
  more_rows();
  Translate(open, "greedy");
  EXPECT_EQ(more_rows(), 0);
  Translate(open, "free");
  EXPECT_GT(more_rows(), 0);  // the model's own beam is larger
  // A glossary makes no more of it, nor do several alternatives.
  v1::TranslateRequest of_terms = open;
  auto* const entry = of_terms.mutable_options()->add_glossary();
  entry->set_source("house");
  entry->add_targets("Krankenhaus");
  more_rows();
  Translate(of_terms, "greedy");
  EXPECT_EQ(more_rows(), 0);
  v1::TranslateRequest of_two = open;
  of_two.mutable_options()->set_return_alternatives(true);
  of_two.mutable_options()->set_num_hypotheses(2);
  Translate(of_two, "narrow");  // beams of one
  of_two.mutable_options()->set_beam_size(2);
  grpc::ClientContext context;
  Show(&context, "narrow");
  v1::TranslateResponse response;
  const grpc::Status status = server_->translation().Translate(&context, of_two, &response);
  EXPECT_EQ(status.error_message(), "\"narrow\" lacks the right beam=4");

  const auto interactive = [] {
    double seconds = 0;
    for (const auto& [name, value] : server_->Metrics()) {
      if (absl::StartsWith(name, "dragoman_engine_interactive_seconds_total")) seconds += value;
    }
    return seconds;
  };
  // A worker counts its turn when the answer is on its way already.
  const auto settled = [&] {
    double last = -1, now = interactive();
    while (now != last) {
      absl::SleepFor(absl::Milliseconds(50));
      last = std::exchange(now, interactive());
    }
    return now;
  };
  const double before = settled();
  Translate(open, "patient");
  EXPECT_EQ(settled(), before);
  Translate(open, "free");
  EXPECT_GT(settled(), before);
}

TEST_F(PermissionsTest, TextsThatAreRefusedDoNotCount) {
  for (int i = 0; i < 3; ++i) {
    grpc::ClientContext context;
    Show(&context, "careful");
    v1::TranslateResponse response;
    const grpc::Status status = server_->translation().Translate(
        &context, RequestFor(std::vector<std::string>(129, kText)), &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  }
  Translate(RequestFor({kText}), "careful");
}

}  // namespace
}  // namespace dragoman::permissions_test
