// TranslateStream and TranslateBulk over a real connection, with a real model, and with clients
// that behave and clients that do not.

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/server/http_client.h"
#include "tests/server/test_server.h"

namespace dragoman::stream_test {
namespace {

using ::testing::HasSubstr;

constexpr char kText[] = "The old teacher sees a small house. The cat is old. Anna is here.";

class StreamTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new TestServer(TestOptions()); }
  static void TearDownTestSuite() { delete std::exchange(server_, nullptr); }

  // No call may be left behind.
  void TearDown() override { server_->AwaitSample("dragoman_requests_in_flight", 0); }

  static TestServer* server_;
};

TestServer* StreamTest::server_ = nullptr;

// --- TranslateStream

struct Streamed {
  grpc::Status status;
  std::vector<v1::TranslateStreamResponse> messages;
  std::map<int, std::string> stable;  // by index of the content
};

Streamed Stream(TestServer* server, const v1::TranslateRequest& request) {
  grpc::ClientContext context;
  const auto stream = server->translation().TranslateStream(&context, request);
  Streamed streamed;
  for (v1::TranslateStreamResponse message; stream->Read(&message);) {
    if (message.has_stable_text()) {
      streamed.stable[message.content_index()] += message.stable_text();
    }
    streamed.messages.push_back(std::move(message));
  }
  streamed.status = stream->Finish();
  EXPECT_EQ(context.GetServerTrailingMetadata().count("x-request-id"), 1u);
  return streamed;
}

TEST_F(StreamTest, StableTextsConcatenatedAreTheTranslation) {
  v1::TranslateRequest request = RequestFor({kText, "", "The bridge is not expensive!"});
  request.set_sentence_splitting(v1::SENTENCE_SPLITTING_SENTENCES);
  request.mutable_output()->set_sentence_spans(true);
  v1::TranslateResponse whole;
  ASSERT_TRUE(server_->Translate(request, &whole).ok());
  const Streamed streamed = Stream(server_, request);
  ASSERT_TRUE(streamed.status.ok()) << streamed.status.error_message();
  int content = 0, sentence = 0;
  for (const v1::TranslateStreamResponse& message : streamed.messages) {
    if (message.has_summary()) {
      EXPECT_EQ(&message, &streamed.messages.back());
      EXPECT_EQ(message.summary().model(), whole.model());
      EXPECT_EQ(message.summary().model_version(), whole.model_version());
      EXPECT_EQ(message.summary().translations_size(), 0);
      EXPECT_GT(message.summary().timing().total().nanos(), 0);
      continue;
    }
    ASSERT_EQ(message.content_index(), content) << "out of order";
    const v1::Translation& translation = whole.translations(content);
    if (message.has_sentence()) {
      EXPECT_EQ(message.sentence().index(), sentence);
      EXPECT_EQ(message.sentence().sentences(), translation.sentences_size());
      EXPECT_EQ(message.sentence().span().SerializeAsString(),
                translation.sentences(sentence).SerializeAsString());
      ++sentence;
    } else if (message.has_translation()) {
      EXPECT_EQ(message.translation().SerializeAsString(), translation.SerializeAsString());
      EXPECT_EQ(streamed.stable.count(content) == 0 ? "" : streamed.stable.at(content),
                translation.hypotheses(0).text());
      ++content;
      sentence = 0;
    }
  }
  EXPECT_EQ(content, 3);
  EXPECT_TRUE(streamed.messages.back().has_summary());
  EXPECT_GE(server_->Metrics().at("dragoman_time_to_first_text_seconds_count{model=\"en-de\"}"), 1);
}

