// TranslateDocument over a real connection, with a real model, and with clients that behave and
// clients that do not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/server/test_server.h"

namespace dragoman::document_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

v1::TranslateDocumentRequest HeaderFor(const std::string& name, const std::string& target = "de") {
  v1::TranslateDocumentRequest message;
  message.mutable_header()->set_file_name(name);
  message.mutable_header()->mutable_request()->set_target_language(target);
  return message;
}

v1::TranslateDocumentRequest Chunk(const std::string& bytes) {
  v1::TranslateDocumentRequest message;
  message.set_chunk(bytes);
  return message;
}

struct Translated {
  grpc::Status status;
  std::string file;
  std::vector<v1::DocumentProgress> progress;
  v1::DocumentReport report;
  int reports = 0;
};

// Sends the messages, and reads everything.
Translated Send(TestServer* server, const std::vector<v1::TranslateDocumentRequest>& messages) {
  grpc::ClientContext context;
  const auto call = server->translation().TranslateDocument(&context);
  std::thread writer([&] {
    for (const v1::TranslateDocumentRequest& message : messages) {
      if (!call->Write(message)) break;
    }
    call->WritesDone();
  });
  Translated translated;
  for (v1::TranslateDocumentResponse message; call->Read(&message);) {
    EXPECT_EQ(translated.reports, 0) << "the report is the last message";
    if (message.has_progress()) translated.progress.push_back(message.progress());
    if (message.has_chunk()) translated.file += message.chunk();
    if (message.has_report()) ++translated.reports;
    if (message.has_report()) translated.report = message.report();
  }
  writer.join();
  translated.status = call->Finish();
  return translated;
}

class DocumentTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new TestServer(TestOptions()); }
  static void TearDownTestSuite() { delete std::exchange(server_, nullptr); }

  // No call may be left behind.
  void TearDown() override { server_->AwaitSample("dragoman_requests_in_flight", 0); }

  static TestServer* server_;
};

TestServer* DocumentTest::server_ = nullptr;

TEST_F(DocumentTest, TranslatesPassagesAndKeepsTheRest) {
  const std::string cat = server_->Translate("The cat is old.");
  const std::string teacher = server_->Translate("The old teacher sees a small house.");
  std::string source, want;
  for (int i = 0; i < 300; ++i) {
    source += "The cat is old.\n\n \t\nThe old teacher sees a small house.\n\n\n";
    want += cat + "\n\n \t\n" + teacher + "\n\n\n";
  }
  std::vector<v1::TranslateDocumentRequest> messages = {HeaderFor("letters/a.txt")};
  for (size_t i = 0; i < source.size(); i += 1000)
    messages.push_back(Chunk(source.substr(i, 1000)));
  const Translated translated = Send(server_, messages);
  ASSERT_TRUE(translated.status.ok()) << translated.status.error_message();
  EXPECT_EQ(translated.file, want);
  EXPECT_EQ(translated.reports, 1);
  EXPECT_EQ(translated.report.file_name(), "a.de.txt");
  EXPECT_EQ(translated.report.media_type(), "text/plain");
  EXPECT_EQ(translated.report.passages(), 600);
  EXPECT_EQ(translated.report.characters(), 300 * (15 + 35));
  EXPECT_EQ(translated.report.model(), "en-de");
  ASSERT_FALSE(translated.progress.empty());
  EXPECT_EQ(translated.progress.back().passages_done(), 600);
  int64_t last = 0;
  for (const v1::DocumentProgress& progress : translated.progress) {
    EXPECT_EQ(progress.passages_known(), 600);
    EXPECT_GE(progress.passages_done(), std::exchange(last, progress.passages_done()));
  }
}

TEST_F(DocumentTest, AnEmptyFileIsEmptyInAnyLanguage) {
  const Translated translated = Send(server_, {HeaderFor("a.txt")});
  EXPECT_TRUE(translated.status.ok()) << translated.status.error_message();
  EXPECT_EQ(translated.file, "");
  EXPECT_EQ(translated.reports, 1);
}

TEST_F(DocumentTest, TheFormatMayBeNamed) {
  v1::TranslateDocumentRequest header = HeaderFor("");
  header.mutable_header()->set_format("text/plain");
  const Translated translated = Send(server_, {header, Chunk("The cat is old.")});
  EXPECT_EQ(translated.file, server_->Translate("The cat is old."));
  EXPECT_EQ(translated.report.file_name(), "document.de.txt");
}

