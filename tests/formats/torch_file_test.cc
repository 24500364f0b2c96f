#include "engine/formats/torch_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/formats/torch_pickle.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::torch_file_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr char kZip[] = "tests/golden/formats/torch.bin";
constexpr char kOld[] = "tests/golden/formats/torch_old.bin";

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

class TorchFile : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }

  absl::StatusOr<Checkpoint> Open(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return OpenTorchFile(path_);
  }

  const std::string path_ = ::testing::TempDir() + "/" +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                            ".bin";
};

// --- Hand-written pickles

std::string Text(const std::string& text) {
  return "X" + std::string(1, static_cast<char>(text.size())) + std::string(3, '\0') + text;
}
std::string Number(int number) { return "K" + std::string(1, static_cast<char>(number)); }
std::string Global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
std::string Storage(const std::string& type, const std::string& key, int elements) {
  return "(" + Text("storage") + Global("torch", type) + Text(key) + Text("cpu") +
         Number(elements) + "tQ";
}
// A tensor [2, 3] that views the storage.
std::string TensorOf(const std::string& storage) {
  return Global("torch._utils", "_rebuild_tensor_v2") + "(" + storage + Number(0) + Number(2) +
         Number(3) + "\x86" + Number(3) + Number(1) + "\x86" + "\x89" + "}" + "tR";
}
std::string Pickle(const std::string& steps) { return "\x80\x02" + steps + "."; }
std::string Dictionary(const std::string& value) { return Pickle("}" + Text("w") + value + "s"); }

absl::StatusOr<std::vector<TorchTensor>> Read(const std::string& pickle) {
  absl::Span<const std::byte> bytes(reinterpret_cast<const std::byte*>(pickle.data()),
                                    pickle.size());
  return ReadTensorPickle(&bytes);
}

TEST(TorchPickle, ATensorIsDescribedAndNothingElseIsLeft) {
  const std::string pickle = Dictionary(TensorOf(Storage("HalfStorage", "7", 6))) + "rest";
  absl::Span<const std::byte> bytes(reinterpret_cast<const std::byte*>(pickle.data()),
                                    pickle.size());
  const absl::StatusOr<std::vector<TorchTensor>> tensors = ReadTensorPickle(&bytes);
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  ASSERT_EQ(tensors->size(), 1u);
  const TorchTensor& tensor = tensors->front();
  EXPECT_EQ(tensor.name, "w");
  EXPECT_EQ(tensor.dtype, DType::kF16);
  EXPECT_EQ(tensor.storage, "7");
  EXPECT_EQ(tensor.storage_elements, 6);
  EXPECT_THAT(tensor.shape, ElementsAre(2, 3));
  EXPECT_THAT(tensor.strides, ElementsAre(3, 1));
  EXPECT_EQ(bytes.size(), 4u);
}

TEST(TorchPickle, AnythingThatCouldRunCodeIsRefusedByName) {
  const std::string command = Text("touch /tmp/taken");
  const std::pair<std::string, const char*> attacks[] = {
      {Pickle(Global("os", "system") + command + "\x85R"), "wants os.system"},
      {Pickle(Global("posix", "system") + command + "\x85R"), "wants posix.system"},
      {Pickle(Global("builtins", "eval") + command + "\x85R"), "wants builtins.eval"},
      {Pickle(Text("os") + Text("system") + "\x93" + command + "\x85R"), "wants os.system"},
      {Dictionary(Global("torch", "load")), "wants torch.load"},
      {Dictionary(Global("torch._utils", "_rebuild_tensor_v2.__globals__")), "wants torch._utils."},
      {Pickle("(" + command + "ios\nsystem\n"), "step 0x69"},                   // INST
      {Pickle("(" + Global("collections", "OrderedDict") + "o"), "step 0x6f"},  // OBJ
      {Pickle(Global("collections", "OrderedDict") + ")\x81"), "step 0x81"},    // NEWOBJ
      {Pickle("\x82\x01"), "step 0x82"},                                        // EXT1
  };
  for (const auto& [pickle, message] : attacks) {
    const absl::Status status = Read(pickle).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
    EXPECT_THAT(std::string(status.message()), HasSubstr("nothing of it was run"));
  }
}

