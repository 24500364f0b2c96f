// Each piece is classified by itself, by its first and its last character.  A character that is
// spelled in bytes, <0xC3> <0xA9>, is spread over several pieces.  Its first byte tells enough:
// 0xC3 to 0xDF begin letters, all of scripts that put spaces between words (Latin, Greek, Cyrillic,
// Hebrew, Arabic); the bytes above them begin other characters more often than such letters.
//
// Vocabularies of whole words have no mark for spaces.  Their words are divided only where "@@"
// says so: "hou@@ se".

#include "engine/text/word_joins.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/base/utf8.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

constexpr std::string_view kCut = "@@";

std::vector<std::string> PiecesOf(const Tokenizer& tokenizer) {
  std::vector<std::string> pieces(tokenizer.target_vocabulary_size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    if (tokenizer.WritesText(id)) pieces[i] = tokenizer.TargetPiece(id);
  }
  return pieces;
}

bool BeginsWithinWord(std::string_view piece) {
  if (const int byte = ByteOfPiece(piece); byte >= 0) {
    return byte < 0x80 ? ContinuesWord(static_cast<char32_t>(byte)) : byte >= 0xC3 && byte <= 0xDF;
  }
  size_t first = 0;
  return ContinuesWord(NextCodePoint(piece, &first)) && !piece.starts_with(kMetaSpace);
}

bool EndsWithinWord(std::string_view piece) {
  if (const int byte = ByteOfPiece(piece); byte >= 0) {
    return byte >= 0x80 || IsWordCharacter(static_cast<char32_t>(byte));
  }
  return IsWordCharacter(LastCodePoint(piece)) && !piece.ends_with(kMetaSpace);
}

}  // namespace

WordJoins::WordJoins(const Tokenizer& tokenizer)
    : WordJoins(PiecesOf(tokenizer), tokenizer.reversed()) {}

WordJoins::WordJoins(const std::vector<std::string>& pieces, bool reversed)
    : open_(pieces.size()), goes_on_(pieces.size()), reversed_(reversed) {
  const bool marks_spaces = std::any_of(pieces.begin(), pieces.end(), [](std::string_view piece) {
    return piece.starts_with(kMetaSpace);
  });
  for (size_t i = 0; i < pieces.size(); ++i) {
    const std::string& piece = pieces[i];
    if (piece.empty() || !IsValidUtf8(piece)) continue;
    open_[i] = marks_spaces ? EndsWithinWord(piece) : piece.ends_with(kCut);
    goes_on_[i] = marks_spaces ? BeginsWithinWord(piece) : true;
  }
}

bool WordJoins::Joins(int32_t before, int32_t token) const {
  if (reversed_) std::swap(before, token);
  const auto has = [this](int32_t id) { return id >= 0 && static_cast<size_t>(id) < open_.size(); };
  return has(before) && has(token) && open_[before] && goes_on_[token];
}

}  // namespace dragoman
