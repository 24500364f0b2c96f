#include "engine/text/segment_index.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "engine/base/utf8.h"
#include "engine/text/normal_form.h"
#include "engine/text/text_span.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

constexpr uint32_t kNoWord = std::numeric_limits<uint32_t>::max();
constexpr int kAlmost = 99;  // of sentences that differ in spaces only

// The most edits between sentences of so many words if the percentage is to be reached.
size_t MostEdits(size_t words, int percent) {
  return words * static_cast<size_t>(100 - percent) / 100;
}

// Levenshtein's distance, if it is at most `most`: only the cells at most so far from the diagonal
// are computed.
std::optional<size_t> EditDistance(absl::Span<const uint32_t> a, absl::Span<const uint32_t> b,
                                   size_t most, std::vector<size_t>* row) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return std::nullopt;
  const size_t far = most + 1;
  row->assign(b.size() + 1, far);
  for (size_t j = 0; j <= std::min(b.size(), most); ++j) (*row)[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    const size_t first = i > most ? i - most : 1, last = std::min(b.size(), i + most);
    size_t diagonal = (*row)[first - 1];
    (*row)[first - 1] = first == 1 ? i : far;
    size_t least = (*row)[first - 1];
    for (size_t j = first; j <= last; ++j) {
      const size_t above = j < i + most ? (*row)[j] : far;
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = (*row)[j];
      (*row)[j] = std::min({replaced, above + 1, (*row)[j - 1] + 1});
      least = std::min(least, (*row)[j]);
    }
    if (least > most) return std::nullopt;
  }
  if (row->back() > most) return std::nullopt;
  return row->back();
}

}  // namespace

std::vector<std::string_view> ComparedWords(std::string_view text) {
  std::vector<TextSpan> characters;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    NextCodePoint(text, &at);
    characters.push_back({begin, at});
  }
  std::vector<std::string_view> words;
  for (const TextSpan word : SplitWords(text, characters)) {
    words.push_back(text.substr(word.begin, word.size()));
  }
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
    return segments_[a].source < segments_[b].source;
  });
  IndexWords();
}

void SegmentIndex::IndexWords() {
  word_begins_.push_back(0);
  std::vector<uint32_t> counts;  // of the segments that have a word
  std::vector<uint32_t> own;
  const auto distinct = [&own, this](uint32_t segment) -> const std::vector<uint32_t>& {
    const absl::Span<const uint32_t> words = WordsOf(segment);
    own.assign(words.begin(), words.end());
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    return own;
  };
  for (uint32_t s = 0; s < segments_.size(); ++s) {
    for (const std::string_view word : ComparedWords(segments_[s].source)) {
      words_.push_back(ids_.try_emplace(word, static_cast<uint32_t>(ids_.size())).first->second);
    }
    word_begins_.push_back(static_cast<uint32_t>(words_.size()));
    counts.resize(ids_.size());
    for (const uint32_t word : distinct(s)) ++counts[word];
  }
  posting_begins_.assign(1, 0);
  for (const uint32_t count : counts) posting_begins_.push_back(posting_begins_.back() + count);
  postings_.resize(posting_begins_.back());
  // Segments are entered by length, so that no list has to be sorted.
  std::vector<uint32_t> by_length(segments_.size());
  std::iota(by_length.begin(), by_length.end(), 0u);
  std::stable_sort(by_length.begin(), by_length.end(), [this](uint32_t a, uint32_t b) {
    return WordsOf(a).size() < WordsOf(b).size();
  });
  std::vector<uint32_t> ends(posting_begins_.begin(), posting_begins_.end() - 1);
  for (const uint32_t s : by_length) {
    for (const uint32_t word : distinct(s)) postings_[ends[word]++] = s;
  }
}

absl::Span<const uint32_t> SegmentIndex::WordsOf(uint32_t segment) const {
  return absl::MakeConstSpan(words_).subspan(word_begins_[segment],
                                             word_begins_[segment + 1] - word_begins_[segment]);
}

