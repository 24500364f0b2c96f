#include "engine/text/tokenizer.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "engine/base/json.h"
#include "engine/base/utf8.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/text/load_tokenizer.h"

namespace dragoman::tokenizer_test {
namespace {

using ::testing::ElementsAre;
using ::testing::TestWithParam;
using ::testing::Values;

constexpr char kExpected[] = "tests/golden/expected/";

nlohmann::json Golden(const std::string& model) {
  return *ReadJsonObject(kExpected + model + "/golden.json");
}

class MarianGolden : public TestWithParam<const char*> {};

TEST_P(MarianGolden, EncodesAsHuggingFaceDoes) {
  const auto tokenizer = Load(std::string(kModels) + GetParam());
  const nlohmann::json golden = Golden(GetParam());
  ASSERT_EQ(golden["inputs"].size(), 15u);
  for (const nlohmann::json& input : golden["inputs"]) {
    const EncodedText encoded = tokenizer->Encode(input["text"].get<std::string>());
    EXPECT_EQ(encoded.ids, input["input_ids"].get<std::vector<int32_t>>()) << input["text"];
    std::vector<std::string> pieces;
    for (const int32_t id : encoded.ids) pieces.push_back(tokenizer->SourcePiece(id));
    const auto expected = input["pieces"].get<std::vector<std::string>>();
    EXPECT_EQ(pieces, expected) << input["text"];
  }
}

TEST_P(MarianGolden, DecodesAsHuggingFaceDoes) {
  const auto tokenizer = Load(std::string(kModels) + GetParam());
  const nlohmann::json golden = Golden(GetParam());
  int outputs = 0;
  for (const nlohmann::json& setting : golden["outputs"]) {
    for (const nlohmann::json& input : setting) {
      for (const char* semantics : {"legacy", "vectorized"}) {
        if (!input.contains(semantics)) continue;
        for (const nlohmann::json& output : input[semantics]) {
          const auto ids = output["ids"].get<std::vector<int32_t>>();
          EXPECT_EQ(tokenizer->Decode(ids), output["text"].get<std::string>()) << output["ids"];
          ++outputs;
        }
      }
    }
  }
  EXPECT_GT(outputs, 300);
}

// Every token covers the bytes that it was made from; the end of the sentence covers none.
TEST_P(MarianGolden, SpansAreThePartsOfTheText) {
  const auto tokenizer = Load(std::string(kModels) + GetParam());
  const nlohmann::json golden = Golden(GetParam());
  for (const nlohmann::json& input : golden["inputs"]) {
    const std::string text = input["text"];
    SCOPED_TRACE(text);
    const EncodedText plain = tokenizer->Encode(text);
    EXPECT_TRUE(plain.spans.empty());
    const EncodedText encoded = tokenizer->Encode(text, tokenizer->FrameOf({}), true);
    EXPECT_EQ(encoded.ids, plain.ids);
    ASSERT_EQ(encoded.spans.size(), encoded.ids.size());
    EXPECT_EQ(encoded.spans.back(), (TextSpan{text.size(), text.size()}));
    size_t end = 0;
    for (size_t i = 0; i + 1 < encoded.ids.size(); ++i) {
      const TextSpan span = encoded.spans[i];
      ASSERT_LE(span.begin, span.end);
      ASSERT_GE(span.end, end);
      end = span.end;
      std::string piece = tokenizer->SourcePiece(encoded.ids[i]);
      if (piece.starts_with("▁")) piece = piece.substr(3);
      const std::string part = text.substr(span.begin, span.size());
      const bool ascii = std::all_of(part.begin(), part.end(), [](char c) { return c > 0; });
      if (ascii && piece != "<unk>" && !piece.empty()) {  // others may have been normalized
        EXPECT_EQ(part, piece);
      }
    }
  }
}

TEST_P(MarianGolden, DecodingWithSpansGivesTheSameText) {
  const auto tokenizer = Load(std::string(kModels) + GetParam());
  std::mt19937 random(7);
  std::uniform_int_distribution<int32_t> any(-1, tokenizer->target_vocabulary_size());
  for (int i = 0; i < 300; ++i) {
    std::vector<int32_t> ids(static_cast<size_t>(i) % 12);
    for (int32_t& id : ids) id = any(random);
    const Tokenizer::DecodedText decoded = tokenizer->DecodeWithSpans(ids);
    EXPECT_EQ(decoded.text, tokenizer->Decode(ids));
    ASSERT_EQ(decoded.spans.size(), ids.size());
    size_t end = 0;
    for (size_t t = 0; t < ids.size(); ++t) {
      ASSERT_LE(decoded.spans[t].begin, decoded.spans[t].end);
      ASSERT_GE(decoded.spans[t].end, end);
      end = decoded.spans[t].end;
      ASSERT_LE(end, decoded.text.size());
      std::string piece = tokenizer->TargetPiece(ids[t]);
      if (piece.starts_with("▁")) piece = piece.substr(3);
      const TextSpan span = decoded.spans[t];
      if (span.size() > 0 && !piece.empty() && piece[0] != '<') {
        EXPECT_EQ(decoded.text.substr(span.begin, span.size()), piece);
      }
    }
  }
}

TEST(Spans, OfATruncatedTextAreFewer) {
  const auto tokenizer = Load(std::string(kModels) + "marian-trained");
  const EncodedText whole =
      tokenizer->Encode("The old teacher sees a small house.", tokenizer->FrameOf({}), true);
  EncodedText encoded = whole;
  encoded.Truncate(static_cast<int>(whole.ids.size()));
  EXPECT_EQ(encoded.ids, whole.ids);
  encoded.Truncate(3);
  EXPECT_THAT(encoded.ids, ElementsAre(whole.ids[0], whole.ids[1], whole.ids.back()));
  EXPECT_THAT(encoded.spans, ElementsAre(whole.spans[0], whole.spans[1], whole.spans.back()));
  EXPECT_EQ(encoded.text_tokens, 2);
  encoded.Truncate(0);  // the end of the sentence stays
  EXPECT_THAT(encoded.ids, ElementsAre(whole.ids.back()));
}

TEST(Spans, OfUnknownTokensCoverWhatIsWrittenInTheirPlace) {
  const auto tokenizer = Load(std::string(kModels) + "marian-trained");
  std::vector<int32_t> ids = tokenizer->EncodeTarget("Das Haus");
  const size_t place = ids.size();
  ids.push_back(tokenizer->target_unknown_id());
  std::vector<std::string> words(ids.size());
  words.back() = "漢字";
  const Tokenizer::DecodedText decoded = tokenizer->DecodeWithSpans(ids, words);
  EXPECT_EQ(decoded.text, "Das Haus 漢字");
  EXPECT_EQ(decoded.spans[place], (TextSpan{9, 15}));
}

INSTANTIATE_TEST_SUITE_P(Models, MarianGolden,
                         Values("marian-trained", "marian-rand", "marian-rand-fp16",
                                "marian-padheavy-renorm"));

// Families whose languages are tokens or prefixes, with the pair that the golden was made for.
struct FamilyGolden {
  const char* name;
  LanguagePair pair;
  // Some tokenizers do not know that their language codes are special tokens, and decode them as
  // text.
  const char* printed_language = "";
};

class FamilyTokenizer : public TestWithParam<FamilyGolden> {};

TEST_P(FamilyTokenizer, EncodesAndDecodesAsHuggingFaceDoes) {
  const auto tokenizer = Load(std::string(kModels) + GetParam().name);
  const nlohmann::json golden = Golden(GetParam().name);
  const auto pair = tokenizer->languages().Resolve(GetParam().pair.source, GetParam().pair.target);
  ASSERT_TRUE(pair.ok()) << pair.status();
  const Frame frame = tokenizer->FrameOf(*pair);
  for (const nlohmann::json& input : golden["inputs"]) {
    if (input["text"] == "") continue;  // nothing to translate, so the frame does not matter
    const EncodedText encoded = tokenizer->Encode(input["text"].get<std::string>(), frame);
    EXPECT_EQ(encoded.ids, input["input_ids"].get<std::vector<int32_t>>()) << input["text"];
  }
  int outputs = 0;
  for (const nlohmann::json& setting : golden["outputs"]) {
    for (const nlohmann::json& input : setting) {
      for (const nlohmann::json& output : input["legacy"]) {
        std::string text = output["text"].get<std::string>();
        const std::string printed = GetParam().printed_language;
        for (size_t i = text.find(printed); !printed.empty() && i != std::string::npos;
             i = text.find(printed, i)) {
          text.erase(i, printed.size() + (i == 0 ? 1 : 0));
        }
        EXPECT_EQ(tokenizer->Decode(output["ids"].get<std::vector<int32_t>>()), text);
        ++outputs;
      }
    }
  }
  EXPECT_GT(outputs, 300);
}

INSTANTIATE_TEST_SUITE_P(Families, FamilyTokenizer,
                         Values(FamilyGolden{"m2m100-trained", {"en", "de"}, "__de__"},
                                FamilyGolden{"nllb-trained", {"en", "de-AT"}},
                                FamilyGolden{"mbart50-trained", {"en-US", "de"}},
                                FamilyGolden{"t5v11-trained", {"en", "de"}}));

TEST(Tokenizer, AgreesWithHuggingFaceOnTwoHundredRealSentences) {
  const auto tokenizer = Load("tests/golden/models/en-de");
  const nlohmann::json golden = Golden("en-de");
  ASSERT_EQ(golden["inputs"].size(), 200u);
  for (const nlohmann::json& input : golden["inputs"]) {
    EXPECT_EQ(tokenizer->Encode(input["text"].get<std::string>()).ids,
              input["input_ids"].get<std::vector<int32_t>>());
    for (const nlohmann::json& output : input["beam4"]) {
      EXPECT_EQ(tokenizer->Decode(output["ids"].get<std::vector<int32_t>>()),
                output["text"].get<std::string>());
    }
  }
}

TEST(Tokenizer, AnEmptyOrBlankTextIsEos) {
  const auto tokenizer = Load("tests/golden/models/en-de");
  EXPECT_EQ(tokenizer->Encode("").text_tokens, 0);
  EXPECT_THAT(tokenizer->Encode("").ids, ElementsAre(0));
  EXPECT_THAT(tokenizer->Encode(" \t\n ").ids, ElementsAre(0));
}

TEST(Tokenizer, ALanguageCodeIsOneTokenOnlyWhereTheTextBegins) {
  const auto tokenizer = Load(std::string(kModels) + "marian-trained");
  EXPECT_EQ(tokenizer->Encode(">>deu<< a").ids.front(), 2);
  EXPECT_NE(tokenizer->Encode("a >>deu<<").ids,
            tokenizer->Encode("a").ids);  // nothing is dropped in the middle of a text
  EXPECT_EQ(tokenizer->Encode(">>not a code<< a").ids, tokenizer->Encode(" >>not a code<< a").ids);
  EXPECT_GT(tokenizer->Encode(">><< a").ids.size(), 3u);
}

TEST(Tokenizer, TheLongestSpecialTokenWins) {
  TokenizerParts parts;
  parts.source_pieces = parts.target_pieces = PieceModel::OfSpaces();
  parts.source_vocabulary = parts.target_vocabulary = std::make_shared<Vocabulary>();
  parts.special_tokens = {{"<a>", 1}, {"<a>b", 2}, {"<a", 3}};
  parts.frame = [](const LanguagePair&) { return Frame(); };
  EXPECT_THAT(Tokenizer(std::move(parts)).Encode("<a>b<a>").ids, ElementsAre(2, 1));
}

TEST(Tokenizer, DecodeSkipsIdsOutsideOfTheVocabulary) {
  const auto tokenizer = Load(std::string(kModels) + "marian-trained");
  EXPECT_EQ(tokenizer->Decode({-1, 831, 248, 1 << 30, 935}), tokenizer->Decode({831, 248}));
  EXPECT_EQ(tokenizer->Decode({}), "");
  EXPECT_EQ(tokenizer->SourcePiece(-1), "<unk>");
  EXPECT_EQ(tokenizer->TargetPiece(935), "<unk>");
}

TEST(Tokenizer, SaysItsLanguagesAndSizes) {
  const auto tokenizer = Load(std::string(kModels) + "marian-trained");
  EXPECT_THAT(tokenizer->languages().sources(), ElementsAre("en"));
  EXPECT_THAT(tokenizer->languages().targets(), ElementsAre("de", "deu", "fra"));
  EXPECT_EQ(tokenizer->source_vocabulary_size(), 935);
  EXPECT_EQ(tokenizer->target_vocabulary_size(), 935);
  EXPECT_THAT(Load("tests/golden/models/en-de")->languages().targets(), ElementsAre("de"));
}

// --- DecodeStable

class StableText : public TestWithParam<const char*> {};

// Appends random pieces: single bytes of characters, special tokens, spaces.
TEST_P(StableText, IsTheBeginningOfEveryTextThatFollows) {
  const auto tokenizer = Load(std::string(kModels) + GetParam());
  std::mt19937 random(7);
  std::vector<int32_t> bytes;
  for (int32_t id = 0; id < tokenizer->target_vocabulary_size(); ++id) {
    if (tokenizer->TargetPiece(id).starts_with("<0x")) bytes.push_back(id);
  }
  size_t early = 0;
  for (int sentence = 0; sentence < 300; ++sentence) {
    std::vector<int32_t> ids(1 + random() % 30);
    for (int32_t& id : ids) {
      id = static_cast<int32_t>(random() % tokenizer->target_vocabulary_size());
      if (!bytes.empty() && random() % 2 == 0) id = bytes[random() % bytes.size()];
    }
    const std::string whole = tokenizer->Decode(ids);
    std::string before;
    for (size_t length = 0; length <= ids.size(); ++length) {
      const std::string stable = tokenizer->DecodeStable(absl::MakeConstSpan(ids).first(length));
      ASSERT_TRUE(stable.starts_with(before)) << "taken back";
      ASSERT_TRUE(whole.starts_with(stable)) << stable << " | " << whole;
      ASSERT_TRUE(IsValidUtf8(stable));
      before = stable;
    }
    early += before.size();
  }
  EXPECT_GT(early, 1000u);
}

INSTANTIATE_TEST_SUITE_P(Models, StableText,
                         Values("marian-trained", "m2m100-trained", "nllb-trained", "t5v11-trained",
                                "mbart50-trained"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(DecodeStable, LeavesOutTheLastWordWhichMayContinue) {
  const auto tokenizer = Load(std::string(kModels) + "marian-trained");
  const std::vector<int32_t> ids = tokenizer->EncodeTarget("Der alte Lehrer");
  const std::string stable = tokenizer->DecodeStable(ids);
  EXPECT_EQ(stable, "Der alte");
}

}  // namespace
}  // namespace dragoman::tokenizer_test