TEST_F(DocumentTest, SaysWhatIsWrongWithTheHeader) {
  v1::TranslateDocumentRequest with_contents = HeaderFor("a.txt");
  with_contents.mutable_header()->mutable_request()->add_contents("x");
  v1::TranslateDocumentRequest of_unknown_format = HeaderFor("a.txt");
  of_unknown_format.mutable_header()->set_format("tar");
  v1::TranslateDocumentRequest of_no_model = HeaderFor("a.txt");
  of_no_model.mutable_header()->mutable_request()->set_model("none");
  const v1::TranslateDocumentRequest good = HeaderFor("a.txt"), text = Chunk("The cat is old.");
  using Messages = std::vector<v1::TranslateDocumentRequest>;
  for (const auto& [messages, code, field] :
       {std::tuple<Messages, grpc::StatusCode, const char*>{
            {}, grpc::INVALID_ARGUMENT, "header: is missing"},
        {{text}, grpc::INVALID_ARGUMENT, "header: is missing"},
        {{good, good}, grpc::INVALID_ARGUMENT, "header: came twice"},
        {{HeaderFor("a.xyz")}, grpc::INVALID_ARGUMENT, "header.file_name: \"a.xyz\""},
        {{of_unknown_format}, grpc::INVALID_ARGUMENT, "header.format: \"tar\""},
        {{with_contents}, grpc::INVALID_ARGUMENT, "header.request.contents: is set"},
        {{HeaderFor("a.txt", "xx"), text}, grpc::INVALID_ARGUMENT, "target_language: "},
        {{of_no_model, text}, grpc::NOT_FOUND, "none"}}) {
    const Translated translated = Send(server_, messages);
    EXPECT_EQ(translated.status.error_code(), code) << field;
    EXPECT_THAT(translated.status.error_message(), HasSubstr(field));
    EXPECT_EQ(translated.reports, 0);
  }
}

TEST_F(DocumentTest, TheSourceLanguageIsDetectedOnce) {
  v1::TranslateDocumentRequest header = HeaderFor("a.txt");
  header.mutable_header()->mutable_request()->set_source_language("auto");
  const std::string text =
      "Ha!\n\nThe old teacher sees a small house in the morning, and the cat is old.";
  const Translated translated = Send(server_, {header, Chunk(text)});
  ASSERT_TRUE(translated.status.ok()) << translated.status.error_message();
  EXPECT_EQ(translated.report.source_language(), "en");
  EXPECT_NE(translated.file.substr(translated.file.find('\n')), text.substr(text.find('\n')));
}

