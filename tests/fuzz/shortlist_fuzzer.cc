// Any bytes as a shortlist, text or binary, for a model of forty words.

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

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
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
  return 0;
}
