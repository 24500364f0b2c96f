#include "engine/text/segment_index.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "engine/text/normal_form.h"
#include "engine/text/text_span.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

constexpr int kAlmost = 99;  // of sentences that differ in spaces only

// The most edits between sentences of so many words if the percentage is to be reached.
size_t MostEdits(size_t words, int percent) {
  return words * static_cast<size_t>(100 - percent) / 100;
}

// The words that two sentences of these numbers of words have in common at least, if the percentage
// is reached.
size_t LeastCommon(size_t a, size_t b, int percent) {
  const size_t longer = std::max(a, b);
  return longer - MostEdits(longer, percent);
}

thread_local size_t looks = 0;

// The sentences around a segment.
std::pair<std::string_view, std::string_view> ContextOf(const MemorySegment& segment) {
  return {segment.previous, segment.next};
}

// The last of these segments that is not hidden.
std::optional<uint32_t> LastSeen(absl::Span<const uint32_t> segments,
                                 absl::Span<const uint32_t> hidden) {
  for (size_t i = segments.size(); i-- > 0;) {
    ++looks;
    if (!std::binary_search(hidden.begin(), hidden.end(), segments[i])) return segments[i];
  }
  return std::nullopt;
}

uint16_t Narrow(size_t number) {
  return static_cast<uint16_t>(std::min(number, size_t{std::numeric_limits<uint16_t>::max()}));
}

// Computes distances, as long as they are worth their time.
class Distances {
 public:
  bool exhausted() const { return cells_ > kMostCells; }

  // Levenshtein's distance, if it is at most `most`: only the cells at most so far from the
  // diagonal are computed.
  std::optional<size_t> Between(absl::Span<const uint32_t> a, absl::Span<const uint32_t> b,
                                size_t most) {
    while (!a.empty() && !b.empty() && a.front() == b.front()) {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
    while (!a.empty() && !b.empty() && a.back() == b.back()) {
      a.remove_suffix(1);
      b.remove_suffix(1);
    }
    const size_t longer = std::max(a.size(), b.size()), shorter = std::min(a.size(), b.size());
    if (longer == 0) return 0;
    if (most == 0 || longer - shorter > most) return std::nullopt;
    const size_t far = most + 1;
    row_.assign(b.size() + 1, far);
    for (size_t j = 0; j <= std::min(b.size(), most); ++j) row_[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
      const size_t first = i > most ? i - most : 1, last = std::min(b.size(), i + most);
      size_t diagonal = row_[first - 1];
      row_[first - 1] = first == 1 ? i : far;
      size_t least = row_[first - 1];
      for (size_t j = first; j <= last; ++j) {
        const size_t above = j < i + most ? row_[j] : far;
        const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
        diagonal = row_[j];
        row_[j] = std::min(replaced, std::min(above, row_[j - 1]) + 1);
        least = std::min(least, row_[j]);
      }
      cells_ += last - std::min(last, first) + 1;
      if (least > most) return std::nullopt;
    }
    if (row_.back() > most) return std::nullopt;
    return row_.back();
  }

 private:
  static constexpr size_t kMostCells = 200'000;

  std::vector<size_t> row_;
  size_t cells_ = 0;
};

}  // namespace

std::vector<std::string_view> ComparedWords(std::string_view text) {
  const std::vector<TextSpan> spans = SplitWords(text);
  std::vector<std::string_view> words(spans.size());
  std::transform(spans.begin(), spans.end(), words.begin(),
                 [text](TextSpan span) { return text.substr(span.begin, span.size()); });
  return words;
}

SegmentQuery::SegmentQuery(std::string_view sentence, std::string_view before,
                           std::string_view after)
    : source(NormalForm(sentence)), previous(NormalForm(before)), next(NormalForm(after)) {
  words = ComparedWords(source);
}

SegmentIndex::SegmentIndex(std::vector<MemorySegment> segments)
    : segments_(std::move(segments)), by_source_(segments_.size()) {
  std::iota(by_source_.begin(), by_source_.end(), 0u);
  std::stable_sort(by_source_.begin(), by_source_.end(), [this](uint32_t a, uint32_t b) {
    return segment(a).source < segment(b).source;
  });
  by_context_ = by_source_;
  for (auto begin = by_context_.begin(); begin != by_context_.end();) {
    const std::string& source = segment(*begin).source;
    const auto end = std::find_if(begin + 1, by_context_.end(),
                                  [&](uint32_t s) { return segment(s).source != source; });
    if (end - begin > 1) {
      std::stable_sort(begin, end, [this](uint32_t a, uint32_t b) {
        return ContextOf(segment(a)) < ContextOf(segment(b));
      });
    }
    begin = end;
  }
  IndexWords();
}

