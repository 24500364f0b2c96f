#include "engine/text/piece_index.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace dragoman {
namespace {

constexpr std::string_view kMetaSpace = "▁";  // SentencePiece's mark for a space

std::vector<std::string> TargetPiecesOf(const Tokenizer& tokenizer) {
  std::vector<std::string> pieces;
  for (int32_t id = 0; id < tokenizer.target_vocabulary_size(); ++id) {
    pieces.push_back(tokenizer.TargetPiece(id));
  }
  return pieces;
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
}

absl::Span<const int32_t> PieceIndex::BeginningWith(std::string_view beginning) const {
  const auto first = std::lower_bound(
      sorted_.begin(), sorted_.end(), beginning,
      [this](int32_t token, std::string_view text) { return pieces_[token] < text; });
  auto last = first;
  while (last != sorted_.end() && pieces_[*last].starts_with(beginning)) ++last;
  return absl::MakeConstSpan(sorted_).subspan(first - sorted_.begin(), last - first);
}

void PieceIndex::FindLast(std::string_view phrase, absl::Span<const int32_t> tokens,
                          std::vector<int32_t>* banned) const {
  std::string tail;  // as much of the previous text as the phrase can overlap
  for (size_t i = tokens.size(); i > 0 && tail.size() < phrase.size(); --i) {
    const int32_t token = tokens[i - 1];
    if (token < 0 || token >= static_cast<int32_t>(pieces_.size())) break;
    tail.insert(0, pieces_[token]);
  }
  for (size_t said = 0; said < phrase.size() && said <= tail.size(); ++said) {
    if (!std::string_view(tail).ends_with(phrase.substr(0, said))) continue;
    const absl::Span<const int32_t> last = BeginningWith(phrase.substr(said));
    banned->insert(banned->end(), last.begin(), last.end());
  }
}

}  // namespace dragoman