TEST_F(StreamTest, ErrorsAreThoseOfTranslate) {
  v1::TranslateRequest request = RequestFor({"cat"});
  request.mutable_options()->set_beam_size(100);
  const Streamed streamed = Stream(server_, request);
  EXPECT_TRUE(streamed.messages.empty());
  EXPECT_EQ(streamed.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf<google::rpc::BadRequest>(streamed.status).field_violations(0).field(),
            "options.beam_size");
  request = RequestFor({"cat"});
  request.set_model("xx");
  EXPECT_EQ(Stream(server_, request).status.error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(StreamTest, ClientsThatGoAwayInTheMiddleLeaveNothingBehind) {
  for (int i = 0; i < 20; ++i) {
    grpc::ClientContext context;
    const auto stream = server_->translation().TranslateStream(&context, LongRequest());
    v1::TranslateStreamResponse message;
    for (int read = 0; read < i % 4; ++read) ASSERT_TRUE(stream->Read(&message));
    context.TryCancel();
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(100));
  const auto stream = server_->translation().TranslateStream(&context, LongRequest());
  for (v1::TranslateStreamResponse message; stream->Read(&message);) continue;
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_F(StreamTest, AClientThatNeverReadsHoldsNobodyUp) {
  grpc::ClientContext context;
  const auto stream = server_->translation().TranslateStream(&context, RequestFor({kText}));
  EXPECT_EQ(server_->Translate("The cat is old."), "Die Katze ist alt.");
  context.TryCancel();
  stream->Finish();
}

// --- TranslateBulk

using BulkStream = grpc::ClientReaderWriter<v1::TranslateBulkRequest, v1::TranslateBulkResponse>;

v1::TranslateBulkRequest ItemFor(const std::string& id, const std::string& text) {
  v1::TranslateBulkRequest item;
  item.set_id(id);
  *item.mutable_request() = RequestFor({text});
  return item;
}

TEST_F(StreamTest, BulkAnswersEachRequestByItsId) {
  const std::vector<std::string> texts = {"The old teacher sees a small house.", "The cat is old.",
                                          "The bridge is not expensive!"};
  std::vector<std::string> wanted;
  for (const std::string& text : texts) wanted.push_back(server_->Translate(text));
  constexpr int kItems = 2000;
  grpc::ClientContext context;
  const auto call = server_->translation().TranslateBulk(&context);
  std::thread writer([&] {
    for (int i = 0; i < kItems; ++i) {
      if (!call->Write(ItemFor(std::to_string(i), texts[i % 3]))) break;
    }
    call->WritesDone();
  });
  std::set<std::string> ids;
  for (v1::TranslateBulkResponse answer; call->Read(&answer);) {
    ASSERT_TRUE(answer.has_response()) << answer.error().message();
    EXPECT_TRUE(ids.insert(answer.id()).second) << answer.id() << " twice";
    EXPECT_EQ(answer.response().translations(0).hypotheses(0).text(),
              wanted[std::stoi(answer.id()) % 3]);
    EXPECT_EQ(answer.response().model(), "en-de");
  }
  writer.join();
  const grpc::Status status = call->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(ids.size(), static_cast<size_t>(kItems));
}

TEST_F(StreamTest, AnErrorOfOneRequestIsItsAnswer) {
  grpc::ClientContext context;
  const auto call = server_->translation().TranslateBulk(&context);
  v1::TranslateBulkRequest wrong = ItemFor("wrong", "The cat is old.");
  wrong.mutable_request()->mutable_options()->set_beam_size(100);
  v1::TranslateBulkRequest nowhere = ItemFor("nowhere", "The cat is old.");
  nowhere.mutable_request()->set_model("xx");
  v1::TranslateBulkRequest empty;
  empty.set_id("empty");
  for (const auto& item :
       {wrong, nowhere, empty, ItemFor("", "The cat is old."), ItemFor("same", "The cat is old."),
        ItemFor("same", "The cat is old.")}) {
    ASSERT_TRUE(call->Write(item));
  }
  call->WritesDone();
  std::multimap<std::string, v1::TranslateBulkResponse> answers;
  for (v1::TranslateBulkResponse answer; call->Read(&answer);) answers.emplace(answer.id(), answer);
  EXPECT_TRUE(call->Finish().ok());
  ASSERT_EQ(answers.size(), 6u);
  EXPECT_EQ(answers.find("wrong")->second.error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(answers.find("wrong")->second.error().field(), "options.beam_size");
  EXPECT_EQ(answers.find("nowhere")->second.error().code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(answers.find("empty")->second.error().field(), "contents");
  EXPECT_TRUE(answers.find("")->second.has_response());
  EXPECT_EQ(answers.count("same"), 2u);
}

// Sends raw bytes; a client with generated code would refuse to send strings that are not UTF-8.
TEST_F(StreamTest, ATextThatIsNotUtf8IsTheErrorOfItsRequest) {
  grpc::GenericStub stub(server_->channel());
  const auto exchange = [&](const std::vector<std::string>& messages, grpc::Status* status) {
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const auto call =
        stub.PrepareCall(&context, "/dragoman.v1.TranslationService/TranslateBulk", &queue);
    const auto wait = [&] {
      void* tag = nullptr;
      bool ok = false;
      return queue.Next(&tag, &ok) && ok;
    };
    call->StartCall(nullptr);
    wait();
    for (const std::string& message : messages) {
      const grpc::Slice slice(message);
      call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
      wait();
    }
    call->WritesDone(nullptr);
    wait();
    std::map<std::string, v1::TranslateBulkResponse> answers;
    while (true) {
      grpc::ByteBuffer bytes;
      call->Read(&bytes, nullptr);
      if (!wait()) break;
      v1::TranslateBulkResponse answer;
      grpc::SerializationTraits<v1::TranslateBulkResponse>::Deserialize(&bytes, &answer);
      answers[answer.id()] = answer;
    }
    call->Finish(status, nullptr);
    wait();
    return answers;
  };
  const std::string good = ItemFor("good", "The cat is old.").SerializeAsString();
  std::string bad = ItemFor("bad", "The c\x01t is old.").SerializeAsString();
  bad[bad.find('\x01')] = '\xff';
  grpc::Status status;
  auto answers = exchange({good, bad}, &status);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(answers["good"].has_response());
  EXPECT_EQ(answers["bad"].error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(answers["bad"].error().field(), "contents[0]");
  // A message that cannot be parsed ends the call, but not the requests before it.
  answers = exchange({good, "\x0a\x7f"}, &status);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(answers["good"].has_response());
}

TEST_F(StreamTest, AClientThatDoesNotReadIsPushedBack) {
  grpc::ClientContext context;
  const auto call = server_->translation().TranslateBulk(&context);
  std::atomic<int> written = 0;
  std::thread writer([&] {
    // Responses repeat the id, so even errors are as large as requests.
    const std::string id(4000, 'i');
    while (written < 100'000 && call->Write(ItemFor(id, "The cat is old."))) ++written;
  });
  // The writer must come to a halt: for a while, nothing was taken.
  for (int last = -1; written != last || written == 0;) {
    last = written;
    absl::SleepFor(absl::Milliseconds(500));
  }
  // gRPC itself buffers up to 16 MiB before it pushes back.
  EXPECT_LT(written, 20'000);
  EXPECT_LT(server_->Metrics().at("dragoman_queue_requests{priority=\"batch\"}"), 129);
  context.TryCancel();
  writer.join();
  EXPECT_EQ(call->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(StreamTest, BulkClientsThatGoAwayLeaveNothingBehind) {
  for (int i = 0; i < 20; ++i) {
    grpc::ClientContext context;
    const auto call = server_->translation().TranslateBulk(&context);
    for (int item = 0; item < i % 5; ++item) {
      v1::TranslateBulkRequest request;
      request.set_id("same");
      *request.mutable_request() = LongRequest();
      ASSERT_TRUE(call->Write(request));
    }
    if (i % 2 == 0) call->WritesDone();
    context.TryCancel();
    EXPECT_EQ(call->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(100));
  const auto call = server_->translation().TranslateBulk(&context);
  for (v1::TranslateBulkResponse answer; call->Read(&answer);) continue;
  EXPECT_EQ(call->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

// Sends many requests in one call, and expects a translation of each.
void ExpectTranslates(TestServer* server, int items) {
  grpc::ClientContext context;
  const auto call = server->translation().TranslateBulk(&context);
  std::thread writer([&] {
    for (int i = 0; i < items; ++i) call->Write(ItemFor(std::to_string(i), "The cat is old."));
    call->WritesDone();
  });
  int answered = 0;
  for (v1::TranslateBulkResponse answer; call->Read(&answer); ++answered) {
    EXPECT_TRUE(answer.has_response()) << answer.error().message();
  }
  writer.join();
  EXPECT_TRUE(call->Finish().ok());
  EXPECT_EQ(answered, items);
}

// A call may send more requests than the engine queues: they wait in the call.
TEST(BulkTest, WaitsForRoomInTheEngine) {
  ServerOptions options = TestOptions();
  options.pool.max_waiting_requests = 4;
  options.pool.workers = 1;
  TestServer server(options);
  PendingTranslation other(&server, LongRequest());
  server.AwaitSample("dragoman_requests_in_flight", 1);
  ExpectTranslates(&server, 300);
  other.Cancel();
  other.Await();
}

TEST(BulkTest, ADrainEndsAnOpenCall) {
  TestServer server;
  grpc::ClientContext context;
  const auto call = server.translation().TranslateBulk(&context);
  ASSERT_TRUE(call->Write(ItemFor("a", "The cat is old.")));
  v1::TranslateBulkResponse answer;
  ASSERT_TRUE(call->Read(&answer));
  std::thread drain([&] { server.server().Drain(); });
  EXPECT_FALSE(call->Read(&answer));
  EXPECT_EQ(call->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  drain.join();
}

TEST(BulkTest, EachRequestCountsAmongThoseOfItsPrincipal) {
  ServerOptions options = TestOptions();
  options.auth.max_requests_per_principal = 2;
  TestServer server(options);
  ExpectTranslates(&server, 200);
  const auto samples = server.Metrics();
  EXPECT_EQ(samples.at("dragoman_requests_total{code=\"OK\",method=\"TranslateBulkItem\","
                       "model=\"en-de\"}"),
            200);
}

// --- Answers that nobody reads

constexpr char kUnread[] = "dragoman_budget_used{budget=\"answers\"}";

// Little work, and an answer of some 200 kB.
v1::TranslateRequest LargeRequest() {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "The old teacher sees a small house. ";
  v1::TranslateRequest request = RequestFor({text});
  request.set_sentence_splitting(v1::SENTENCE_SPLITTING_SENTENCES);
  request.mutable_options()->set_beam_size(2);
  request.mutable_options()->set_num_hypotheses(2);
  request.mutable_output()->set_tokens(true);
  request.mutable_output()->set_alignments(true);
  request.mutable_output()->set_alignment_threshold(1e-9f);  // all pairs of tokens
  request.mutable_output()->set_attention(true);
  return request;
}

class UnreadTest : public testing::Test {
 protected:
  static constexpr size_t kBulkCall = 1 << 20, kHolder = 2 << 20;
  // The engine's, when the bound is reached: of so many requests at most.
  static constexpr int kInEngine = 8;

  UnreadTest() : server_(Options()) {
    EXPECT_TRUE(server_.Translate(LargeRequest(), &answer_).ok());
    EXPECT_GT(answer_.ByteSizeLong(), 200'000u);
    most_in_engine_ = kInEngine * answer_.ByteSizeLong();
  }

  static ServerOptions Options() {
    ServerOptions options = TestOptions();
    options.answers = {.all = 2 * kHolder, .holder = kHolder, .bulk_call = kBulkCall};
    options.pool.workers = 1;
    options.pool.max_batch_rows = 16;
    options.pool.max_waiting_requests = 2;
    return options;
  }

  // A connection of its own, whose client takes little beyond what it reads.
  std::unique_ptr<v1::TranslationService::Stub> Connect() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 64 << 10);
    arguments.SetInt(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, -1);
    return v1::TranslationService::NewStub(grpc::CreateCustomChannel(
        server_.server().grpc_address(), grpc::InsecureChannelCredentials(), arguments));
  }

  // Waits until so many bytes are unread and the engine has nothing to do, not only between two
  // requests.
  void AwaitUnread(double least) {
    const absl::Time deadline = absl::Now() + absl::Seconds(60);
    for (int idle = 0; idle < 20 && absl::Now() < deadline; ++idle) {
      const Samples samples = server_.Metrics();
      if (samples.at(kUnread) < least || samples.at("dragoman_kv_cache_bytes") > 0 ||
          samples.at("dragoman_queue_requests{priority=\"batch\"}") > 0) {
        idle = 0;
      }
    }
    EXPECT_GE(Unread(), least);
  }

  double Unread() { return server_.Metrics().at(kUnread); }

  TestServer server_;
  v1::TranslateResponse answer_;
  size_t most_in_engine_ = 0;
};

// A bulk call whose writer sends as much as the server takes, up to so many requests.
class LargeBulk {
 public:
  LargeBulk(v1::TranslationService::Stub* stub, int requests)
      : call_(stub->TranslateBulk(&context_)), writer_([this, requests] {
          v1::TranslateBulkRequest item;
          *item.mutable_request() = LargeRequest();
          for (int i = 0; i < requests; ++i) {
            item.set_id(std::to_string(i));
            if (!call_->Write(item)) return;
          }
          call_->WritesDone();
        }) {}

  ~LargeBulk() {
    context_.TryCancel();
    writer_.join();
    call_->Finish();
  }

  // Reads the rest; returns the ids of the answers that were like `wanted`.
  std::set<std::string> ReadAll(const v1::TranslateResponse& wanted) {
    std::set<std::string> ids;
    for (v1::TranslateBulkResponse answer; call_->Read(&answer);) {
      const auto& translations = answer.response().translations();
      if (translations.size() == 1 &&
          translations[0].SerializeAsString() == wanted.translations(0).SerializeAsString()) {
        ids.insert(answer.id());
      }
    }
    return ids;
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<BulkStream> call_;
  std::thread writer_;
};

TEST_F(UnreadTest, TheAnswersOfABulkCallAreBoundedAndNoneIsLost) {
  constexpr int kRequests = 40;
  const auto stub = Connect();
  LargeBulk slow(stub.get(), kRequests);
  AwaitUnread(kBulkCall);
  EXPECT_LE(Unread(), kBulkCall + most_in_engine_);
  EXPECT_EQ(slow.ReadAll(answer_).size(), size_t{kRequests});
  server_.AwaitSample(kUnread, 0);
}

TEST_F(UnreadTest, TheAnswersOfAllCallsOfAConnectionAreBoundedAndOthersGoOn) {
  const auto stub = Connect(), other = Connect();
  std::vector<std::unique_ptr<LargeBulk>> slow;
  for (int i = 0; i < 6; ++i) slow.push_back(std::make_unique<LargeBulk>(stub.get(), 12));
  AwaitUnread(kHolder);
  EXPECT_LE(Unread(), 2 * kHolder + most_in_engine_);
  // New calls of this client are refused, and those of others are not.
  grpc::ClientContext context;
  v1::TranslateResponse answer;
  const grpc::Status refused = stub->Translate(&context, RequestFor({"The cat is old."}), &answer);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("read them first"));
  EXPECT_EQ(LargeBulk(other.get(), 9).ReadAll(answer_).size(), 9u);
  EXPECT_EQ(server_.Translate("The cat is old."), "Die Katze ist alt.");
  for (const auto& call : slow) EXPECT_EQ(call->ReadAll(answer_).size(), 12u);
  server_.AwaitSample(kUnread, 0);
}

TEST_F(UnreadTest, CancelledCallsLeaveNoAnswers) {
  const auto stub = Connect();
  {
    LargeBulk slow(stub.get(), 30);
    AwaitUnread(kBulkCall);
  }
  server_.AwaitSample(kUnread, 0);
  server_.AwaitSample("dragoman_requests_in_flight", 0);
}

TEST_F(UnreadTest, AnswersOfSingleCallsCountUntilTheyAreRead) {
  const auto stub = Connect();
  struct Pending {
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    std::unique_ptr<grpc::ClientAsyncResponseReader<v1::TranslateResponse>> call;
    void Await() {
      void* tag = nullptr;
      bool ok = false;
      EXPECT_TRUE(queue.Next(&tag, &ok) && ok);
    }
  };
  std::vector<std::unique_ptr<Pending>> calls;
  while (Unread() < kHolder && calls.size() < 50) {
    Pending& pending = *calls.emplace_back(std::make_unique<Pending>());
    pending.call = stub->PrepareAsyncTranslate(&pending.context, LargeRequest(), &pending.queue);
    pending.call->StartCall();
    pending.call->ReadInitialMetadata(nullptr);  // comes with the answer, which is not read yet
    pending.Await();
  }
  EXPECT_GE(Unread(), kHolder);
  grpc::ClientContext context;
  v1::TranslateResponse answer;
  EXPECT_EQ(stub->Translate(&context, RequestFor({"The cat is old."}), &answer).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(server_.Metrics().at("dragoman_rejected_total{reason=\"principal_limit\"}"), 1);
  EXPECT_EQ(server_.Translate("The cat is old."), "Die Katze ist alt.");
  for (const auto& pending : calls) {
    grpc::Status status;
    pending->call->Finish(&answer, &status, nullptr);
    pending->Await();
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(answer.translations(0).SerializeAsString(),
              answer_.translations(0).SerializeAsString());
  }
  server_.AwaitSample(kUnread, 0);
}

TEST_F(UnreadTest, AStreamCountsWhatItsClientHasNotRead) {
  const auto stub = Connect();
  grpc::ClientContext context;
  const auto stream = stub->TranslateStream(&context, LargeRequest());
  AwaitUnread(static_cast<double>(answer_.ByteSizeLong()) / 2);
  std::string text;
  for (v1::TranslateStreamResponse message; stream->Read(&message);) text += message.stable_text();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(text, answer_.translations(0).hypotheses(0).text());
  server_.AwaitSample(kUnread, 0);
}

// Over HTTP too, and even a message of many megabytes arrives.
TEST_F(UnreadTest, AStreamOverHttpCountsWhatItsClientHasNotRead) {
  v1::TranslateRequest request = LargeRequest();
  for (int i = 0; i < 11; ++i) request.add_contents(request.contents(0));
  std::string json;
  ASSERT_TRUE(google::protobuf::util::MessageToJsonString(request, &json).ok());
  RawHttpClient slow(server_.server().http_address());
  slow.Send(absl::StrCat("POST /v1/translate:stream HTTP/1.0\r\nContent-Type: application/json\r\n",
                         "Content-Length: ", json.size(), "\r\n\r\n", json));
  AwaitUnread(static_cast<double>(answer_.ByteSizeLong()));
  const HttpReply reply = slow.Receive();
  EXPECT_EQ(reply.code, 200);
  EXPECT_GT(reply.body.size(), 12 * answer_.ByteSizeLong());
  EXPECT_THAT(reply.body.substr(reply.body.size() - 4000), HasSubstr("event: summary\n"));
  server_.AwaitSample(kUnread, 0);
}

}  // namespace
}  // namespace dragoman::stream_test