const MemorySegment& SegmentIndex::segment(size_t i) const {
  ++looks;
  return segments_[i];
}

size_t SegmentIndex::Looks() { return looks; }

void SegmentIndex::IndexWords() {
  word_begins_.push_back(0);
  std::vector<uint32_t> counts;  // of the segments that have a word
  std::vector<uint32_t> own;
  for (uint32_t s = 0; s < segments_.size(); ++s) {
    for (const std::string_view word : ComparedWords(segment(s).source)) {
      words_.push_back(ids_.try_emplace(word, static_cast<uint32_t>(ids_.size())).first->second);
    }
    word_begins_.push_back(static_cast<uint32_t>(words_.size()));
    counts.resize(ids_.size());
    own.assign(WordsOf(s).begin(), WordsOf(s).end());
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    for (const uint32_t word : own) ++counts[word];
  }
  posting_begins_.assign(1, 0);
  for (const uint32_t count : counts) posting_begins_.push_back(posting_begins_.back() + count);
  postings_.resize(posting_begins_.back());
  std::vector<uint32_t> ends(posting_begins_.begin(), posting_begins_.end() - 1);
  for (uint32_t s = 0; s < segments_.size(); ++s) {
    own.assign(WordsOf(s).begin(), WordsOf(s).end());
    SortByRarity(&own);
    for (size_t i = 0; i < own.size(); ++i) {
      if (i > 0 && own[i] == own[i - 1]) continue;
      postings_[ends[own[i]]++] = {s, Narrow(own.size()), Narrow(i)};
    }
  }
  for (size_t word = 0; word < counts.size(); ++word) {
    std::sort(
        postings_.begin() + posting_begins_[word], postings_.begin() + posting_begins_[word + 1],
        [](const Posting& a, const Posting& b) {
          return std::tie(a.length, a.place, a.segment) < std::tie(b.length, b.place, b.segment);
        });
  }
}

// Equal words stay together.
void SegmentIndex::SortByRarity(std::vector<uint32_t>* words) const {
  std::sort(words->begin(), words->end(), [this](uint32_t a, uint32_t b) {
    return std::tuple(WithWord(a).size(), a) < std::tuple(WithWord(b).size(), b);
  });
}

absl::Span<const uint32_t> SegmentIndex::WithSource(std::string_view source) const {
  const auto begin =
      std::lower_bound(by_source_.begin(), by_source_.end(), source,
                       [this](uint32_t s, std::string_view x) { return segment(s).source < x; });
  // Most are there once, or not at all.
  auto end = begin;
  const auto is_same = [&] { return end != by_source_.end() && segment(*end).source == source; };
  if (is_same() && (++end, is_same())) {
    end = std::upper_bound(end, by_source_.end(), source, [this](std::string_view x, uint32_t s) {
      return x < segment(s).source;
    });
  }
  return absl::MakeConstSpan(by_source_)
      .subspan(static_cast<size_t>(begin - by_source_.begin()), static_cast<size_t>(end - begin));
}

absl::Span<const uint32_t> SegmentIndex::WithContext(absl::Span<const uint32_t> of_source,
                                                     std::string_view previous,
                                                     std::string_view next) const {
  using Context = std::pair<std::string_view, std::string_view>;
  const Context context(previous, next);
  const absl::Span<const uint32_t> all =
      absl::MakeConstSpan(by_context_)
          .subspan(static_cast<size_t>(of_source.data() - by_source_.data()), of_source.size());
  const auto begin =
      std::lower_bound(all.begin(), all.end(), context,
                       [this](uint32_t s, const Context& x) { return ContextOf(segment(s)) < x; });
  const auto end =
      std::upper_bound(begin, all.end(), context,
                       [this](const Context& x, uint32_t s) { return x < ContextOf(segment(s)); });
  return all.subspan(static_cast<size_t>(begin - all.begin()), static_cast<size_t>(end - begin));
}

std::optional<size_t> SegmentIndex::FindSame(const MemorySegment& segment) const {
  const absl::Span<const uint32_t> same =
      WithContext(WithSource(segment.source), segment.previous, segment.next);
  if (same.empty()) return std::nullopt;
  return same.back();
}

