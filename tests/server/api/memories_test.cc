// Translation memories over gRPC and HTTP: storing them, using them, and who sees which.

#include <grpcpp/grpcpp.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "dragoman/v1/translation.grpc.pb.h"
#include "engine/base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/http_client.h"
#include "tests/server/test_server.h"

namespace dragoman::memories_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using Stub = v1::MemoryService::Stub;

constexpr char kAliceToken[] = "alice-0123456789";
constexpr char kBobToken[] = "bob-0123456789abc";
constexpr char kText[] = "The old house is small.";

class MemoriesTest : public testing::Test {
 protected:
  MemoriesTest() {
    std::string name = testing::TempDir() + "/memories-XXXXXX";
    root_ = mkdtemp(name.data());
    options_ = TestOptions();
    options_.memories = root_ + "/memories";
    options_.pool.cache_bytes = size_t{1} << 20;
  }
  ~MemoriesTest() override { std::filesystem::remove_all(root_); }

  void Start() {
    server_ = std::make_unique<TestServer>(options_);
    memories_ = v1::MemoryService::NewStub(server_->channel());
  }
  void StartWithTokens() {
    options_.auth.tokens = root_ + "/tokens";
    std::ofstream(options_.auth.tokens) << "alice " << kAliceToken << "\nbob " << kBobToken << "\n";
    Start();
  }

  template <typename Method, typename Request, typename Response>
  grpc::Status Call(Method method, const Request& request, Response* response,
                    const std::string& token = "") {
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    return (memories_.get()->*method)(&context, request, response);
  }

  // Stores a memory of one segment and returns its id.
  std::string Store(const std::string& source, const std::string& target,
                    const std::string& token = "", bool shared = false) {
    v1::CreateMemoryRequest request;
    request.mutable_memory()->set_name("Manuals");
    request.mutable_memory()->set_shared(shared);
    *request.add_segments() = SegmentOf(source, target);
    v1::TranslationMemory memory;
    const grpc::Status status = Call(&Stub::CreateMemory, request, &memory, token);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(memory.segment_count(), 1);
    return memory.id();
  }
  static v1::MemorySegment SegmentOf(const std::string& source, const std::string& target) {
    v1::MemorySegment segment;
    segment.set_source(source);
    segment.set_target(target);
    return segment;
  }
  v1::TranslationMemory Learn(const std::string& id, const std::string& source,
                              const std::string& target) {
    v1::LearnSegmentsRequest request;
    request.set_id(id);
    *request.add_segments() = SegmentOf(source, target);
    v1::TranslationMemory memory;
    const grpc::Status status = Call(&Stub::LearnSegments, request, &memory);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return memory;
  }

  grpc::Status Translate(const std::vector<std::string>& ids, v1::TranslateResponse* response,
                         const std::string& token = "", const std::string& text = kText) {
    v1::TranslateRequest request = RequestFor({text});
    for (const std::string& id : ids) request.add_memory_ids(id);
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    return server_->translation().Translate(&context, request, response);
  }
  v1::Translation Translated(const std::vector<std::string>& ids, const std::string& token = "",
                             const std::string& text = kText) {
    v1::TranslateResponse response;
    const grpc::Status status = Translate(ids, &response, token, text);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return status.ok() ? response.translations(0) : v1::Translation();
  }

  std::string root_;
  ServerOptions options_;
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<Stub> memories_;
};

