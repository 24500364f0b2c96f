// Word links (word_links.h), with words divided where a mark begins or ends within one, as in
// H<sub>2</sub>O.  A target word is divided with its source word if it begins or ends like it.  The
// parts, and the words that are not divided, are called cells.

#ifndef DRAGOMAN_ENGINE_TEXT_CELL_LINKS_H_
#define DRAGOMAN_ENGINE_TEXT_CELL_LINKS_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "engine/text/placement.h"
#include "engine/text/text_span.h"
#include "engine/text/word_links.h"

namespace dragoman {

struct Cell {
  TextSpan span;
  bool is_punctuation = false;
  float weight = 1.0f;  // how much it counts in the target
};

class CellLinks {
 public:
  CellLinks(const AlignedSentence& sentence, absl::Span<const SentenceMark> marks);

  const std::vector<Cell>& source() const { return source_; }
  const std::vector<Cell>& target() const { return target_; }

  // The part of target cell `t` that comes from the source cells [first, end): 0 to 1.
  float Share(int t, int first, int end) const {
    const float* const row = sums_.data() + static_cast<size_t>(t) * (source_.size() + 1);
    return row[end] - row[first];
  }

 private:
  void DivideSource(absl::Span<const WordLinks::Word> words, absl::Span<const SentenceMark> marks);
  void AddTarget(const WordLinks& links, size_t t);
  void AddShares(float share, TextSpan all, TextSpan some);

  std::vector<Cell> source_, target_;
  std::vector<TextSpan> cells_of_words_;  // of the source
  std::vector<float> sums_;  // [target, source + 1]: of the shares of the source cells before
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_CELL_LINKS_H_
