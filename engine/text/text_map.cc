#include "engine/text/text_map.h"

#include <algorithm>

namespace dragoman {

void TextMap::Add(TextSpan from, TextSpan to) {
  if (from.size() == 0) return;
  const bool equal = from.size() == to.size();
  if (!runs_.empty() && equal && runs_.back().equal() && runs_.back().from.end == from.begin &&
      runs_.back().to.end == to.begin) {
    runs_.back().from.end = from.end;
    runs_.back().to.end = to.end;
    return;
  }
  runs_.push_back({from, to});
}

void TextMap::Add(const TextMap& runs, size_t offset) {
  for (const Run& run : runs.runs_) {
    Add({run.from.begin + offset, run.from.end + offset}, run.to);
  }
}

void TextMap::Truncate(size_t end) {
  while (!runs_.empty() && runs_.back().from.begin >= end) runs_.pop_back();
  if (runs_.empty() || runs_.back().from.end <= end) return;
  Run& last = runs_.back();
  if (last.equal()) last.to.end -= last.from.end - end;
  last.from.end = end;
}

TextSpan TextMap::Map(TextSpan span) const {
  const auto first = std::partition_point(
      runs_.begin(), runs_.end(), [&](const Run& run) { return run.from.end <= span.begin; });
  const auto after = std::partition_point(
      first, runs_.end(), [&](const Run& run) { return run.from.begin < span.end; });
  if (first == after) {
    const size_t place = first != runs_.end() ? first->to.begin
                         : runs_.empty()      ? 0
                                              : runs_.back().to.end;
    return {place, place};
  }
  const Run& last = *(after - 1);
  TextSpan mapped = {first->to.begin, last.to.end};
  if (first->equal() && span.begin > first->from.begin) {
    mapped.begin += span.begin - first->from.begin;
  }
  if (last.equal() && span.end < last.from.end) mapped.end -= last.from.end - span.end;
  return mapped;
}

}  // namespace dragoman