TEST(TorchPickle, AnythingButADictionaryOfTensorsIsRefused) {
  const std::string storage = Storage("FloatStorage", "0", 6);
  const std::string rebuild = Global("torch._utils", "_rebuild_tensor_v2");
  const std::pair<std::string, const char*> lies[] = {
      {"", "cut off"},
      {"\x80", "cut off"},
      {"\x80\x02", "cut off"},
      {Dictionary(TensorOf(storage)).substr(0, 80), "cut off"},
      {"X\xFF\xFF\xFF\xFFw", "cut off"},
      {"cos", "cut off"},
      {Pickle(""), "not there"},
      {Pickle("0"), "not there"},
      {Pickle("\x87"), "not there"},
      {Pickle("t"), "mark"},
      {Pickle("Nu"), "mark"},
      {Pickle("NN"
              "a"),
       "not a list"},
      {Pickle("h\x05"), "never remembered"},
      {Pickle("q\x05"), "not there"},
      {Pickle("NN\x93"), "not a string"},
      {Pickle("NNR"), "not a function"},
      {Pickle("N"), "no dictionary"},
      {Pickle("}"), "no tensor by a name"},
      {Pickle("]NNa"), "not a list"},
      {Pickle("]Na"), "no dictionary"},
      {Dictionary("N"), "no tensor by a name"},
      {Dictionary(storage), "no tensor by a name"},
      {Pickle("NQ"), "storage"},
      {Pickle(")Q"), "storage"},
      {Dictionary("(" + Text("storage") + Text("Float") + Text("0") + Text("cpu") + Number(6) +
                  "tQ"),
       "storage"},
      {Dictionary(rebuild + ")R"), "a tensor otherwise"},
      {Dictionary(rebuild + "(NNNNtR"), "a tensor otherwise"},
      {Dictionary(rebuild + "(" + storage + Number(0) + "NNtR"), "without a shape"},
      {Dictionary(rebuild + "(" + storage + Number(0) + Number(2) + "\x85" + ")" + "tR"),
       "a tensor otherwise"},
      {Dictionary(rebuild + "(" + storage + Number(0) + Text("2") + "\x85" + Number(1) + "\x85tR"),
       "not a number"},
      {Dictionary(Global("torch._utils", "_rebuild_parameter") + "N\x85R"), "not a tensor"},
      {Dictionary(Global("collections", "OrderedDict") + "N\x85R"), "other than a list"},
      {Dictionary(Global("collections", "OrderedDict") + TensorOf(storage) + "\x85R"), "other than a list"},
      {Dictionary(Global("collections", "OrderedDict") + "]" + "]Na" + "a\x85R"), "other than pairs"},
  };
  for (const auto& [pickle, message] : lies) {
    const absl::Status status = Read(pickle).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
}

TEST(TorchPickle, APickleThatGrowsWithoutEndIsRefused) {
  for (const char* step : {"N", "]", "(", "h\0"}) {
    std::string pickle = "\x80\x02Nq";
    pickle.push_back('\0');
    for (int i = 0; i < 600'000; ++i) pickle.append(step, *step == 'h' ? 2 : 1);
    EXPECT_THAT(std::string(Read(pickle).status().message()), HasSubstr("more values than any"));
  }
  // A list that contains itself, which is never followed.
  EXPECT_THAT(std::string(Read(Pickle(std::string("]q\0h\0a", 6))).status().message()),
              HasSubstr("no dictionary"));
}

TEST_F(TorchFile, BothFormatsHoldTheSame) {
  for (const char* path : {kZip, kOld}) {
    SCOPED_TRACE(path);
    const absl::StatusOr<Checkpoint> checkpoint = OpenTorchFile(path);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
    std::vector<std::string> names;
    for (const auto& [name, tensor] : checkpoint->tensors()) names.push_back(name);
    EXPECT_THAT(names, UnorderedElementsAre("shared.weight", "lm_head.weight", "by_columns.weight",
                                            "part.bias", "half.weight", "bfloat.weight",
                                            "parameter.weight", "position_ids"));
    const Tensor* const shared = checkpoint->Find("shared.weight");
    EXPECT_EQ(shared->bytes.data(), checkpoint->Find("lm_head.weight")->bytes.data());
    EXPECT_THAT(checkpoint->ReadMatrix("shared.weight", 3, 2)->Row(2), ElementsAre(1.0f, 1.25f));
    EXPECT_THAT(checkpoint->ReadMatrix("by_columns.weight", 3, 2)->Row(0), ElementsAre(0, 3));
    EXPECT_THAT(checkpoint->ReadMatrix("by_columns.weight", 3, 2)->Row(2), ElementsAre(2, 5));
    EXPECT_THAT(*checkpoint->ReadVector("part.bias", 4), ElementsAre(4, 5, 6, 7));
    EXPECT_THAT(checkpoint->ReadMatrix("half.weight", 2, 2)->Row(1), ElementsAre(0, 65504));
    EXPECT_THAT(*checkpoint->ReadVector("bfloat.weight", 2), ElementsAre(1.0f, -2.5f));
    EXPECT_THAT(*checkpoint->ReadVector("parameter.weight", 2), ElementsAre(7, 8));
    EXPECT_EQ(checkpoint->Find("position_ids")->dtype, DType::kI64);
    EXPECT_FALSE(checkpoint->ReadMatrix("position_ids", 1, 4).ok());
  }
}

TEST_F(TorchFile, TruncatedFilesAndTrailingBytesAreRefused) {
  for (const char* path : {kZip, kOld}) {
    const std::string good = ReadFile(path);
    ASSERT_FALSE(good.empty());
    for (size_t size = 0; size < good.size(); size += 1 + size / 50) {
      const absl::Status status = Open(good.substr(0, size)).status();
      ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << path << " at " << size;
    }
  }
  EXPECT_FALSE(Open(ReadFile(kZip).substr(0, ReadFile(kZip).size() - 1)).ok());
  EXPECT_THAT(std::string(Open(ReadFile(kOld) + "x").status().message()),
              HasSubstr("1 bytes behind its last storage"));
  EXPECT_THAT(std::string(Open(ReadFile(kZip) + ReadFile(kZip)).status().message()),
              HasSubstr("bytes that belong to no entry"));
}

TEST_F(TorchFile, ATensorOutsideOfItsStorageIsRefusedByName) {
  const std::string good = ReadFile(kOld);
  // The shape (3, 2) of shared.weight at its first occurrence.
  const std::string shape = Number(3) + Number(2) + "\x86";
  const std::string larger = Number(3) + Number(200) + "\x86";
  ASSERT_NE(good.find(shape), std::string::npos);
  std::string bad = good;
  bad.replace(bad.find(shape), shape.size(), larger);
  EXPECT_THAT(
      std::string(Open(bad).status().message()),
      HasSubstr("shared.weight has shape [3, 200] from element 0, but its storage ends at 6"));
  const std::string strides = Number(2) + Number(1) + "\x86";
  bad = good;
  bad.replace(bad.find(strides), strides.size(), Number(1) + Number(1) + "\x86");
  EXPECT_THAT(std::string(Open(bad).status().message()), HasSubstr("strides [1, 1]"));
}

TEST_F(TorchFile, OtherFilesAreRefused) {
  EXPECT_EQ(OpenTorchFile("no/such.bin").status().code(), absl::StatusCode::kNotFound);
  for (const std::string bytes : {"", "hello", "\x80\x02}.", "PK\x03\x04"}) {
    EXPECT_EQ(Open(bytes).status().code(), absl::StatusCode::kInvalidArgument) << bytes;
  }
}

}  // namespace
}  // namespace dragoman::torch_file_test