TEST_F(DocumentTest, AFileComesBackInTheEncodingThatIsNamed) {
  const std::string text = "The cat is old.\n\n\xe9\n";
  v1::TranslateDocumentRequest header = HeaderFor("a.txt");
  Translated translated = Send(server_, {header, Chunk(text)});
  EXPECT_EQ(translated.status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(translated.status.error_message(), HasSubstr("a.txt: line 3: is not UTF-8: name its"));
  header.mutable_header()->set_encoding("windows-1252");
  translated = Send(server_, {header, Chunk(text)});
  ASSERT_TRUE(translated.status.ok()) << translated.status.error_message();
  EXPECT_EQ(translated.file, server_->Translate("The cat is old.") + "\n\n\xe9\n");
}

TEST_F(DocumentTest, ClientsThatGoAwayLeaveNothingBehind) {
  std::string source;
  for (int i = 0; i < 200; ++i) source += "The cat is old.\n\n";
  for (int i = 0; i < 12; ++i) {
    grpc::ClientContext context;
    const auto call = server_->translation().TranslateDocument(&context);
    v1::TranslateDocumentRequest header = HeaderFor("a.txt");
    *header.mutable_header()->mutable_request()->mutable_options() = LongRequest().options();
    if (i % 4 > 0) call->Write(header);
    if (i % 4 > 1) call->Write(Chunk(source));
    if (i % 4 > 2) call->WritesDone();
    v1::TranslateDocumentResponse message;
    if (i % 4 > 2) {
      EXPECT_TRUE(call->Read(&message));
    }
    context.TryCancel();
    EXPECT_EQ(call->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  server_->AwaitSample("dragoman_requests_in_flight", 0);
}

TEST(DocumentLimitsTest, APassageThatIsTooLongIsNamedAndStays) {
  ServerOptions options = TestOptions();
  options.limits.max_characters = 1000;
  TestServer server(options);
  const std::string text(1001, 'x');
  const std::string source = "The cat is old.\n\n" + text + "\n\nThe cat is old.\n";
  const Translated translated = Send(&server, {HeaderFor("a.txt"), Chunk(source)});
  ASSERT_TRUE(translated.status.ok()) << translated.status.error_message();
  EXPECT_EQ(translated.report.untranslated_passages(), 1);
  EXPECT_THAT(translated.report.warnings(), ElementsAre(HasSubstr("a.txt, line 3: ")));
  const std::string cat = server.Translate("The cat is old.");
  EXPECT_EQ(translated.file, cat + "\n\n" + text + "\n\n" + cat + "\n");
}

TEST(DocumentLimitsTest, BoundTheBytesOfAFile) {
  ServerOptions options = TestOptions();
  options.documents.max_bytes = 1000;
  TestServer server(options);
  const std::string half(500, '\n');
  EXPECT_TRUE(Send(&server, {HeaderFor("a.txt"), Chunk(half), Chunk(half)}).status.ok());
  const Translated translated =
      Send(&server, {HeaderFor("a.txt"), Chunk(half), Chunk(half), Chunk("\n")});
  EXPECT_EQ(translated.status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(translated.status.error_message(), HasSubstr("1000"));
}

TEST(DocumentLimitsTest, BoundTheMemoryOfAFile) {
  ServerOptions options = TestOptions();
  options.documents.max_bytes = 1 << 20;
  TestServer server(options);
  std::string paragraphs;
  while (paragraphs.size() < 900'000) paragraphs += "a\n\n";
  const Translated translated = Send(&server, {HeaderFor("a.md"), Chunk(paragraphs)});
  EXPECT_EQ(translated.status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(translated.status.error_message(),
            "a.md: takes more than 50331648 bytes of memory, which is the most for a document");
}

constexpr char kPlaces[] = "dragoman_budget_used{budget=\"documents\"}";

TEST(DocumentLimitsTest, BoundTheFilesAtATime) {
  ServerOptions options = TestOptions();
  options.documents.at_once = 1;
  TestServer server(options);
  {
    grpc::ClientContext context;
    const auto call = server.translation().TranslateDocument(&context);
    call->Write(HeaderFor("a.txt"));
    server.AwaitSample(kPlaces, 1);
    const Translated second = Send(&server, {HeaderFor("b.txt")});
    EXPECT_EQ(second.status.error_code(), grpc::RESOURCE_EXHAUSTED);
    DetailOf<google::rpc::RetryInfo>(second.status);
    context.TryCancel();
    call->Finish();
  }
  server.AwaitSample(kPlaces, 0);
  EXPECT_TRUE(Send(&server, {HeaderFor("b.txt")}).status.ok());
}

TEST(DocumentLimitsTest, WhoFallsSilentLosesThePlace) {
  ServerOptions options = TestOptions();
  options.documents.at_once = 1;
  TestServer server(options);
  for (const bool in_the_file : {false, true}) {
    grpc::ClientContext context;
    const auto call = server.translation().TranslateDocument(&context);
    call->Write(HeaderFor("a.txt"));
    if (in_the_file) call->Write(Chunk("The cat is old."));
    server.AwaitSample(kPlaces, 1);
    EXPECT_EQ(Send(&server, {HeaderFor("b.txt")}).status.error_code(), grpc::RESOURCE_EXHAUSTED);
    std::atomic<bool> ended = false;
    std::thread clock([&] {
      while (!ended) {
        server.server().ticker().Tick(absl::Now() + options.documents.patience);
        absl::SleepFor(absl::Milliseconds(10));
      }
    });
    const grpc::Status status = call->Finish();
    ended = true;
    clock.join();
    EXPECT_EQ(status.error_code(), grpc::DEADLINE_EXCEEDED);
    EXPECT_THAT(status.error_message(), HasSubstr("has come for 1m"));
    server.AwaitSample(kPlaces, 0);
    EXPECT_TRUE(Send(&server, {HeaderFor("b.txt")}).status.ok());
  }
}

TEST(DocumentLimitsTest, WhoPausesForLessKeepsThePlace) {
  ServerOptions options = TestOptions();
  TestServer server(options);
  grpc::ClientContext context;
  const auto call = server.translation().TranslateDocument(&context);
  call->Write(HeaderFor("a.txt"));
  server.AwaitSample("dragoman_requests_in_flight", 1);
  server.server().ticker().Tick(absl::Now() + options.documents.patience / 2);
  call->Write(Chunk("The cat is old."));
  call->WritesDone();
  v1::TranslateDocumentResponse message;
  while (call->Read(&message)) {
  }
  const grpc::Status status = call->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST(DocumentLimitsTest, WhoWaitsForAnAnswerIsNotSilent) {
  TestServer server;
  grpc::ClientContext context;
  const auto call = server.translation().TranslateDocument(&context);
  v1::TranslateDocumentRequest header = HeaderFor("a.txt");
  *header.mutable_header()->mutable_request()->mutable_options() = LongRequest().options();
  call->Write(header);
  call->Write(Chunk("The cat is old.\n"));
  call->WritesDone();
  v1::TranslateDocumentResponse message;
  ASSERT_TRUE(call->Read(&message));
  EXPECT_TRUE(message.has_progress());  // the work has begun
  server.server().ticker().Tick(absl::Now() + absl::Hours(1));
  while (call->Read(&message)) {
  }
  const grpc::Status status = call->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST(DocumentLimitsTest, WithoutFilesNoneIsTranslated) {
  ServerOptions options = TestOptions();
  options.documents.at_once = 0;
  TestServer server(options);
  EXPECT_EQ(Send(&server, {HeaderFor("a.txt")}).status.error_code(), grpc::UNIMPLEMENTED);
}

// Passages that the engine refuses wait in their call.
TEST(DocumentLimitsTest, WaitsForRoomInTheEngine) {
  ServerOptions options = TestOptions();
  options.pool.max_waiting_requests = 4;
  options.pool.workers = 1;
  TestServer server(options);
  PendingTranslation other(&server, LongRequest());
  server.AwaitSample("dragoman_requests_in_flight", 1);
  std::string source;
  for (int i = 0; i < 300; ++i) source += "The cat is old.\n\n";
  const Translated translated = Send(&server, {HeaderFor("a.txt"), Chunk(source)});
  EXPECT_TRUE(translated.status.ok()) << translated.status.error_message();
  EXPECT_EQ(translated.report.passages(), 300);
  other.Cancel();
  other.Await();
}

using DocumentCall =
    grpc::ClientReaderWriter<v1::TranslateDocumentRequest, v1::TranslateDocumentResponse>;

// Sends a table.  The older md4c goes through all columns for each row, which takes minutes here.
void SendSlowFile(DocumentCall* call) {
  constexpr int kCells = 200'000;
  std::string file;
  for (int i = 0; i < kCells; ++i) file += "|a";
  file += "\n";
  for (int i = 0; i < kCells; ++i) file += "|-";
  for (int i = 0; i < kCells; ++i) file += "\n|";
  call->Write(HeaderFor("a.md"));
  for (size_t i = 0; i < file.size(); i += 100'000) call->Write(Chunk(file.substr(i, 100'000)));
  call->WritesDone();
}

TEST(DocumentLimitsTest, ACallerThatGoesEndsTheReader) {
  TestServer server;
  {
    grpc::ClientContext context;
    const auto call = server.translation().TranslateDocument(&context);
    SendSlowFile(call.get());
    server.AwaitSample("dragoman_requests_in_flight", 1);
    context.TryCancel();
    call->Finish();
  }
  server.AwaitSample("dragoman_requests_in_flight", 0);
}

TEST(DocumentLimitsTest, ADeadlineEndsTheReader) {
  TestServer server;
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Milliseconds(500)));
  const auto call = server.translation().TranslateDocument(&context);
  SendSlowFile(call.get());
  call->Finish();
  server.AwaitSample("dragoman_requests_in_flight", 0);
}

TEST(DocumentLimitsTest, ADrainEndsTheReader) {
  TestServer server;
  grpc::ClientContext context;
  const auto call = server.translation().TranslateDocument(&context);
  SendSlowFile(call.get());
  server.AwaitSample("dragoman_requests_in_flight", 1);
  server.server().Drain();
  call->Finish();  // of the server's destructor, too, which waits for the reader
}

TEST(DocumentLimitsTest, ADrainEndsTheCall) {
  TestServer server;
  grpc::ClientContext context;
  const auto call = server.translation().TranslateDocument(&context);
  call->Write(HeaderFor("a.txt"));
  server.AwaitSample("dragoman_requests_in_flight", 1);
  server.server().Drain();
  EXPECT_EQ(call->Finish().error_code(), grpc::UNAVAILABLE);
}

}  // namespace
}  // namespace dragoman::document_test
