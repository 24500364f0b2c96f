#include "documents/paragraph.h"

#include <iterator>
#include <string_view>
#include <utility>

#include "documents/source_text.h"

namespace dragoman {
namespace {

bool HaveWords(const std::vector<Piece>& pieces) {
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    if (piece.kind == Piece::kOpen && !piece.translated) {
      i = ClosingPiece(pieces, i);
    } else if (piece.kind == Piece::kText && IsTranslated(piece.format) && HasWords(piece.text)) {
      return true;
    }
  }
  return false;
}

// Pieces [begin, end) without marks, white space and groups around all of them.
std::pair<size_t, size_t> FindCore(const std::vector<Piece>& pieces) {
  size_t begin = 0, end = pieces.size();
  const auto at_edge = [&](const Piece& p) { return p.kind == Piece::kMark || IsBlankText(p); };
  while (true) {
    while (begin < end && at_edge(pieces[begin])) ++begin;
    while (begin < end && at_edge(pieces[end - 1])) --end;
    const bool group = end - begin > 2 && pieces[begin].kind == Piece::kOpen &&
                       ClosingPiece(pieces, begin) == end - 1 &&
                       pieces[begin].unit_end <= pieces[begin + 1].unit_begin &&
                       pieces[end - 2].unit_end <= pieces[end - 1].unit_begin;
    if (!group) return {begin, end};
    ++begin, --end;
  }
}

constexpr size_t kBytesOfTag = 16;

size_t SizeOf(const std::vector<Piece>& pieces, size_t begin, size_t end) {
  size_t size = 0;
  for (size_t i = begin; i < end; ++i) size += pieces[i].text.size() + kBytesOfTag;
  return size;
}

// How good a place it is to cut after that piece, which is the last one of an item.
int RankOfCut(const Piece& piece) {
  if (piece.kind == Piece::kMark) return piece.space == '\n' ? 3 : 0;
  if (piece.kind != Piece::kText) return 0;
  if (IsBlankText(piece)) return 1;
  return std::string_view(".!?").find(piece.text.back()) != std::string_view::npos ? 2 : 0;
}

using PieceRange = std::pair<size_t, size_t>;

// Adds the parts of pieces [begin, end).
void CutRange(const std::vector<Piece>& pieces, size_t begin, size_t end,
              std::vector<PieceRange>* parts) {
  if (SizeOf(pieces, begin, end) <= kMostBlockBytes) return parts->push_back({begin, end});
  size_t first = begin, size = 0, best = begin;  // of the part, and where it is cut
  int rank = -1;                                 // of that place
  const auto begin_at = [&](size_t at, size_t size_now) {
    first = best = at;
    size = size_now;
    rank = -1;
  };
  const auto end_at = [&](size_t at) {
    if (at > first) parts->push_back({first, at});
  };
  for (size_t i = begin, next = begin; i < end; i = next) {
    const bool group = pieces[i].kind == Piece::kOpen;
    next = group ? ClosingPiece(pieces, i) + 1 : i + 1;
    const size_t item = SizeOf(pieces, i, next);
    if (size + item > kMostBlockBytes && rank >= 0) {
      end_at(best);
      begin_at(best, SizeOf(pieces, best, i));
    }
    if (group && item > kMostBlockBytes) {
      end_at(i);
      if (pieces[i].translated) CutRange(pieces, i + 1, next - 1, parts);
      begin_at(next, 0);
      continue;
    }
    size += item;
    const bool apart = next == end || pieces[next - 1].unit_end <= pieces[next].unit_begin;
    // After the blank that follows a sentence.
    const bool sentence = i > begin && RankOfCut(pieces[i]) == 1 && RankOfCut(pieces[i - 1]) == 2;
    const int here = sentence ? 2 : RankOfCut(pieces[next - 1]);
    if (apart && here >= rank) best = next, rank = here;
  }
  end_at(end);
}

}  // namespace

bool IsBlankText(const Piece& piece) { return piece.kind == Piece::kText && IsBlank(piece.text); }

bool IsTranslated(const FormatPointer& format) { return format == nullptr || format->translated; }

size_t ClosingPiece(const std::vector<Piece>& pieces, size_t open) {
  int depth = 0;
  for (size_t i = open; i < pieces.size(); ++i) {
    if (pieces[i].kind == Piece::kOpen) ++depth;
    if (pieces[i].kind == Piece::kClose && --depth == 0) return i;
  }
  return pieces.size();
}

std::vector<std::vector<Piece>> CutPieces(std::vector<Piece> pieces) {
  std::vector<PieceRange> ranges;
  CutRange(pieces, 0, pieces.size(), &ranges);
  std::vector<std::vector<Piece>> parts;
  if (ranges.size() == 1) {
    parts.push_back(std::move(pieces));
    return parts;
  }
  for (const auto& [begin, end] : ranges) {
    parts.emplace_back(std::make_move_iterator(pieces.begin() + static_cast<std::ptrdiff_t>(begin)),
                       std::make_move_iterator(pieces.begin() + static_cast<std::ptrdiff_t>(end)));
  }
  return parts;
}

std::vector<Block> FindBlocks(std::vector<Piece> pieces, bool translated) {
  std::vector<Block> blocks;
  const auto take_inner = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      for (Block& inner : pieces[i].inner) blocks.push_back(std::move(inner));
    }
  };
  if (!translated || !HaveWords(pieces)) {
    take_inner(0, pieces.size());
    return blocks;
  }
  const auto [begin, end] = FindCore(pieces);
  Block block = {.begin = pieces[begin].unit_begin, .end = pieces[end - 1].unit_end};
  size_t first = begin, last = end;
  while (first > 0 && pieces[first - 1].unit_end > block.begin) --first;
  while (last < pieces.size() && pieces[last].unit_begin < block.end) ++last;
  take_inner(0, first);
  block.core_begin = begin - first;
  block.core_end = end - first;
  block.pieces.assign(std::make_move_iterator(pieces.begin() + static_cast<std::ptrdiff_t>(first)),
                      std::make_move_iterator(pieces.begin() + static_cast<std::ptrdiff_t>(last)));
  blocks.push_back(std::move(block));
  take_inner(last, pieces.size());
  return blocks;
}

}  // namespace dragoman