std::optional<SegmentMatch> SegmentIndex::FindInContext(const SegmentQuery& query,
                                                        absl::Span<const uint32_t> hidden) const {
  return FindInContext(WithSource(query.source), query, hidden);
}

std::optional<SegmentMatch> SegmentIndex::FindInContext(absl::Span<const uint32_t> of_source,
                                                        const SegmentQuery& query,
                                                        absl::Span<const uint32_t> hidden) const {
  if (query.previous.empty() && query.next.empty()) return std::nullopt;
  const std::optional<uint32_t> last =
      LastSeen(WithContext(of_source, query.previous, query.next), hidden);
  if (!last.has_value()) return std::nullopt;
  return SegmentMatch{*last, 100, /*in_context=*/true};
}

std::vector<uint32_t> SegmentIndex::WordIds(const SegmentQuery& query) const {
  std::vector<uint32_t> ids;
  for (const std::string_view word : query.words) {
    const auto found = ids_.find(word);
    ids.push_back(found == ids_.end() ? kNoWord : found->second);
  }
  return ids;
}

// Those that may be like enough, ascending; of too many, those with the rarest words.
std::vector<uint32_t> SegmentIndex::Candidates(absl::Span<const uint32_t> words,
                                               int percent) const {
  constexpr size_t kMost = 4000;
  std::vector<uint32_t> rarest(words.begin(), words.end());
  SortByRarity(&rarest);
  const size_t size = words.size(), share = static_cast<size_t>(percent);
  const size_t shortest = (size * share + 99) / 100, longest = size * 100 / share;
  std::vector<uint32_t> candidates;
  for (size_t i = 0; i < size; ++i) {
    if (i > 0 && rarest[i] == rarest[i - 1]) continue;
    const absl::Span<const Posting> with = WithWord(rarest[i]);
    auto it = std::partition_point(with.begin(), with.end(), [&](const Posting& posting) {
      return posting.length < shortest;
    });
    while (it != with.end() && it->length <= longest) {
      // No more words than may be missing are rarer, in both.
      const size_t length = it->length, common = LeastCommon(size, length, percent);
      for (; i + common <= size && it != with.end() && it->length == length &&
             it->place + common <= length && candidates.size() < kMost;
           ++it) {
        candidates.push_back(it->segment);
      }
      it = std::partition_point(
          it, with.end(), [length](const Posting& posting) { return posting.length <= length; });
    }
  }
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  return candidates;
}

std::optional<SegmentMatch> SegmentIndex::Find(const SegmentQuery& query, int percent,
                                               absl::Span<const uint32_t> hidden) const {
  const absl::Span<const uint32_t> same = WithSource(query.source);
  std::optional<SegmentMatch> best = FindInContext(same, query, hidden);
  if (best.has_value()) return best;
  if (const auto last = LastSeen(same, hidden); last.has_value()) {
    return SegmentMatch{*last, 100, /*in_context=*/false};
  }
  if (percent == 100 || query.words.empty()) return std::nullopt;
  const bool has_context = !query.previous.empty() || !query.next.empty();
  const auto is_in_context = [&](uint32_t s) {
    return has_context && segment(s).previous == query.previous && segment(s).next == query.next;
  };
  const auto is_hidden = [&](uint32_t segment) {
    return std::binary_search(hidden.begin(), hidden.end(), segment);
  };
  const std::vector<uint32_t> words = WordIds(query);
  const std::vector<uint32_t> candidates = Candidates(words, percent);
  Distances distances;
  // From the last to the first: one that is only as good as a later one does not count.
  for (auto it = candidates.rbegin(); it != candidates.rend() && !distances.exhausted(); ++it) {
    const bool in_context = is_in_context(*it);
    int wanted = percent;
    if (best.has_value()) wanted = best->percent + (in_context && !best->in_context ? 0 : 1);
    if (wanted > kAlmost || is_hidden(*it)) continue;
    const absl::Span<const uint32_t> other = WordsOf(*it);
    const size_t longer = std::max(words.size(), other.size());
    const auto edits = distances.Between(words, other, MostEdits(longer, wanted));
    if (!edits.has_value()) continue;
    const int reached = static_cast<int>(100 * (longer - *edits) / longer);
    best = SegmentMatch{*it, std::min(kAlmost, reached), in_context};
  }
  return best;
}

}  // namespace dragoman
