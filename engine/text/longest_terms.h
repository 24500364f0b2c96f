// Which of the terms that overlap in a text count: the longest.
//
//   terms  New York City, City Hall, Hall      text  New York City Hall
//   taken  New York City [0, 13), Hall [14, 18)
//
// Of a place where terms end, only the longest that may be taken is looked at.  Where it cannot be
// taken, the next one is the longest that fits before what is in its way, which is soon too short
// for anything: so there are few for each byte of the text, whatever the terms are.

#ifndef DRAGOMAN_ENGINE_TEXT_LONGEST_TERMS_H_
#define DRAGOMAN_ENGINE_TEXT_LONGEST_TERMS_H_

#include <cstddef>
#include <optional>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "engine/text/term_index.h"
#include "engine/text/text_span.h"

namespace dragoman {

// Which of several that are equally long, of one index, is taken first: that of the first term and
// then the first place, or that of the first place.
enum class TermOrder { kByTerm, kByPlace };

// What is taken for an occurrence of terms of the index with this number; nothing: it does not
// count.  Asked when the occurrence is found and again before it is taken.
using PickTerm =
    absl::FunctionRef<std::optional<size_t>(size_t index, const TermOccurrence& found)>;
using TakeTerm = absl::FunctionRef<void(size_t index, size_t picked, TextSpan span)>;

// Takes the occurrences of the terms of some indexes that do not overlap: the longest first, then
// those of earlier indexes, then in this order.  REQUIRES: text is valid UTF-8.
void TakeLongest(absl::Span<const TermIndex* const> indexes, std::string_view text, TermOrder order,
                 PickTerm pick, TakeTerm take);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_LONGEST_TERMS_H_
