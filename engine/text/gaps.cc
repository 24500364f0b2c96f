#include "engine/text/gaps.h"

#include <algorithm>
#include <iterator>

namespace dragoman {
namespace {

constexpr float kLeastPartner = 0.2f;  // share of a cell that is the counterpart of another one
constexpr float kMostly = 0.5f;
constexpr float kLeastBoth = 0.1f;  // product of the shares of the cells on both sides of a gap
constexpr int kFarthest = 8;        // cells looked at on each side

bool IsUnread(const SentenceMark& mark) {
  return mark.kind == MarkKind::kOpaque && mark.read.empty();
}

}  // namespace

Gaps::Gaps(const CellLinks* links, absl::Span<const SentenceMark> marks) : links_(*links) {
  FindPartners();
  FindRead(marks);
}

// The target cells that a source cell has become.
void Gaps::FindPartners() {
  const int targets = static_cast<int>(links_.target().size());
  for (int s = 0; s < static_cast<int>(links_.source().size()); ++s) {
    int best = 0;
    for (int t = 1; t < targets; ++t) {
      if (links_.Share(t, s, s + 1) > links_.Share(best, s, s + 1)) best = t;
    }
    TextSpan& partner = partners_.emplace_back();
    if (targets == 0 || links_.Share(best, s, s + 1) < kLeastPartner) continue;
    int begin = best, end = best + 1;
    while (begin > 0 && links_.Share(begin - 1, s, s + 1) >= kMostly) --begin;
    while (end < targets && links_.Share(end, s, s + 1) >= kMostly) ++end;
    partner = {static_cast<size_t>(begin), static_cast<size_t>(end)};
  }
}

void Gaps::FindRead(absl::Span<const SentenceMark> marks) {
  const std::vector<Cell>& source = links_.source();
  const int cells = static_cast<int>(source.size());
  std::vector<char> unread(source.size(), 0);
  for (const SentenceMark& mark : marks) {
    if (!IsUnread(mark)) continue;
    const auto cell = std::partition_point(source.begin(), source.end(), [&](const Cell& other) {
      return other.span.begin < mark.text.begin;
    });
    if (cell != source.end() && cell->span == mark.text) unread[cell - source.begin()] = 1;
  }
  last_read_.assign(source.size() + 1, -1);
  next_read_.assign(source.size() + 1, cells);
  for (int s = 0; s < cells; ++s) {
    last_read_[s + 1] = unread[s] ? last_read_[s] : s;
    if (!unread[s] && !source[s].is_punctuation) words_end_ = s + 1;
  }
  for (int s = cells - 1; s >= 0; --s) next_read_[s] = unread[s] ? next_read_[s + 1] : s;
}

size_t Gaps::PlaceOf(const SentenceMark& mark) const {
  const std::vector<Cell>& source = links_.source();
  const std::vector<Cell>& target = links_.target();
  if (target.empty()) return 0;
  const auto after = std::partition_point(source.begin(), source.end(), [&](const Cell& cell) {
    return cell.span.end <= mark.text.begin;
  });
  const auto before = std::partition_point(
      after, source.end(), [&](const Cell& cell) { return cell.span.begin < mark.text.end; });
  const int cells = static_cast<int>(source.size());
  const int previous = last_read_[after - source.begin()];
  const int next = next_read_[before - source.begin()];
  const bool touches_previous =
      after != source.begin() && std::prev(after)->span.end == mark.text.begin;
  const bool touches_next = before != source.end() && before->span.begin == mark.text.end;
  if (IsUnread(mark)) {  // begins or ends a sentence in any language
    if (next == cells) return target.back().span.end;
    if (previous < 0) return target.front().span.begin;
    if (next >= words_end_ && !touches_previous) return BeforeLastPunctuation(cells - next);
  }
  const bool free = touches_previous == touches_next;
  if (free && previous >= 0 && next < cells) {
    if (const size_t cell = Between(previous, next); cell > 0) return target[cell].span.begin;
  }
  const bool punctuation = next < cells && source[next].is_punctuation;
  return NextToOne(previous, next, free ? !touches_next && !punctuation : touches_next);
}

// Before as many marks of punctuation, at the end of the target, as there are in the source.
size_t Gaps::BeforeLastPunctuation(int marks) const {
  const std::vector<Cell>& target = links_.target();
  size_t end = target.size();
  while (marks-- > 0 && end > 1 && target[end - 1].is_punctuation) --end;
  return target[end - 1].span.end;
}

// The target cell that comes from the source cell `next` and follows one that comes from
// `previous`.  Both may share a cell, so that neither side alone would say where the gap is.  0:
// there is none.
size_t Gaps::Between(int previous, int next) const {
  size_t best = 0;
  float most = kLeastBoth;
  for (int t = 1; t < static_cast<int>(links_.target().size()); ++t) {
    const float both =
        links_.Share(t - 1, previous, previous + 1) * links_.Share(t, next, next + 1);
    if (both > most) best = static_cast<size_t>(t), most = both;
  }
  return best;
}

// Next to what one of the cells before or after a mark has become.
size_t Gaps::NextToOne(int previous, int next, bool next_first) const {
  const std::vector<Cell>& target = links_.target();
  const int cells = static_cast<int>(links_.source().size());
  for (int i = 0; i < 2 * kFarthest; ++i) {
    const bool forward = (i % 2 == 0) == next_first;
    const int cell = forward ? next + i / 2 : previous - i / 2;
    if (cell < 0 || cell >= cells || partners_[cell].size() == 0) continue;
    const TextSpan partner = partners_[cell];
    return forward ? target[partner.begin].span.begin : target[partner.end - 1].span.end;
  }
  // No neighbour has become anything: in proportion.
  const size_t cell =
      std::min(target.size() - 1, static_cast<size_t>(previous + 1) * target.size() /
                                      std::max<size_t>(1, links_.source().size()));
  return target[cell].span.begin;
}

}  // namespace dragoman
