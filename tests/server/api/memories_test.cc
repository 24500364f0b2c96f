// Translation memories over gRPC and HTTP: storing them, using them, and who sees which.

#include <string>
#include <utility>
#include <vector>

#include "dragoman/v1/translation.grpc.pb.h"
#include "engine/base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/api/kept_fixture.h"
#include "tests/server/http_client.h"

namespace dragoman::memories_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kText[] = "The old house is small.";

class MemoriesTest : public KeptTest<v1::MemoryService, &v1::ServerConfig::mutable_memory_files> {
 protected:
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

  static v1::TranslateRequest Request(const std::vector<std::string>& ids,
                                      const std::string& text = kText) {
    v1::TranslateRequest request = RequestFor({text});
    for (const std::string& id : ids) request.add_memory_ids(id);
    return request;
  }
};

TEST_F(MemoriesTest, ACorrectionCountsFromTheNextRequestOn) {
  Start();
  const std::string id = Store(kText, "Erste Fassung.");
  const std::string plain = TextOf(Request({}));
  v1::Translation translation = Translated(Request({id}));
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
    translation = Translated(Request({id}));
    EXPECT_EQ(translation.hypotheses(0).text(), target);
    EXPECT_EQ(translation.memory_matches(0).memory_version(), version);
  }
  EXPECT_EQ(TextOf(Request({})), plain);
  server_->AwaitSample("dragoman_memory_matches_total{kind=\"exact\"}", 5);
}

TEST_F(MemoriesTest, ARepairFollowsWhatIsLearnedThroughTheCache) {
  Start();
  const std::string changed = "The old house is big.";
  const std::string id = Store(kText, TextOf(Request({})));
  const v1::Translation first = Translated(Request({id}, changed));
  ASSERT_EQ(first.memory_matches_size(), 1);
  EXPECT_EQ(first.memory_matches(0).kind(), v1::MemoryMatch::KIND_REPAIRED);
  EXPECT_EQ(TextOf(Request({id}, changed)), first.hypotheses(0).text());
  Learn(id, changed, "Gelernt.");
  EXPECT_EQ(TextOf(Request({id}, changed)), "Gelernt.");
}

TEST_F(MemoriesTest, TwoPrincipalsNeverSeeEachOthersEntries) {
  StartWithTokens();
  const std::string alices = Store(kText, "Alices Satz.", kAlice);
  const std::string bobs = Store(kText, "Bobs Satz.", kBob);
  const std::string shared = Store("The dog sleeps.", "Für alle.", kAlice, /*shared=*/true);
  EXPECT_EQ(TextOf(Request({alices}), kAlice), "Alices Satz.");
  EXPECT_EQ(TextOf(Request({bobs}), kBob), "Bobs Satz.");
  EXPECT_EQ(TextOf(Request({shared}, "The dog sleeps."), kBob), "Für alle.");
  v1::TranslateResponse response;
  grpc::Status status = Translate(Request({alices}), &response, kBob);
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
  EXPECT_EQ(Call(&Stub::GetMemory, get, &memory, kBob).error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(Call(&Stub::GetMemorySegments, segments, &page, kBob).error_code(),
            StatusCode::NOT_FOUND);
  EXPECT_EQ(Call(&Stub::LearnSegments, learn, &memory, kBob).error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(Call(&Stub::DeleteMemory, gone, &deleted, kBob).error_code(), StatusCode::NOT_FOUND);
  learn.set_id(shared);
  EXPECT_EQ(Call(&Stub::LearnSegments, learn, &memory, kBob).error_code(),
            StatusCode::FAILED_PRECONDITION);
  v1::ListMemoriesResponse list;
  ASSERT_TRUE(Call(&Stub::ListMemories, v1::ListMemoriesRequest(), &list, kBob).ok());
  EXPECT_EQ(list.memories_size(), 2);
  for (const v1::TranslationMemory& each : list.memories()) EXPECT_NE(each.id(), alices);
  EXPECT_TRUE(Call(&Stub::DeleteMemory, gone, &deleted, kAlice).ok());
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

TEST_F(MemoriesTest, DeepLNamesOneAndItsThreshold) {
  Start();
  const std::string id = Store(kText, TextOf(Request({})));
  Learn(id, "The cat sleeps.", "STORED");
  const auto ask = [&](const std::string& text, const std::string& memory) {
    return HttpPost(server_->server().http_address(), "/v2/translate",
                    R"({"source_lang": "EN", "target_lang": "DE", "text": [")" + text + R"("], )" +
                        memory + "}",
                    "Content-Type: application/json\r\n");
  };
  const std::string named = R"("translation_memory_id": ")" + id + "\"";
  EXPECT_THAT(ask("The cat sleeps.", named).body, HasSubstr("\"STORED\""));
  server_->AwaitSample("dragoman_memory_matches_total{kind=\"exact\"}", 1);
  // Five of six words are the same: 83 %.
  const auto similar = [&](const std::string& threshold) {
    return ask("The old house is big.", named + R"(, "translation_memory_threshold": )" + threshold)
        .code;
  };
  EXPECT_EQ(similar("84"), 200);
  server_->AwaitSample("dragoman_memory_matches_total{kind=\"repaired\"}", 0);
  EXPECT_EQ(similar("83"), 200);
  EXPECT_EQ(similar("0"), 200);  // the least here is 50
  server_->AwaitSample("dragoman_memory_matches_total{kind=\"repaired\"}", 2);
  EXPECT_EQ(similar("101"), 400);
  EXPECT_EQ(ask("The cat sleeps.", R"("translation_memory_id": "none")").code, 404);
}

TEST_F(MemoriesTest, OneThatCannotBeReadIsToldAndTheOthersServe) {
  PutFile("broken.tsv", std::string(kText) + "\tSTORED\nNo target.\n");
  PutFile("whole.tsv", std::string(kText) + "\tSTORED\n");
  Start();
  EXPECT_EQ(TextOf(Request({"whole"})), "STORED");
  const std::string why = "the translation memory \"broken\" cannot be read: broken.tsv: line 2";
  v1::TranslateResponse response;
  v1::LearnSegmentsRequest learn;
  learn.set_id("broken");
  *learn.add_segments() = SegmentOf("a", "b");
  v1::TranslationMemory memory;
  for (const grpc::Status& status :
       {Translate(Request({"broken"}), &response), Call(&Stub::LearnSegments, learn, &memory)}) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_THAT(status.error_message(), HasSubstr(why));
  }
  const HttpReply ready = HttpGet(server_->server().http_address(), "/readyz");
  EXPECT_EQ(ready.code, 200);
  EXPECT_THAT(ready.body, HasSubstr("ready\ntranslation memories: "));
  EXPECT_THAT(ready.body, HasSubstr(why));
  EXPECT_THAT(ready.body, Not(HasSubstr("No target")));
}

TEST_F(MemoriesTest, AreUsedByDefault) {
  PutFile("all.tsv", std::string(kText) + "\tSTORED\n");
  UseByDefault("en-de", {"all", "gone"}, options_.config.mutable_default_memories());
  Start();
  EXPECT_EQ(TextOf(Request({})), "STORED");
}

}  // namespace
}  // namespace dragoman::memories_test
