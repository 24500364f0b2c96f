#include "engine/text/piece_search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "engine/base/utf8.h"
#include "engine/text/piece_model.h"

namespace dragoman {

PieceTable::PieceTable(const std::vector<std::string>& pieces) {
  size_t bytes = 0;
  for (const std::string& piece : pieces) bytes += piece.size();
  texts_.reserve(bytes);  // which moves no more, as ids_ points into it
  starts_.reserve(pieces.size() + 1);
  ids_.reserve(pieces.size());
  for (const std::string& piece : pieces) {
    starts_.push_back(texts_.size());
    texts_ += piece;
  }
  starts_.push_back(texts_.size());
  for (int32_t id = 0; id < size(); ++id) {
    if (!Piece(id).empty()) ids_[Piece(id)] = id;
  }
}

int32_t PieceTable::IdOf(std::string_view piece) const {
  const auto found = ids_.find(piece);
  return found == ids_.end() ? -1 : found->second;
}

bool PieceTable::AddBytes(std::string_view word, TextSpan part, bool whole,
                          std::vector<PlacedPiece>* found) const {
  if (!byte_fallback) return false;
  const size_t before = found->size();
  for (size_t i = part.begin; i < part.end; ++i) {
    const int32_t id = IdOf(PieceOfByte(static_cast<uint8_t>(word[i])));
    if (id < 0) {
      found->resize(before);
      return false;
    }
    found->push_back({id, whole ? part : TextSpan{i, i + 1}});
  }
  return true;
}

PieceTrie::PieceTrie(const PieceTable& table) {
  std::vector<int32_t> sorted(table.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](int32_t a, int32_t b) { return table.Piece(a) < table.Piece(b); });
  // The nodes of one level: the pieces [begin, end) that go through each.
  struct Range {
    size_t begin, end;
  };
  std::vector<Range> level = {{0, sorted.size()}};
  bytes_.push_back(0);
  ids_.push_back(-1);
  for (size_t depth = 0; !level.empty(); ++depth) {
    std::vector<Range> next;
    for (const Range& node : level) {
      first_.push_back(static_cast<uint32_t>(bytes_.size()));
      size_t i = node.begin;
      while (i < node.end && table.Piece(sorted[i]).size() == depth) ++i;  // that end here
      while (i < node.end) {
        const size_t begin = i;
        const char byte = table.Piece(sorted[i])[depth];
        int32_t id = -1;
        for (; i < node.end && table.Piece(sorted[i])[depth] == byte; ++i) {
          if (table.Piece(sorted[i]).size() == depth + 1) id = sorted[i];
        }
        bytes_.push_back(static_cast<uint8_t>(byte));
        ids_.push_back(id);
        next.push_back({begin, i});
      }
    }
    level = std::move(next);
  }
  first_.push_back(static_cast<uint32_t>(bytes_.size()));
}

uint32_t PieceTrie::Child(uint32_t node, uint8_t byte) const {
  const auto begin = bytes_.begin() + first_[node], end = bytes_.begin() + first_[node + 1];
  const auto found = std::lower_bound(begin, end, byte);
  return found == end || *found != byte ? 0 : static_cast<uint32_t>(found - bytes_.begin());
}

UnigramSearch::UnigramSearch(const PieceTable* table, std::vector<double> scores)
    : table_(*table), trie_(*table), scores_(std::move(scores)) {
  constexpr double kUnknownPenalty = 10.0;
  unknown_score_ = *std::min_element(scores_.begin(), scores_.end()) - kUnknownPenalty;
}

