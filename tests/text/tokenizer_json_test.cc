// tokenizer.json against Hugging Face's tokenizers library:
// tests/golden/tokenizer_json/make_cases.py.

#include "engine/text/tokenizer_json.h"

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::tokenizer_json_test {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<int32_t>;

const std::string kFolder = "tests/golden/tokenizer_json/";

std::string Write(const std::string& text) {
  const std::string path = testing::TempDir() + "/changed_tokenizer.json";
  std::ofstream(path) << text;
  return path;
}

Tokenizer Around(const TokenizerJson& json) {
  TokenizerParts parts;
  parts.source_pieces = parts.target_pieces = json.pieces;
  parts.numbered_pieces = true;
  parts.special_tokens = json.added;
  Vocabulary vocabulary;
  const std::vector<std::string> pieces = json.pieces->Pieces();
  for (size_t id = 0; id < pieces.size(); ++id) {
    (void)vocabulary.Add(pieces[id], static_cast<int64_t>(id));
  }
  parts.source_vocabulary = std::make_shared<const Vocabulary>(std::move(vocabulary));
  parts.target_vocabulary = parts.source_vocabulary;
  parts.frame = [before = json.before, after = json.after](const LanguagePair&) {
    return Frame{.before = before, .after = after};
  };
  return Tokenizer(std::move(parts));
}

// Parts of a file whose form the library checks and this reader does not need.
bool ChangesWhatIsNotRead(const Json& patch) {
  for (const Json& change : patch) {
    const std::string path = change.at("path");
    for (const char* part : {"/version", "/post_processor/pair", "/type_id", "/tokens"}) {
      if (absl::StrContains(path, part)) return true;
    }
    if (path.starts_with("/post_processor/special_tokens/") && path.ends_with("/id")) return true;
  }
  return false;
}

class TokenizerJsonTest : public ::testing::Test {
 protected:
  void SetUp() override {
    cases_ = *ReadJsonObject(kFolder + "cases.json");
    for (const char* name : {"unigram", "bpe"}) {
      files_[name] = *ReadJsonObject(kFolder + name + ".json");
    }
    ASSERT_GT(cases_.at("texts").size(), 5u);
  }

  Json cases_, files_;
};

TEST_F(TokenizerJsonTest, TextsBecomeTheIdsOfTheLibrary) {
  for (const char* name : {"unigram", "bpe"}) {
    const auto json = ReadTokenizerJson(kFolder + name + ".json");
    ASSERT_TRUE(json.ok()) << json.status();
    const Tokenizer tokenizer = Around(*json);
    for (size_t t = 0; t < cases_.at("texts").size(); ++t) {
      const std::string text = cases_.at("texts")[t];
      EXPECT_EQ(tokenizer.Encode(text).ids, cases_.at("ids").at(name)[t].get<Ids>())
          << name << ": " << text;
    }
  }
}

TEST_F(TokenizerJsonTest, AChangedFileIsRefusedOrReadAsTheLibraryReadsIt) {
  ASSERT_EQ(cases_.at("cases").size(), 2000u);
  int read = 0, refused = 0;
  for (const Json& each : cases_.at("cases")) {
    SCOPED_TRACE(absl::StrCat(each.at("file").get<std::string>(), " ", each.at("patch").dump()));
    const Json& ids = each.at("ids");
    const auto json = ReadTokenizerJson(
        Write(files_.at(each.at("file").get<std::string>()).patch(each.at("patch")).dump()));
    if (!json.ok()) {
      EXPECT_TRUE(absl::IsInvalidArgument(json.status()) || absl::IsUnimplemented(json.status()))
          << json.status();
      ++refused;
      continue;
    }
    if (ids == "refused") {
      EXPECT_TRUE(ChangesWhatIsNotRead(each.at("patch"))) << "refused by the library";
      continue;
    }
    ++read;
    const Tokenizer tokenizer = Around(*json);
    const Json& wanted = ids == "same" ? cases_.at("ids").at(each.at("file")) : ids;
    for (size_t t = 0; t < wanted.size(); ++t) {
      const std::string text = cases_.at("texts")[t];
      const Ids found = tokenizer.Encode(text, tokenizer.FrameOf({}), /*with_spans=*/true).ids;
      if (!wanted[t].is_null()) {
        EXPECT_EQ(found, wanted[t].get<Ids>()) << text;
      }
      (void)tokenizer.Decode(found);
    }
  }
  EXPECT_GT(read, 400);
  EXPECT_GT(refused, 400);
}

TEST_F(TokenizerJsonTest, SpansAreThePartsOfTheText) {
  const auto json = ReadTokenizerJson(kFolder + "bpe.json");
  ASSERT_TRUE(json.ok()) << json.status();
  const std::string text = "The  ﬁve\tcats";
  const EncodedText encoded = Around(*json).Encode(text, {}, /*with_spans=*/true);
  std::string joined;
  for (const TextSpan& span : encoded.spans) joined += text.substr(span.begin, span.size());
  EXPECT_EQ(encoded.spans.size(), encoded.ids.size());
  // The two letters of the ligature come from one character, and so have it each.
  EXPECT_THAT(joined, testing::AnyOf("Theﬁvecats", "Theﬁﬁvecats")) << joined;
}

TEST_F(TokenizerJsonTest, DecodesWhatItEncoded) {
  for (const char* name : {"unigram", "bpe"}) {
    const auto json = ReadTokenizerJson(kFolder + name + ".json");
    ASSERT_TRUE(json.ok()) << json.status();
    const Tokenizer tokenizer = Around(*json);
    const std::string text = "The cat sees five dogs.";
    EXPECT_EQ(tokenizer.Decode(tokenizer.EncodeTarget(text)), text);
    EXPECT_EQ(tokenizer.DecodeWithSpans(tokenizer.EncodeTarget(text)).text, text);
  }
}

// A piece model of bytes, as ByT5's.
TEST(PieceModelOfBytes, CutsAndJoinsBytes) {
  const auto bytes = PieceModel::OfBytes(3);
  std::vector<TextSpan> spans;
  EXPECT_EQ(bytes->EncodeAsIds("a€", true, &spans), Ids({100, 229, 133, 175}));
  EXPECT_EQ(spans, std::vector<TextSpan>({{0, 1}, {1, 4}, {1, 4}, {1, 4}}));
  EXPECT_EQ(bytes->Encode("é"), std::vector<std::string>({"<0xC3>", "<0xA9>"}));
  EXPECT_EQ(bytes->Decode({"<0x61>", "<0xE2>", "<0x82>", "<0x62>", "<0xC3>", "<0xA9>"}), "abé");
}

}  // namespace
}  // namespace dragoman::tokenizer_json_test
