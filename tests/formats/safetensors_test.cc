#include "engine/formats/safetensors.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file: the length of the header, the header, and `data_size` bytes of data.
std::string FileOf(const std::string& header, size_t data_size) {
  const uint64_t length = header.size();
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof(length));
  bytes += header;
  for (size_t i = 0; i < data_size; ++i) bytes.push_back(static_cast<char>(i % 60));
  return bytes;
}

std::string Entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return absl::StrCat("\"", name, "\":{\"dtype\":\"", dtype, "\",\"shape\":", shape,
                      ",\"data_offsets\":", offsets, "}");
}

class Safetensors : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }

  absl::StatusOr<Checkpoint> Open(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return OpenSafetensors(path_);
  }

  const std::string path_ = ::testing::TempDir() + "/" +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                            ".safetensors";
};

// Reads every tensor, so that a sanitizer notices reads outside of the file.  Reading may only fail
// for numbers that are not finite.
void ReadInFull(const Checkpoint& checkpoint) {
  const auto check = [](const absl::Status& status) {
    ASSERT_TRUE(status.ok() || absl::StrContains(status.message(), "a finite number")) << status;
  };
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    uint64_t elements = 1;
    for (const int64_t dimension : tensor.shape) elements *= static_cast<uint64_t>(dimension);
    ASSERT_EQ(tensor.bytes.size(), elements * SizeOf(tensor.dtype)) << name;
    if (tensor.shape.size() == 2) {
      check(checkpoint
                .ReadMatrix(name, static_cast<int>(tensor.shape[0]),
                            static_cast<int>(tensor.shape[1]))
                .status());
    } else if (tensor.shape.size() == 1) {
      check(checkpoint.ReadVector(name, static_cast<int>(tensor.shape[0])).status());
    }
  }
}

TEST_F(Safetensors, TensorsAreFoundWhereTheHeaderSays) {
  // Entries in another order than their data, with the metadata and trailing spaces that real
  // writers add.
  const std::string header =
      absl::StrCat("{\"__metadata__\":{\"format\":\"pt\"},", Entry("b", "F32", "[1]", "[4,8]"), ",",
                   Entry("a", "BF16", "[2,1]", "[0,4]"), "}   ");
  const absl::StatusOr<Checkpoint> checkpoint = Open(FileOf(header, 8));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  ASSERT_EQ(checkpoint->tensors().size(), 2u);
  EXPECT_THAT(checkpoint->Find("a")->shape, ElementsAre(2, 1));
  EXPECT_EQ(checkpoint->Find("a")->dtype, DType::kBF16);
  EXPECT_EQ(static_cast<int>(checkpoint->Find("b")->bytes[0]), 4);
  EXPECT_EQ(checkpoint->name(), fs::path(path_).filename());
}

TEST_F(Safetensors, AFileWithoutTensorsIsValid) {
  const absl::StatusOr<Checkpoint> checkpoint = Open(FileOf("{}", 0));
  ASSERT_TRUE(checkpoint.ok());
  EXPECT_TRUE(checkpoint->tensors().empty());
}

TEST_F(Safetensors, TheEmbeddedModelAndTheGoldenModelsAreReadable) {
  for (const char* path : {"tests/golden/models/en-de/model.safetensors",
                           "tests/golden/models/marian-trained/model.safetensors",
                           "tests/golden/models/marian-rand-fp16/model.safetensors"}) {
    const absl::StatusOr<Checkpoint> checkpoint = OpenSafetensors(path);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
    EXPECT_TRUE(checkpoint->Has("model.shared.weight"));
    ReadInFull(*checkpoint);
  }
}

TEST_F(Safetensors, AMissingFileIsNotFound) {
  const absl::Status status = OpenSafetensors("no/such/model.safetensors").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no/such/model.safetensors"));
}

