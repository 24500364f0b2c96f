#include "engine/request/memory.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "engine/text/language_tag.h"
#include "engine/text/normal_form.h"

namespace dragoman {
namespace {

const std::shared_ptr<const std::vector<uint32_t>>& Nothing() {
  static const auto& nothing =
      *new std::shared_ptr<const std::vector<uint32_t>>(std::make_shared<std::vector<uint32_t>>());
  return nothing;
}

// Of segments with the same source and context, only the last.
void KeepLast(std::vector<MemorySegment>* segments) {
  absl::flat_hash_set<std::string> seen;
  const auto is_old = [&](const MemorySegment& segment) {
    // A line break is in no NormalForm.
    return !seen.insert(absl::StrCat(segment.source, "\n", segment.previous, "\n", segment.next))
                .second;
  };
  // From the end to the beginning.
  const auto kept = std::remove_if(segments->rbegin(), segments->rend(), is_old);
  segments->erase(segments->begin(), kept.base());
}

}  // namespace

TranslationMemory TranslationMemory::Learn(std::vector<MemorySegment> segments,
                                           int64_t version) const {
  TranslationMemory learned = *this;
  learned.version_ = version;
  for (MemorySegment& segment : segments) {
    for (std::string* const text : {&segment.source, &segment.previous, &segment.next}) {
      *text = NormalForm(*text);
    }
  }
  KeepLast(&segments);
  if (segments.empty()) return learned;
  learned.Hide(segments);
  learned.layers_.push_back({std::make_shared<const SegmentIndex>(std::move(segments)), Nothing()});
  learned.Merge();
  learned.size_ = 0;
  for (const Layer& layer : learned.layers_) learned.size_ += layer.size();
  return learned;
}

// Hides the segments in whose places these come.
void TranslationMemory::Hide(absl::Span<const MemorySegment> segments) {
  for (Layer& layer : layers_) {
    std::vector<uint32_t> more, hidden;
    for (const MemorySegment& segment : segments) {
      const std::optional<size_t> same = layer.index->FindSame(segment);
      if (same.has_value()) more.push_back(static_cast<uint32_t>(*same));
    }
    if (more.empty()) continue;
    std::sort(more.begin(), more.end());
    std::set_union(layer.hidden->begin(), layer.hidden->end(), more.begin(), more.end(),
                   std::back_inserter(hidden));
    layer.hidden = std::make_shared<const std::vector<uint32_t>>(std::move(hidden));
  }
}

void TranslationMemory::Merge() {
  size_t last = layers_.back().size(), first = layers_.size() - 1;
  while (first > 0 && layers_[first - 1].size() < 2 * last) last += layers_[--first].size();
  if (first + 1 == layers_.size()) return;
  std::vector<MemorySegment> segments;
  for (size_t i = first; i < layers_.size(); ++i) {
    AppendSegments(layers_[i], 0, layers_[i].size(), &segments);
  }
  layers_.resize(first);
  layers_.push_back({std::make_shared<const SegmentIndex>(std::move(segments)), Nothing()});
}

void TranslationMemory::AppendSegments(const Layer& layer, size_t start, size_t limit,
                                       std::vector<MemorySegment>* segments) {
  const std::vector<uint32_t>& hidden = *layer.hidden;
  // The first hidden one that has more than `start` others before it.
  auto next = std::partition_point(hidden.begin(), hidden.end(), [&](const uint32_t& each) {
    return each - static_cast<size_t>(&each - hidden.data()) <= start;
  });
  size_t i = start + static_cast<size_t>(next - hidden.begin());
  for (; i < layer.index->size() && limit > 0; ++i) {
    const MemorySegment& segment = layer.index->segment(i);
    if (next != hidden.end() && *next == i) {
      ++next;
      continue;
    }
    segments->push_back(segment);
    --limit;
  }
}

std::vector<MemorySegment> TranslationMemory::Segments(size_t start, size_t limit) const {
  std::vector<MemorySegment> segments;
  for (const Layer& layer : layers_) {
    if (start < layer.size()) AppendSegments(layer, start, limit - segments.size(), &segments);
    start -= std::min(start, layer.size());
  }
  return segments;
}

std::optional<TranslationMemory::Match> TranslationMemory::Find(const SegmentQuery& query,
                                                                int percent) const {
  std::optional<SegmentMatch> best;
  const Layer* of = nullptr;
  // The newest first.  Once one has the sentence, only its context can make another one better.  So
  // no search passes many hidden segments: a newer layer has what takes their places.
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    const bool has_sentence = best.has_value() && best->percent == 100;
    if (has_sentence && best->in_context) break;
    const std::optional<SegmentMatch> match =
        has_sentence ? layer->index->FindInContext(query, *layer->hidden)
                     : layer->index->Find(query, percent, *layer->hidden);
    if (!match.has_value() || (best.has_value() && !match->IsBetterThan(*best))) continue;
    best = match;
    of = &*layer;
  }
  if (!best.has_value()) return std::nullopt;
  return Match{of->index->segment(best->segment), best->percent, best->in_context};
}

std::optional<MemoryMatch> FindInMemories(absl::Span<const MemoryPtr> memories,
                                          const LanguagePair& languages, const SegmentQuery& query,
                                          int percent) {
  std::optional<TranslationMemory::Match> best;
  const TranslationMemory* of = nullptr;
  for (const MemoryPtr& memory : memories) {
    const bool fits = IsLanguage(memory->languages().source, languages.source) &&
                      IsLanguage(memory->languages().target, languages.target);
    if (!fits) continue;
    std::optional<TranslationMemory::Match> match = memory->Find(query, percent);
    const auto rank = [](const TranslationMemory::Match& each) {
      return 2 * each.percent + (each.in_context ? 1 : 0);
    };
    if (!match.has_value() || (best.has_value() && rank(*best) >= rank(*match))) continue;
    best = std::move(match);
    of = memory.get();
  }
  if (!best.has_value()) return std::nullopt;
  MemoryMatch match = {
      .memory = of->id(),
      .version = of->version(),
      .segment = {std::move(best->segment.source), std::move(best->segment.target)},
      .percent = best->percent};
  if (best->percent == 100) {
    match.kind = best->in_context ? MemoryMatch::kContext : MemoryMatch::kExact;
  }
  return match;
}

}  // namespace dragoman