TEST_F(MemoriesTest, ACorrectionCountsFromTheNextRequestOn) {
  Start();
  const std::string id = Store(kText, "Erste Fassung.");
  const std::string plain = Translated({}).hypotheses(0).text();
  v1::Translation translation = Translated({id});
  EXPECT_EQ(translation.hypotheses(0).text(), "Erste Fassung.");
  ASSERT_EQ(translation.memory_matches_size(), 1);
  EXPECT_EQ(translation.memory_matches(0).memory_id(), id);
  EXPECT_EQ(translation.memory_matches(0).memory_version(), 1);
  EXPECT_EQ(translation.memory_matches(0).kind(), v1::MemoryMatch::KIND_EXACT);
  EXPECT_EQ(translation.memory_matches(0).percent(), 100);
  EXPECT_EQ(translation.memory_matches(0).source_end(), 23);
  for (int version = 2; version < 6; ++version) {
    const std::string target = "Fassung " + std::to_string(version) + ".";
    EXPECT_EQ(Learn(id, kText, target).version(), version);
    translation = Translated({id});
    EXPECT_EQ(translation.hypotheses(0).text(), target);
    EXPECT_EQ(translation.memory_matches(0).memory_version(), version);
  }
  EXPECT_EQ(Translated({}).hypotheses(0).text(), plain);
  server_->AwaitSample("dragoman_memory_matches_total{kind=\"exact\"}", 5);
}

TEST_F(MemoriesTest, ARepairFollowsWhatIsLearnedThroughTheCache) {
  Start();
  const std::string changed = "The old house is big.";
  const std::string id = Store(kText, Translated({}).hypotheses(0).text());
  const v1::Translation first = Translated({id}, "", changed);
  ASSERT_EQ(first.memory_matches_size(), 1);
  EXPECT_EQ(first.memory_matches(0).kind(), v1::MemoryMatch::KIND_REPAIRED);
  EXPECT_EQ(Translated({id}, "", changed).hypotheses(0).text(), first.hypotheses(0).text());
  Learn(id, changed, "Gelernt.");
  EXPECT_EQ(Translated({id}, "", changed).hypotheses(0).text(), "Gelernt.");
}

TEST_F(MemoriesTest, TwoPrincipalsNeverSeeEachOthersEntries) {
  StartWithTokens();
  const std::string alices = Store(kText, "Alices Satz.", kAliceToken);
  const std::string bobs = Store(kText, "Bobs Satz.", kBobToken);
  const std::string shared = Store("The dog sleeps.", "Für alle.", kAliceToken, /*shared=*/true);
  EXPECT_EQ(Translated({alices}, kAliceToken).hypotheses(0).text(), "Alices Satz.");
  EXPECT_EQ(Translated({bobs}, kBobToken).hypotheses(0).text(), "Bobs Satz.");
  EXPECT_EQ(Translated({shared}, kBobToken, "The dog sleeps.").hypotheses(0).text(), "Für alle.");
  v1::TranslateResponse response;
  grpc::Status status = Translate({alices}, &response, kBobToken);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DetailOf<google::rpc::ResourceInfo>(status).resource_type(),
            "dragoman.v1.TranslationMemory");
  v1::GetMemoryRequest get;
  v1::GetMemorySegmentsRequest segments;
  v1::LearnSegmentsRequest learn;
  v1::DeleteMemoryRequest gone;
  v1::TranslationMemory memory;
  v1::GetMemorySegmentsResponse page;
  v1::DeleteMemoryResponse deleted;
  for (std::string* id :
       {get.mutable_id(), segments.mutable_id(), learn.mutable_id(), gone.mutable_id()}) {
    *id = alices;
  }
  *learn.add_segments() = SegmentOf("a", "b");
  using grpc::StatusCode;
  EXPECT_EQ(Call(&Stub::GetMemory, get, &memory, kBobToken).error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(Call(&Stub::GetMemorySegments, segments, &page, kBobToken).error_code(),
            StatusCode::NOT_FOUND);
  EXPECT_EQ(Call(&Stub::LearnSegments, learn, &memory, kBobToken).error_code(),
            StatusCode::NOT_FOUND);
  EXPECT_EQ(Call(&Stub::DeleteMemory, gone, &deleted, kBobToken).error_code(),
            StatusCode::NOT_FOUND);
  learn.set_id(shared);
  EXPECT_EQ(Call(&Stub::LearnSegments, learn, &memory, kBobToken).error_code(),
            StatusCode::FAILED_PRECONDITION);
  v1::ListMemoriesResponse list;
  ASSERT_TRUE(Call(&Stub::ListMemories, v1::ListMemoriesRequest(), &list, kBobToken).ok());
  EXPECT_EQ(list.memories_size(), 2);
  for (const v1::TranslationMemory& each : list.memories()) EXPECT_NE(each.id(), alices);
  EXPECT_TRUE(Call(&Stub::DeleteMemory, gone, &deleted, kAliceToken).ok());
}

