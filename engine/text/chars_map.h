// Proves that a .spm file's normalization table is safe before SentencePiece follows it.
//
// The table (`precompiled_charsmap`) is a trie in a double array, followed by the replacement
// texts.  The library walks both without checking bounds, so a flipped bit in the file becomes a
// read of stray memory.  Here every unit that a walk can reach is visited once.

#ifndef DRAGOMAN_ENGINE_TEXT_CHARS_MAP_H_
#define DRAGOMAN_ENGINE_TEXT_CHARS_MAP_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

// True if `spm`, the bytes of a .spm file, has no table or one that is safe to walk.  Otherwise
// *error says why not.
bool CheckCharsMap(std::string_view spm, std::string* error);

// The pieces that the file lists, as far as it can be read.
std::vector<std::string> PiecesIn(std::string_view spm);

// Whether the file has a table that rewrites decoded text.  REQUIRES: CheckCharsMap is true.
bool HasDenormalizer(std::string_view spm);

// A table alone, as tokenizer.json has it.  Immutable.
class CharsMap {
 public:
  // One unit of the double array (darts-clone, "darts.h").
  struct Unit {
    uint32_t bits;
    uint32_t label() const { return bits & ((1u << 31) | 0xFF); }
    bool has_leaf() const { return (bits >> 8 & 1) != 0; }
    uint32_t offset() const { return bits >> 10 << ((bits & (1u << 9)) >> 6); }
    uint32_t value() const { return bits & ((1u << 31) - 1); }
  };

  // Null if the table is not safe to walk.
  static std::shared_ptr<const CharsMap> Load(std::string_view table);

  // What the shortest entry that `text` begins with is replaced with; nullopt if there is none.
  std::optional<std::string_view> Find(std::string_view text) const;

 private:
  std::vector<Unit> units_;
  std::string texts_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_CHARS_MAP_H_