absl::Span<const uint32_t> SegmentIndex::WithWord(uint32_t word) const {
  if (word == kNoWord) return {};
  return absl::MakeConstSpan(postings_).subspan(posting_begins_[word],
                                                posting_begins_[word + 1] - posting_begins_[word]);
}

absl::Span<const uint32_t> SegmentIndex::WithSource(std::string_view source) const {
  const auto begin =
      std::lower_bound(by_source_.begin(), by_source_.end(), source,
                       [this](uint32_t s, std::string_view x) { return segments_[s].source < x; });
  auto end = begin;
  while (end != by_source_.end() && segments_[*end].source == source) ++end;
  return absl::MakeConstSpan(by_source_)
      .subspan(static_cast<size_t>(begin - by_source_.begin()), static_cast<size_t>(end - begin));
}

std::optional<size_t> SegmentIndex::FindSame(const MemorySegment& segment) const {
  const absl::Span<const uint32_t> same = WithSource(segment.source);
  for (size_t i = same.size(); i-- > 0;) {
    const MemorySegment& other = segments_[same[i]];
    if (other.previous == segment.previous && other.next == segment.next) return same[i];
  }
  return std::nullopt;
}

std::vector<uint32_t> SegmentIndex::WordIds(const SegmentQuery& query) const {
  std::vector<uint32_t> ids;
  for (const std::string_view word : query.words) {
    const auto found = ids_.find(word);
    ids.push_back(found == ids_.end() ? kNoWord : found->second);
  }
  return ids;
}

// Those that may be like enough, ascending.
std::vector<uint32_t> SegmentIndex::Candidates(absl::Span<const uint32_t> words,
                                               int percent) const {
  std::vector<uint32_t> rarest(words.begin(), words.end());
  std::sort(rarest.begin(), rarest.end(), [this](uint32_t a, uint32_t b) {
    return std::tuple(WithWord(a).size(), a) < std::tuple(WithWord(b).size(), b);
  });
  rarest.resize(std::min(rarest.size(), MostEdits(words.size(), percent) + 1));
  rarest.erase(std::unique(rarest.begin(), rarest.end()), rarest.end());
  const size_t size = words.size(), share = static_cast<size_t>(percent);
  const size_t shortest = (size * share + 99) / 100, longest = size * 100 / share;
  std::vector<uint32_t> candidates;
  for (const uint32_t word : rarest) {
    const absl::Span<const uint32_t> with = WithWord(word);
    auto it = std::lower_bound(with.begin(), with.end(), shortest,
                               [this](uint32_t s, size_t n) { return WordsOf(s).size() < n; });
    for (; it != with.end() && WordsOf(*it).size() <= longest; ++it) candidates.push_back(*it);
  }
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  return candidates;
}

std::optional<SegmentMatch> SegmentIndex::Find(const SegmentQuery& query, int percent,
                                               absl::Span<const uint32_t> hidden) const {
  std::optional<SegmentMatch> best;
  const auto consider = [&](uint32_t segment, int reached) {
    const MemorySegment& found = segments_[segment];
    const SegmentMatch match = {
        segment, reached,
        found.HasContext() && found.previous == query.previous && found.next == query.next};
    if (best.has_value() && best->IsBetterThan(match)) return;
    if (std::binary_search(hidden.begin(), hidden.end(), segment)) return;
    best = match;
  };
  for (const uint32_t segment : WithSource(query.source)) consider(segment, 100);
  if (best.has_value() || percent == 100 || query.words.empty()) return best;
  const std::vector<uint32_t> words = WordIds(query);
  std::vector<size_t> row;
  for (const uint32_t segment : Candidates(words, percent)) {
    const absl::Span<const uint32_t> other = WordsOf(segment);
    const size_t longer = std::max(words.size(), other.size());
    const int wanted = best.has_value() ? best->percent : percent;
    const std::optional<size_t> edits = EditDistance(words, other, MostEdits(longer, wanted), &row);
    if (!edits.has_value()) continue;
    consider(segment, std::min(kAlmost, static_cast<int>(100 * (longer - *edits) / longer)));
  }
  return best;
}

}  // namespace dragoman
