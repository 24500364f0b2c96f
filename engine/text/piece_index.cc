#include "engine/text/piece_index.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "engine/base/utf8.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

constexpr char kGap = '\n';  // stands for the start of the text, and a token without text

std::vector<std::string> TargetPiecesOf(const Tokenizer& tokenizer) {
  std::vector<std::string> pieces(tokenizer.target_vocabulary_size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    if (!tokenizer.WritesText(id) || id == tokenizer.target_unknown_id()) continue;
    pieces[i] = tokenizer.TargetPiece(id);
    if (const int byte = ByteOfPiece(pieces[i]); byte >= 0) pieces[i] = static_cast<char>(byte);
  }
  return pieces;
}

// Whether a word may begin after `before`: it does not end in a letter or digit, or within one.
bool EndsWord(std::string_view before) {
  size_t begin = before.size();
  while (begin > 0 && (before[--begin] & 0xC0) == 0x80) continue;
  const std::string_view last = before.substr(begin);
  return !last.empty() && IsValidUtf8(last) && !IsWordCharacter(LastCodePoint(last));
}

}  // namespace

std::string InPieces(std::string_view phrase) {
  std::string pieces;
  bool space = !phrase.empty() && !std::ispunct(static_cast<unsigned char>(phrase.front()));
  for (const char byte : phrase) {
    if (byte == ' ') {
      space = true;
      continue;
    }
    if (space) pieces += kMetaSpace;
    space = false;
    pieces += byte;
  }
  return pieces;
}

PieceIndex::PieceIndex(const Tokenizer& tokenizer) : PieceIndex(TargetPiecesOf(tokenizer)) {}

PieceIndex::PieceIndex(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {
  sorted_.resize(pieces_.size());
  std::iota(sorted_.begin(), sorted_.end(), 0);
  std::sort(sorted_.begin(), sorted_.end(),
            [this](int32_t a, int32_t b) { return pieces_[a] < pieces_[b]; });
  for (const int32_t token : sorted_) {
    const std::string_view piece = pieces_[token];
    for (size_t i = 1; i < piece.size(); ++i) {
      if (EndsWord(piece.substr(0, i))) ends_.push_back({piece.substr(i), token});
    }
  }
  std::sort(ends_.begin(), ends_.end(), [](const End& a, const End& b) { return a.text < b.text; });
}

absl::Span<const int32_t> PieceIndex::BeginningWith(std::string_view beginning) const {
  const auto first = std::lower_bound(
      sorted_.begin(), sorted_.end(), beginning,
      [this](int32_t token, std::string_view text) { return pieces_[token] < text; });
  auto last = first;
  while (last != sorted_.end() && pieces_[*last].starts_with(beginning)) ++last;
  return absl::MakeConstSpan(sorted_).subspan(first - sorted_.begin(), last - first);
}

// At least the last `size` bytes of the text of the tokens, and what is before them.
std::string PieceIndex::TailOf(absl::Span<const int32_t> tokens, size_t size) const {
  std::string tail;
  size_t i = tokens.size();
  for (; i > 0 && tail.size() <= size; --i) {
    const auto token = static_cast<size_t>(tokens[i - 1]);
    const bool writes = token < pieces_.size() && !pieces_[token].empty();
    tail.insert(0, writes ? pieces_[token] : std::string(1, kGap));
  }
  if (i == 0) tail.insert(tail.begin(), kGap);
  return tail;
}

void PieceIndex::FindLast(std::string_view phrase, absl::Span<const int32_t> tokens,
                          std::vector<int32_t>* banned) const {
  const bool begins_word = phrase.starts_with(kMetaSpace);
  if (begins_word) phrase.remove_prefix(kMetaSpace.size());
  auto end = std::lower_bound(ends_.begin(), ends_.end(), phrase,
                              [](const End& a, std::string_view text) { return a.text < text; });
  for (; end != ends_.end() && end->text.starts_with(phrase); ++end) {
    banned->push_back(end->token);
  }
  const std::string tail = TailOf(tokens, phrase.size() + 3);  // and a character
  for (size_t said = 0; said < phrase.size() && said < tail.size(); ++said) {
    const std::string_view before = std::string_view(tail).substr(0, tail.size() - said);
    if (!std::string_view(tail).ends_with(phrase.substr(0, said))) continue;
    if (begins_word && !EndsWord(before)) continue;
    const absl::Span<const int32_t> last = BeginningWith(phrase.substr(said));
    banned->insert(banned->end(), last.begin(), last.end());
  }
}

}  // namespace dragoman