TEST_F(MemoriesTest, SegmentsComeInPages) {
  Start();
  v1::CreateMemoryRequest create;
  for (int i = 0; i < 25; ++i) *create.add_segments() = SegmentOf("No " + std::to_string(i), "x");
  v1::TranslationMemory memory;
  ASSERT_TRUE(Call(&Stub::CreateMemory, create, &memory).ok());
  v1::GetMemorySegmentsRequest request;
  request.set_id(memory.id());
  request.set_start(20);
  request.set_limit(10);
  v1::GetMemorySegmentsResponse page;
  ASSERT_TRUE(Call(&Stub::GetMemorySegments, request, &page).ok());
  ASSERT_EQ(page.segments_size(), 5);
  EXPECT_EQ(page.segments(0).source(), "No 20");
  EXPECT_EQ(page.memory().segment_count(), 25);
  request.set_limit(1001);
  EXPECT_EQ(Call(&Stub::GetMemorySegments, request, &page).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(MemoriesTest, HttpHasTheSameMethods) {
  Start();
  const std::string address = server_->server().http_address();
  const std::string type = "Content-Type: application/json\r\n";
  HttpReply made = HttpPost(address, "/v1/memories",
                            R"({"memory": {"name": "M", "sourceLanguage": "en"},
                                 "segments": [{"source": "The cat.", "target": "Die Katze."}]})",
                            type);
  ASSERT_EQ(made.code, 200) << made.body;
  const std::string id = nlohmann::json::parse(made.body).at("id").get<std::string>();
  const HttpReply learned = HttpPost(
      address, "/v1/memories/" + id + "/segments",
      R"({"segments": [{"source": "The old house is small.", "target": "STORED"}]})", type);
  ASSERT_EQ(learned.code, 200) << learned.body;
  EXPECT_EQ(nlohmann::json::parse(learned.body).at("segmentCount"), 2);
  const HttpReply translated = HttpPost(
      address, "/v1/translate",
      R"({"contents": ["The old house is small."], "memoryIds": [")" + id + R"("]})", type);
  EXPECT_THAT(translated.body, HasSubstr("\"text\":\"STORED\""));
  EXPECT_THAT(translated.body, HasSubstr("\"kind\":\"KIND_EXACT\""));
  EXPECT_THAT(HttpGet(address, "/v1/memories/" + id + "/segments?start=1").body,
              HasSubstr("STORED"));
  EXPECT_THAT(HttpGet(address, "/v1/memories/" + id + "/segments?start=1").body,
              Not(HasSubstr("Katze")));
  EXPECT_EQ(HttpGet(address, "/v1/memories/" + id + "/segments?start=x").code, 400);
  EXPECT_THAT(HttpGet(address, "/v1/memories").body, HasSubstr(id));
  EXPECT_EQ(HttpGet(address, "/v1/memories/none").code, 404);
}

TEST_F(MemoriesTest, WithoutADirectoryThereAreNone) {
  options_.memories.clear();
  Start();
  v1::ListMemoriesResponse list;
  EXPECT_EQ(Call(&Stub::ListMemories, v1::ListMemoriesRequest(), &list).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  v1::TranslateResponse response;
  EXPECT_EQ(Translate({"any"}, &response).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(MemoriesTest, AreUsedByDefault) {
  std::filesystem::create_directory(options_.memories);
  std::ofstream(options_.memories + "/all.tsv") << kText << "\tSTORED\n";
  options_.default_memories = {{"", "en-de", {"all", "gone"}}};
  Start();
  EXPECT_EQ(Translated({}).hypotheses(0).text(), "STORED");
}

}  // namespace
}  // namespace dragoman::memories_test
