// Finds, among very many sentences, the one that is most like a given one.
//
//   segments   0  The house is old .           sentence   The house is new .
//              1  The house by the sea .
//
// How much two sentences have in common is counted in words: 100 % less the edits (words put in,
// left out or replaced) as a part of the longer one.  Here 4 of 5 words are the same: 80 %.
//
// For 75 % no more than one word in four may be missing.  So of any two words of that sentence a
// segment has at least one, and it is enough to look at those that have one of the two rarest, new
// and old being rarer than "the".  The same is true of the segment: the word that both have must be
// one of its own rarest, too.  So frequent words lead to few segments.
//
//   word   segments that have it, by their length and by its place among their words, the rarest
//   the    1 (place 4 of 6), 0 (place 5 of 5)       only in the first two places it would count
//
// Nothing that is like enough is overlooked (cf. the prefix filter of Chaudhuri, Ganti and Kaushik,
// "A Primitive Operator for Similarity Joins", 2006), unless very many segments may be: then those
// with the rarest words are compared, as many as a fraction of a millisecond allows.
//
// Immutable, so safe for concurrent use.

#ifndef DRAGOMAN_ENGINE_TEXT_SEGMENT_INDEX_H_
#define DRAGOMAN_ENGINE_TEXT_SEGMENT_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

namespace dragoman {

// A sentence and its translation.  The sources are in NormalForm.
struct MemorySegment {
  std::string source, target;
  // The sentences around it; "": not known, or none.
  std::string previous, next;

  bool operator==(const MemorySegment&) const = default;
  bool HasContext() const { return !previous.empty() || !next.empty(); }
};

// A sentence that is looked up, and those around it, in NormalForm.
struct SegmentQuery {
  SegmentQuery(std::string_view sentence, std::string_view before, std::string_view after);

  std::string source, previous, next;
  std::vector<std::string_view> words;  // of the source
};

// The words of a sentence, as they are counted here; every character where no spaces stand between
// words.  REQUIRES: text is valid UTF-8, and outlives them.
std::vector<std::string_view> ComparedWords(std::string_view text);

struct SegmentMatch {
  size_t segment = 0;
  int percent = 0;          // 100: the same source
  bool in_context = false;  // the sentences around it are the same, too

  bool IsBetterThan(const SegmentMatch& other) const {
    return percent != other.percent ? percent > other.percent : in_context && !other.in_context;
  }
};

class SegmentIndex {
 public:
  // REQUIRES: the sources and their contexts are valid UTF-8 in NormalForm.
  explicit SegmentIndex(std::vector<MemorySegment> segments);
  SegmentIndex(const SegmentIndex&) = delete;
  SegmentIndex& operator=(const SegmentIndex&) = delete;

  size_t size() const { return segments_.size(); }
  const MemorySegment& segment(size_t i) const;

  // The best match of at least so many percent (1 to 100), without those that are `hidden`
  // (ascending); of several, the last.
  std::optional<SegmentMatch> Find(const SegmentQuery& query, int percent,
                                   absl::Span<const uint32_t> hidden = {}) const;

  // The last that has the source of the query and the same sentences around it, if those are known.
  std::optional<SegmentMatch> FindInContext(const SegmentQuery& query,
                                            absl::Span<const uint32_t> hidden) const;

  // The last segment with this source and context, if there is one.
  std::optional<size_t> FindSame(const MemorySegment& segment) const;

  // How often this thread has looked at a segment of any index: so tests count what calls cost.
  static size_t Looks();

 private:
  static constexpr uint32_t kNoWord = ~uint32_t{0};
  // A segment that has a word.  Numbers above the largest one are written as that.
  struct Posting {
    uint32_t segment;
    uint16_t length;  // of the segment, in words
    uint16_t place;   // of the word among these, the rarest first
  };

  absl::Span<const uint32_t> WithSource(std::string_view source) const;
  // Of all segments that have a source, those in this context.
  absl::Span<const uint32_t> WithContext(absl::Span<const uint32_t> of_source,
                                         std::string_view previous, std::string_view next) const;
  std::optional<SegmentMatch> FindInContext(absl::Span<const uint32_t> of_source,
                                            const SegmentQuery& query,
                                            absl::Span<const uint32_t> hidden) const;
  absl::Span<const uint32_t> WordsOf(uint32_t segment) const {
    return {words_.data() + word_begins_[segment],
            word_begins_[segment + 1] - word_begins_[segment]};
  }
  absl::Span<const Posting> WithWord(uint32_t word) const {
    if (word == kNoWord) return {};
    return {postings_.data() + posting_begins_[word],
            posting_begins_[word + 1] - posting_begins_[word]};
  }
  std::vector<uint32_t> WordIds(const SegmentQuery& query) const;
  void SortByRarity(std::vector<uint32_t>* words) const;
  std::vector<uint32_t> Candidates(absl::Span<const uint32_t> words, int percent) const;
  void IndexWords();

  const std::vector<MemorySegment> segments_;
  absl::flat_hash_map<std::string_view, uint32_t> ids_;  // of the words
  std::vector<uint32_t> words_, word_begins_;            // of each segment
  std::vector<Posting> postings_;                        // of each word, by length and place
  std::vector<uint32_t> posting_begins_;
  std::vector<uint32_t> by_source_;   // segments, then in order
  std::vector<uint32_t> by_context_;  // those of a source by their contexts
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_SEGMENT_INDEX_H_
