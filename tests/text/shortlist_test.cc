#include "engine/text/shortlist.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/families/model_directory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::shortlist_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kModelDirectory[] = "tests/golden/models/en-de";
constexpr int32_t kEos = 0;

const Tokenizer& EmbeddedTokenizer() {
  static const auto* const tokenizer = [] {
    auto loaded = OpenTokenizer(kModelDirectory);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return loaded->release();
  }();
  return *tokenizer;
}

int Vocabulary() { return EmbeddedTokenizer().target_vocabulary_size(); }

std::string Write(const std::string& name, const std::string& bytes) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

absl::StatusOr<std::unique_ptr<const Shortlist>> Load(const ShortlistSource& source) {
  return Shortlist::Load(source, EmbeddedTokenizer(), Vocabulary(), Vocabulary(), kEos);
}

// A line of the text format, for these ids.
std::string Line(int32_t target, int32_t source, const std::string& probability) {
  return EmbeddedTokenizer().TargetPiece(target) + " " + EmbeddedTokenizer().SourcePiece(source) +
         " " + probability + "\n";
}

void Append(uint64_t word, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&word), sizeof(word));
}

// Writes Marian's format from its description.
struct BinaryFile {
  uint64_t magic = 0xF11A48D5013417F5, first = 20, best = 2;
  std::vector<uint64_t> offsets;
  std::vector<uint32_t> tokens;

  std::string Bytes() const {
    std::string body;
    for (const uint64_t word : {first, best, uint64_t{offsets.size()}, uint64_t{tokens.size()}}) {
      Append(word, &body);
    }
    for (const uint64_t offset : offsets) Append(offset, &body);
    for (const uint32_t token : tokens) {
      body.append(reinterpret_cast<const char*>(&token), sizeof(token));
    }
    uint64_t hash = 0;
    for (size_t i = 0; i + 8 <= body.size(); i += 8) {
      uint64_t word;
      std::memcpy(&word, body.data() + i, sizeof(word));
      hash = hash ^ (word + 0x9e3779b9 + (hash << 6) + (hash >> 2));
    }
    std::string bytes;
    Append(magic, &bytes);
    Append(hash, &bytes);
    return bytes + body;
  }
};

BinaryFile GoodBinary() { return {.offsets = {0, 0, 0, 2, 3}, .tokens = {500, 700, 600}}; }

std::vector<int32_t> Range(int32_t end) {
  std::vector<int32_t> ids;
  for (int32_t id = 0; id < end; ++id) ids.push_back(id);
  return ids;
}

// The ids below `first`, and `others`, which are above.
std::vector<int32_t> FirstAnd(int first, const std::vector<int32_t>& others) {
  std::vector<int32_t> ids = Range(first);
  ids.insert(ids.end(), others.begin(), others.end());
  return ids;
}

TEST(Shortlist, TakesTheBestOfEachSourceTokenTheFirstIdsAndTheSamePieces) {
  const std::string file =
      Write("text.lex", Line(500, 300, "0.5") + Line(501, 300, "0.25") + Line(502, 300, "0.75") +
                            Line(503, 301, "1e-3") + Line(503, 300, "0.1"));
  const auto shortlist = Load({.file = file, .first = 20, .best = 2});
  ASSERT_TRUE(shortlist.ok()) << shortlist.status();
  EXPECT_EQ((*shortlist)->first(), 20);
  EXPECT_EQ((*shortlist)->best(), 2);
  EXPECT_EQ((*shortlist)->TokensFor({300, kEos}), FirstAnd(20, {300, 500, 502}));
  EXPECT_EQ((*shortlist)->TokensFor({301, 300, 301}), FirstAnd(20, {300, 301, 500, 502, 503}));
  EXPECT_EQ((*shortlist)->TokensFor({400}), FirstAnd(20, {400}));
}

TEST(Shortlist, TheLikelierOfDuplicatesCountsAndTiesGoToTheLowerToken) {
  const std::string file =
      Write("twice.lex", Line(510, 300, "0.1") + Line(511, 300, "0.2") + Line(510, 300, "0.3") +
                             Line(512, 300, "0.2") + "\n" + Line(513, 300, "0.3"));
  const auto shortlist = Load({.file = file, .first = 20, .best = 3});
  ASSERT_TRUE(shortlist.ok()) << shortlist.status();
  EXPECT_EQ((*shortlist)->TokensFor({300}), FirstAnd(20, {300, 510, 511, 513}));
}

