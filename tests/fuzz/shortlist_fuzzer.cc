// Any bytes as a shortlist, text or binary, for a model of forty words.
//
// The binary format begins with a magic number and a checksum.  A mutation of a file almost never
// has the right checksum, so each input is read a second time with the checksum corrected.

#include <cstring>
#include <string>
#include <vector>

#include "engine/text/shortlist.h"
#include "tests/fuzz/memory_file.h"

namespace {

constexpr int kWords = 40;

const dragoman::Tokenizer& Words() {
  static const auto* const tokenizer = [] {
    auto vocabulary = std::make_shared<dragoman::Vocabulary>();
    for (int id = 0; id < kWords; ++id) {
      FUZZ_CHECK(vocabulary->Add("w" + std::to_string(id), id).ok());
    }
    dragoman::TokenizerParts parts;
    parts.source_pieces = dragoman::PieceModel::OfSpaces();
    parts.target_pieces = parts.source_pieces;
    parts.source_vocabulary = vocabulary;
    parts.target_vocabulary = vocabulary;
    parts.frame = [](const dragoman::LanguagePair&) { return dragoman::Frame(); };
    return new dragoman::Tokenizer(std::move(parts));
  }();
  return *tokenizer;
}

// Marian's hash of the 64-bit words after the checksum.
uint64_t Checksum(const std::vector<uint64_t>& words) {
  uint64_t hash = 0;
  for (size_t i = 2; i < words.size(); ++i) {
    hash ^= words[i] + 0x9e3779b9 + (hash << 6) + (hash >> 2);
  }
  return hash;
}

std::vector<uint8_t> WithChecksum(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  std::vector<uint64_t> words(size / sizeof(uint64_t));
  if (words.size() < 2) return bytes;
  std::memcpy(words.data(), data, words.size() * sizeof(uint64_t));
  const uint64_t checksum = Checksum(words);
  std::memcpy(bytes.data() + sizeof(uint64_t), &checksum, sizeof(checksum));
  return bytes;
}

void Load(const uint8_t* data, size_t size) {
  const dragoman::MemoryFile file(data, size);
  for (const bool strict : {false, true}) {
    dragoman::ShortlistSource source{.file = file.path(), .strict = strict, .multiple_of = 8};
    const auto shortlist = dragoman::Shortlist::Load(source, Words(), kWords, kWords, 0);
    if (!shortlist.ok()) continue;
    for (int32_t token = 0; token < kWords; ++token) {
      int32_t last = -1;
      for (const int32_t candidate : (*shortlist)->TokensFor({token})) {
        FUZZ_CHECK(last < candidate && candidate < kWords);
        last = candidate;
      }
    }
  }
}

}  // namespace

FUZZER(shortlist) {
  Load(data, size);
  const std::vector<uint8_t> bytes = WithChecksum(data, size);
  Load(bytes.data(), bytes.size());
}
