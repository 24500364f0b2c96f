#include "engine/text/longest_terms.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <vector>

namespace dragoman {
namespace {

// The bytes of a text that are part of something already.
class TakenBytes {
 public:
  explicit TakenBytes(size_t size) : taken_(size, false) {}

  void Take(TextSpan span) {
    const auto first = taken_.begin() + static_cast<std::ptrdiff_t>(span.begin);
    std::fill(first, first + static_cast<std::ptrdiff_t>(span.size()), true);
  }
  // How many bytes right before `end` are free, if at most so many are wanted.
  size_t FreeBefore(size_t end, size_t wanted) const {
    size_t free = 0;
    while (free < wanted && !taken_[end - free - 1]) ++free;
    return free;
  }

 private:
  std::vector<bool> taken_;
};

// The longest occurrence, of those that are left, in the place where it ends.
struct LongestThere {
  TermOccurrence occurrence;
  size_t index, rank;
  TermIndex::End rest;

  bool operator<(const LongestThere& other) const {
    const TextSpan own = occurrence.span, others = other.occurrence.span;
    const size_t own_size = own.size(), others_size = others.size();
    return std::tie(own_size, other.index, other.rank, others.begin) <
           std::tie(others_size, index, rank, own.begin);
  }
};

}  // namespace

void TakeLongest(absl::Span<const TermIndex* const> indexes, std::string_view text, TermOrder order,
                 PickTerm pick, TakeTerm take) {
  const FoldedText folded(text);
  std::priority_queue<LongestThere> queue;  // the next one on top
  const auto add = [&](size_t index, TermIndex::End end, size_t most) {
    while (const auto found = indexes[index]->Next(folded, most, &end)) {
      const std::optional<size_t> picked = pick(index, *found);
      if (!picked.has_value()) continue;
      queue.push({*found, index, order == TermOrder::kByTerm ? *picked : 0, end});
      return;
    }
  };
  for (size_t i = 0; i < indexes.size(); ++i) {
    for (const TermIndex::End end : indexes[i]->EndsIn(folded)) add(i, end, text.size());
  }
  TakenBytes taken(text.size());
  while (!queue.empty()) {
    const LongestThere next = queue.top();
    queue.pop();
    const TextSpan span = next.occurrence.span;
    const size_t free = taken.FreeBefore(span.end, span.size());
    if (free == 0) continue;
    const auto picked = free == span.size() ? pick(next.index, next.occurrence) : std::nullopt;
    if (picked.has_value()) {
      taken.Take(span);
      take(next.index, *picked, span);
    } else {
      add(next.index, next.rest, free);
    }
  }
}

}  // namespace dragoman