TEST_F(Safetensors, EveryContradictionIsRefusedByName) {
  const std::string good = Entry("good", "F32", "[2]", "[0,8]");
  const struct {
    std::string entry;  // the tensor "bad", next to `good`, in a file with 16 bytes of data
    const char* message;
  } lies[] = {
      {Entry("bad", "F32", "[2]", "[8,24]"), "want a range within"},
      {Entry("bad", "F32", "[2]", "[16,8]"), "want a range within"},
      {Entry("bad", "F32", "[2]", "[100,108]"), "want a range within"},
      {Entry("bad", "F32", "[2]", "[8,18446744073709551615]"), "want a range within"},
      {Entry("bad", "F32", "[2]", "[-8,0]"), "want two whole numbers"},
      {Entry("bad", "F32", "[2]", "[8,1e30]"), "want two whole numbers"},
      {Entry("bad", "F32", "[2]", "[8.0,16.0]"), "want two whole numbers"},
      {Entry("bad", "F32", "[2]", "[8]"), "want two whole numbers"},
      {Entry("bad", "F32", "[2]", "[8,12,16]"), "want two whole numbers"},
      {Entry("bad", "F32", "[2]", "\"8,16\""), "want two whole numbers"},
      {Entry("bad", "F32", "[2]", "[8,99999999999999999999999]"), "want two whole numbers"},
      {Entry("bad", "F32", "[3]", "[8,16]"), "has 8 bytes, want 12"},
      {Entry("bad", "F16", "[2]", "[8,16]"), "has 8 bytes, want 4"},
      {Entry("bad", "F32", "[]", "[8,16]"), "has 8 bytes, want 4"},
      {Entry("bad", "F32", "[0]", "[8,8]"), "shape is [0]"},
      {Entry("bad", "F32", "[-2]", "[8,16]"), "shape is [-2]"},
      {Entry("bad", "F32", "[2.0]", "[8,16]"), "shape is [2.0]"},
      {Entry("bad", "F32", "[4294967296,4294967296]", "[8,16]"), "shape is [4294967296"},
      {Entry("bad", "F32", "[2147483647,2147483647,2147483647]", "[8,16]"), "more than fit"},
      {Entry("bad", "F32", "[1,1,1,1,1,1,1,1,2]", "[8,16]"), "shape is"},
      {Entry("bad", "F32", "2", "[8,16]"), "shape is 2"},
      {Entry("bad", "F32", "[[2]]", "[8,16]"), "shape is [[2]]"},
      {Entry("bad", "F99", "[2]", "[8,16]"), "want F32, F16, BF16"},
      {Entry("bad", "F32", "[2]", "[4,12]"), "overlaps"},
      {Entry("bad", "F32", "[2]", "[0,8]"), "overlaps"},
      {Entry("bad", "F32", "[1]", "[12,16]"), "leaves a hole"},
      {good + "," + Entry("bad", "F32", "[2]", "[8,16]") + "," +
           Entry("bad", "F32", "[2]", "[8,16]"),
       "occurs twice"},
      {R"("bad":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[8,16]})", "occurs twice"},
      {R"("bad":{"shape":[2],"data_offsets":[8,16]})", "has no dtype"},
      {R"("bad":{"dtype":"F32","data_offsets":[8,16]})", "has no shape"},
      {R"("bad":{"dtype":"F32","shape":[2]})", "has no data_offsets"},
      {R"("bad":{"dtype":32,"shape":[2],"data_offsets":[8,16]})", "dtype is 32"},
      {R"("bad":[2])", "want an object"},
      {R"("bad":null)", "want an object"},
  };
  for (const auto& [entry, message] : lies) {
    SCOPED_TRACE(entry);
    const std::string first = entry.starts_with(good) ? "" : good + ",";
    const absl::Status status = Open(FileOf("{" + first + entry + "}", 16)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(".safetensors: "), HasSubstr(message)));
    const bool names_an_inner_key = entry.find("\"dtype\":\"F32\",\"dtype\"") != std::string::npos;
    EXPECT_THAT(std::string(status.message()),
                AnyOf(HasSubstr(names_an_inner_key ? "dtype" : "bad"), HasSubstr("good begins")));
  }
}

TEST_F(Safetensors, AHeaderThatContradictsItselfIsRefused) {
  const std::string header = "{" + Entry("a", "F32", "[2]", "[0,8]") + "}";
  const std::string good = FileOf(header, 8);
  const auto with_length = [&](uint64_t length) {
    std::string bytes = good;
    std::memcpy(bytes.data(), &length, sizeof(length));
    return bytes;
  };
  const std::pair<std::string, const char*> lies[] = {
      {"", "has 0 bytes"},
      {good.substr(0, 7), "has 7 bytes"},
      {good.substr(0, 8), "header's length"},
      {good.substr(0, 20), "header's length"},
      {with_length(0), "parse error"},
      {with_length(header.size() - 1), "parse error"},
      {with_length(header.size() + 1), "NUL"},
      {with_length(header.size() + 2), "NUL"},
      {with_length(good.size()), "header's length"},
      {with_length(100'000'001), "header's length"},
      {with_length(std::numeric_limits<uint64_t>::max()), "header's length"},
      {good.substr(0, good.size() - 1), "want a range within"},
      {good + "x", "the tensors end at 8"},
      {FileOf("[]", 0), "want an object"},
      {FileOf("\xFF\xFE", 0), "parse error"},
      {FileOf("{}{}", 0), "parse error"},
      {FileOf("{}", 4), "the tensors end at 0"},
      {FileOf("{\"a\":" + std::string(1'000'000, '['), 0), "nests deeper"},
      {FileOf("{\"a\":" + std::string(1'000'000, '{'), 0), "parse error"},
  };
  for (const auto& [bytes, message] : lies) {
    const absl::Status status = Open(bytes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
}

TEST_F(Safetensors, AMutatedFileNeverCrashesAndWhatIsAcceptedIsReadable) {
  constexpr uint32_t kSeed = 7;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const std::string good = FileOf(
      "{" + Entry("a", "F32", "[2,3]", "[0,24]") + "," + Entry("b", "F16", "[4]", "[24,32]") + "}",
      32);
  int accepted = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = good;
    const int flips = static_cast<int>(random() % 4);
    for (int i = 0; i < flips; ++i) {
      char& byte = bytes[random() % bytes.size()];
      byte = random() % 2 == 0 ? static_cast<char>(random()) : "0123456789[]{},:\""[random() % 17];
    }
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    const absl::StatusOr<Checkpoint> checkpoint = Open(bytes);
    if (!checkpoint.ok()) {
      ASSERT_EQ(checkpoint.status().code(), absl::StatusCode::kInvalidArgument);
      continue;
    }
    ++accepted;
    ReadInFull(*checkpoint);
  }
  EXPECT_GT(accepted, 200);
  EXPECT_LT(accepted, 1800);
}

}  // namespace
}  // namespace dragoman