TEST(Shortlist, SkipsPiecesThatTheModelDoesNotHave) {
  const std::string file =
      Write("foreign.lex", "no-such-piece " + EmbeddedTokenizer().SourcePiece(300) + " 0.9\r\n" +
                               EmbeddedTokenizer().TargetPiece(500) + "\tNULL\t0.9\n" +
                               EmbeddedTokenizer().TargetPiece(501) + "\t" +
                               EmbeddedTokenizer().SourcePiece(300) + "\t0.9");
  const auto shortlist = Load({.file = file, .first = 20});
  ASSERT_TRUE(shortlist.ok()) << shortlist.status();
  EXPECT_EQ((*shortlist)->best(), 100);
  EXPECT_EQ((*shortlist)->TokensFor({300}), FirstAnd(20, {300, 501}));
}

TEST(Shortlist, GivesTheWholeVocabularyToASentenceWithAShortOne) {
  const std::string file = Write("few.lex", Line(500, 300, "0.5"));
  const auto shortlist = Load({.file = file, .first = 0, .best = 50});
  ASSERT_TRUE(shortlist.ok()) << shortlist.status();
  EXPECT_THAT((*shortlist)->TokensFor({300, kEos}), IsEmpty());
  EXPECT_THAT((*shortlist)->TokensFor(Range(Shortlist::kFewest)),
              testing::SizeIs(Shortlist::kFewest));
}

TEST(Shortlist, FirstMayBeTheWholeVocabulary) {
  const std::string file = Write("all.lex", Line(500, 300, "0.5"));
  const auto shortlist = Load({.file = file, .first = 1 << 30});
  ASSERT_TRUE(shortlist.ok()) << shortlist.status();
  EXPECT_EQ((*shortlist)->TokensFor({300}), Range(Vocabulary()));
}

TEST(Shortlist, ReadsMariansBinaryFormat) {
  for (const bool odd : {true, false}) {
    BinaryFile file = GoodBinary();
    if (!odd) {
      file.tokens.push_back(601);
      file.offsets.back() = 4;
    }
    const auto shortlist = Load({.file = Write("good.bin", file.Bytes())});
    ASSERT_TRUE(shortlist.ok()) << shortlist.status();
    EXPECT_EQ((*shortlist)->first(), 20);
    EXPECT_EQ((*shortlist)->best(), 2);
    EXPECT_EQ((*shortlist)->TokensFor({2}), FirstAnd(20, {500, 700}));
    EXPECT_THAT((*shortlist)->TokensFor({3}), Contains(600));
    EXPECT_EQ((*shortlist)->TokensFor({900}), FirstAnd(20, {900}));  // not in the table
  }
}

TEST(Shortlist, RefusesContradictions) {
  const std::string good = GoodBinary().Bytes();
  const auto binary = [](auto change) {
    BinaryFile file = GoodBinary();
    change(&file);
    return file.Bytes();
  };
  std::string header = good;
  header[32] = '\x7f';  // the number of offsets
  std::string flipped = good;
  flipped.back() ^= 1;
  flipped[50] ^= 1;
  const std::vector<std::pair<std::string, std::string>> lies = {
      {"", "no line has a target and a source piece"},
      {"a b\n", "line 1 has 2 fields"},
      {"\n\na b 0.5 c\n", "line 3 has 4 fields"},
      {"a b half\n", "line 1: \"half\" is not a probability"},
      {"a b -1\n", "is not a probability"},
      {"a b nan\n", "is not a probability"},
      {"a b inf\n", "is not a probability"},
      {"a b 0.5x\n", "is not a probability"},
      {"no-such-piece neither 0.5\n", "no line has"},
      {"\x1f\x8b\x08", "gunzip"},
      {good.substr(0, 40), "too few for a header"},
      {good.substr(0, good.size() - 4), "but a header of 5 offsets and 3 tokens"},
      {good + "....", "but a header of"},
      {header, "but a header of"},
      {flipped, "the checksum is wrong"},
      {binary([](BinaryFile* f) { f->offsets.clear(); }), "has 0 offsets"},
      {binary([](BinaryFile* f) { f->offsets.resize(Vocabulary() + 2, 3); }), "offsets, want 1 to"},
      {binary([](BinaryFile* f) {
         f->offsets = {4, 4};
       }),
       "offset 0 is outside"},
      {binary([](BinaryFile* f) {
         f->offsets = {0, 2, 1};
       }),
       "offset 2 is 1, want 2 to 3"},
      {binary([](BinaryFile* f) {
         f->offsets = {0, 4};
       }),
       "offset 1 is 4, want 0 to 3"},
      {binary([](BinaryFile* f) {
         f->offsets = {0, ~uint64_t{0}};
       }),
       "offset 1 is"},
      {binary([](BinaryFile* f) { f->tokens[1] = Vocabulary(); }), "target token"},
      {binary([](BinaryFile* f) { f->tokens[0] = 0xffffffff; }), "target token 4294967295"},
  };
  for (const auto& [bytes, message] : lies) {
    const auto shortlist = Load({.file = Write("lie.lex", bytes)});
    ASSERT_FALSE(shortlist.ok()) << message;
    EXPECT_TRUE(absl::IsInvalidArgument(shortlist.status())) << shortlist.status();
    EXPECT_THAT(std::string(shortlist.status().message()), HasSubstr(message));
    EXPECT_THAT(std::string(shortlist.status().message()), HasSubstr("lie.lex"));
  }
  EXPECT_TRUE(absl::IsNotFound(Load({.file = "no-such-file"}).status()));
  const auto numbers = Load({.file = Write("good.bin", good), .first = 1, .best = 1});
  EXPECT_THAT(std::string(numbers.status().message()), HasSubstr("brings its own numbers"));
}

