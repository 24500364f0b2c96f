#include "engine/formats/sharded.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/formats/safetensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Sharded : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  // Writes a file with vectors of one element each, given by name and value.
  void Shard(const std::string& file, const std::vector<std::pair<std::string, float>>& tensors) {
    std::string header = "{";
    std::string data;
    for (const auto& [name, value] : tensors) {
      absl::StrAppend(&header, header.size() > 1 ? "," : "", "\"", name,
                      R"(":{"dtype":"F32","shape":[1],"data_offsets":[)", data.size(), ",",
                      data.size() + 4, "]}");
      data.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    header += "}";
    const uint64_t size = header.size();
    std::ofstream out(folder_ + "/" + file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(&size), sizeof(size));
    out << header << data;
  }

  absl::StatusOr<Checkpoint> Open(const std::string& index) {
    std::ofstream(folder_ + "/model.safetensors.index.json") << index;
    return OpenShards(folder_ + "/model.safetensors.index.json", OpenSafetensors);
  }

  const std::string folder_ =
      ::testing::TempDir() + "/" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(Sharded, TensorsOfAllShardsAreOneCheckpoint) {
  Shard("model-00001-of-00002.safetensors", {{"a", 1.0f}, {"b", 2.0f}});
  Shard("model-00002-of-00002.safetensors", {{"c", 3.0f}, {"a", 9.0f}, {"extra", 4.0f}});
  const absl::StatusOr<Checkpoint> checkpoint =
      Open(R"({"metadata":{"total_size":12},"weight_map":{"a":"model-00001-of-00002.safetensors",)"
           R"("b":"model-00001-of-00002.safetensors","c":"model-00002-of-00002.safetensors"}})");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_THAT(*checkpoint->ReadVector("a", 1), ElementsAre(1));  // the index decides
  EXPECT_THAT(*checkpoint->ReadVector("b", 1), ElementsAre(2));
  EXPECT_THAT(*checkpoint->ReadVector("c", 1), ElementsAre(3));
  EXPECT_THAT(*checkpoint->ReadVector("extra", 1), ElementsAre(4));
  EXPECT_EQ(checkpoint->name(), "model.safetensors.index.json");
  EXPECT_EQ(checkpoint->files().size(), 2u);
}

TEST_F(Sharded, AWrongIndexIsRefused) {
  Shard("1.safetensors", {{"a", 1.0f}, {"x", 1.0f}});
  Shard("2.safetensors", {{"b", 2.0f}, {"x", 2.0f}});
  const std::pair<std::string, const char*> lies[] = {
      {"{}", "has no weight_map"},
      {R"({"weight_map":[]})", "has no weight_map"},
      {R"({"weight_map":{}})", "has no weight_map"},
      {R"({"weight_map":{"a":1}})", "a has no file"},
      {R"({"weight_map":{"a":"../1.safetensors"}})", "want a file's plain name"},
      {R"({"weight_map":{"a":"/etc/passwd"}})", "want a file's plain name"},
      {R"({"weight_map":{"a":".."}})", "want a file's plain name"},
      {R"({"weight_map":{"a":""}})", "want a file's plain name"},
      {R"({"weight_map":{"b":"1.safetensors"}})", "says that b is in 1.safetensors"},
      {R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})", "which of two files has x"},
  };
  for (const auto& [index, message] : lies) {
    const absl::Status status = Open(index).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << index;
    EXPECT_THAT(std::string(status.message()), HasSubstr("model.safetensors.index.json"));
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
}

TEST_F(Sharded, AMissingFileIsNotFoundByName) {
  const absl::Status status = Open(R"({"weight_map":{"a":"1.safetensors"}})").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("1.safetensors"));
  EXPECT_EQ(OpenShards("no/such/index.json", OpenSafetensors).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace dragoman