void UnigramSearch::Cut(std::string_view word, std::vector<PlacedPiece>* found) const {
  // The best cut of the word's beginning that ends at each byte, and its last piece.
  struct Best {
    int32_t id = -1;  // negative: no cut ends here
    size_t begin = 0;
    double score = 0.0;
  };
  std::vector<Best> best(word.size() + 1);
  const auto offer = [&](size_t begin, size_t end, int32_t id, double score) {
    score += best[begin].score;
    if (best[end].id < 0 || score > best[end].score) best[end] = {id, begin, score};
  };
  for (size_t begin = 0; begin < word.size();) {
    size_t next = begin;
    (void)NextCodePoint(word, &next);
    bool character_is_piece = false;
    trie_.ForBeginnings(word.substr(begin), [&](int32_t id, size_t length) {
      offer(begin, begin + length, id, scores_[id]);
      character_is_piece = character_is_piece || length == next - begin;
    });
    if (!character_is_piece) offer(begin, next, table_.unknown_id, unknown_score_);
    begin = next;
  }
  std::vector<PlacedPiece> cut;  // the last piece first
  for (size_t end = word.size(); end > 0;) {
    const Best& last = best[end];
    const bool joins = !cut.empty() && last.id == table_.unknown_id && cut.back().id == last.id;
    if (joins) {
      cut.back().span.begin = last.begin;
    } else {
      cut.push_back({last.id, {last.begin, end}});
    }
    end = last.begin;
  }
  for (; !cut.empty(); cut.pop_back()) {
    PlacedPiece piece = cut.back();
    if (piece.id == table_.unknown_id) {
      // Unknown characters may spell a piece together.
      const int32_t spelled = table_.IdOf(word.substr(piece.span.begin, piece.span.size()));
      if (spelled < 0 && table_.AddBytes(word, piece.span, /*whole=*/true, found)) continue;
      if (spelled >= 0) piece.id = spelled;
    }
    found->push_back(piece);
  }
}

MergeSearch::MergeSearch(const PieceTable* table, Merges merges, bool fuse_unknown)
    : table_(*table), merges_(std::move(merges)), fuse_unknown_(fuse_unknown) {}

std::vector<PlacedPiece> MergeSearch::Characters(std::string_view word) const {
  std::vector<PlacedPiece> characters;
  std::optional<PlacedPiece> unknown;  // that may still grow
  const auto add_unknown = [&] {
    if (unknown.has_value()) characters.push_back(*std::exchange(unknown, std::nullopt));
  };
  for (size_t end = 0; end < word.size();) {
    const size_t begin = end;
    (void)NextCodePoint(word, &end);
    const TextSpan span = {begin, end};
    const int32_t id = table_.IdOf(word.substr(begin, end - begin));
    if (id >= 0) {
      add_unknown();
      characters.push_back({id, span});
    } else if (!table_.AddBytes(word, span, /*whole=*/false, &characters)) {
      if (!fuse_unknown_) add_unknown();
      if (!unknown.has_value()) unknown = {table_.unknown_id, span};
      unknown->span.end = end;
    }
  }
  add_unknown();
  return characters;
}

void MergeSearch::Cut(std::string_view word, std::vector<PlacedPiece>* found) const {
  std::vector<PlacedPiece> pieces = Characters(word);
  constexpr size_t kNone = std::numeric_limits<size_t>::max();
  std::vector<size_t> before(pieces.size()), after(pieces.size());
  std::vector<bool> gone(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    before[i] = i == 0 ? kNone : i - 1;
    after[i] = i + 1 == pieces.size() ? kNone : i + 1;
  }
  // What may be joined: rank, the left one, and what the two become.
  using Candidate = std::tuple<uint32_t, size_t, int32_t>;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto find = [&](size_t left) {
    if (left == kNone || after[left] == kNone) return merges_.end();
    return merges_.find({pieces[left].id, pieces[after[left]].id});
  };
  const auto offer = [&](size_t left) {
    const auto merge = find(left);
    if (merge != merges_.end()) queue.push({merge->second.rank, left, merge->second.joined});
  };
  for (size_t i = 0; i < pieces.size(); ++i) offer(i);
  while (!queue.empty()) {
    const auto [rank, left, joined] = queue.top();
    queue.pop();
    if (gone[left]) continue;
    const auto merge = find(left);
    if (merge == merges_.end() || merge->second.joined != joined) continue;  // one was joined since
    const size_t right = after[left];
    pieces[left].id = joined;
    pieces[left].span.end = pieces[right].span.end;
    gone[right] = true;
    after[left] = after[right];
    if (after[left] != kNone) before[after[left]] = left;
    offer(before[left]);
    offer(left);
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (!gone[i]) found->push_back(pieces[i]);
  }
}

}  // namespace dragoman
