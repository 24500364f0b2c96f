// The places in a translation of marks that have no words there: empty elements, and what a model
// did not read, such as an emoji.
//
//   source  We send you 🙂 tomorrow.
//   target  Wir schicken dir morgen.      between "dir" (you) and "morgen" (tomorrow)
//
// Such a mark goes next to what a neighbour of it has become; if it is at an end of its sentence
// and was not read, it stays there.

#ifndef DRAGOMAN_ENGINE_TEXT_GAPS_H_
#define DRAGOMAN_ENGINE_TEXT_GAPS_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "engine/text/cell_links.h"
#include "engine/text/placement.h"
#include "engine/text/text_span.h"

namespace dragoman {

class Gaps {
 public:
  // Both must outlive it.
  Gaps(const CellLinks* links, absl::Span<const SentenceMark> marks);

  // A byte of the target, not within a cell.
  size_t PlaceOf(const SentenceMark& mark) const;

 private:
  void FindPartners();
  void FindRead(absl::Span<const SentenceMark> marks);
  size_t BeforeLastPunctuation(int marks) const;
  size_t Between(int previous, int next) const;
  size_t NextToOne(int previous, int next, bool next_first) const;

  const CellLinks& links_;
  std::vector<TextSpan> partners_;  // of the source cells: target cells; empty if there are none
  // For each source cell, and for their end: the last cell before it, and the first one from it on,
  // that the model read; -1 and the number of cells if there is none.
  std::vector<int> last_read_, next_read_;
  int words_end_ = 0;  // from here on, the model read nothing but punctuation
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_GAPS_H_