// A damaged file whose checksum was corrected is either refused or only gives candidates that are
// in the vocabulary.
TEST(Shortlist, SurvivesMutations) {
  const std::string text = Line(500, 300, "0.5") + Line(501, 301, "0.25") + Line(502, 302, "1");
  int accepted = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto below = [&random](size_t n) {
      return std::uniform_int_distribution<size_t>(0, n - 1)(random);
    };
    std::string bytes = text;
    if (seed % 2 == 0) {
      BinaryFile file = GoodBinary();
      file.offsets[below(file.offsets.size())] = below(6) == 0 ? random() : below(5);
      file.tokens[below(file.tokens.size())] = below(6) == 0 ? random() : below(Vocabulary() + 2);
      if (below(3) == 0) file.first = random();
      bytes = file.Bytes();
    } else {
      for (size_t n = 1 + below(4); n > 0; --n) {
        bytes[below(bytes.size())] = static_cast<char>(below(256));
      }
      bytes.resize(bytes.size() - below(8));
    }
    const auto shortlist = Load({.file = Write("mutant.lex", bytes)});
    if (!shortlist.ok()) {
      EXPECT_TRUE(absl::IsInvalidArgument(shortlist.status())) << shortlist.status();
      continue;
    }
    ++accepted;
    const std::vector<int32_t> candidates = (*shortlist)->TokensFor({2, 3, 300, Vocabulary() - 1});
    for (size_t i = 0; i < candidates.size(); ++i) {
      ASSERT_GE(candidates[i], i == 0 ? 0 : candidates[i - 1] + 1);
      ASSERT_LT(candidates[i], Vocabulary());
    }
  }
  EXPECT_GT(accepted, 20);
}

TEST(ParseShortlistSource, TakesAFileAndOptionallyTwoNumbers) {
  for (const auto& [text, file] : std::map<std::string, std::string>{{"lex.bin", "lex.bin"},
                                                                     {"/a:b/lex", "/a:b/lex"},
                                                                     {"a:1", "a:1"},
                                                                     {"a:1,", "a:1,"},
                                                                     {"a:1,2x", "a:1,2x"},
                                                                     {"a:-1,2", "a:-1,2"},
                                                                     {"a:,2", "a:,2"}}) {
    const auto source = ParseShortlistSource(text);
    ASSERT_TRUE(source.ok()) << source.status();
    EXPECT_EQ(source->file, file);
    EXPECT_FALSE(source->first.has_value() || source->best.has_value());
  }
  const auto source = ParseShortlistSource("dir:x/lex.s2t:50,0");
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(source->file, "dir:x/lex.s2t");
  EXPECT_EQ(source->first, 50);
  EXPECT_EQ(source->best, 0);
  EXPECT_TRUE(absl::IsInvalidArgument(ParseShortlistSource("").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ParseShortlistSource(":1,2").status()));
}

}  // namespace
}  // namespace dragoman::shortlist_test
