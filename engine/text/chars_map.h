// Proves that a .spm file's normalization table is safe before SentencePiece follows it.
//
// The table (`precompiled_charsmap`) is a trie in a double array, followed by the replacement
// texts.  The library walks both without checking bounds, so a flipped bit in the file becomes a
// read of stray memory.  Here every unit that a walk can reach is visited once.

#ifndef DRAGOMAN_ENGINE_TEXT_CHARS_MAP_H_
#define DRAGOMAN_ENGINE_TEXT_CHARS_MAP_H_

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

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_CHARS_MAP_H_
