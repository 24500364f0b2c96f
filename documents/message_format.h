// Values that Java's MessageFormat reads.
//
//   It''s {0,number,#.##} of ''{1}'', not '{2}'        passage   It's <x1/> of <x2/>, not <x3/>
//
// "''" is an apostrophe, and "'{" begins what is not read until the next one.

#ifndef DRAGOMAN_DOCUMENTS_MESSAGE_FORMAT_H_
#define DRAGOMAN_DOCUMENTS_MESSAGE_FORMAT_H_

#include <cstddef>
#include <optional>
#include <string_view>

#include "documents/inline_text.h"

namespace dragoman {

// The passage of such a value, whose bytes `spell` writes: what it quotes, arguments with a format,
// and those in apostrophes are kept whole, and apostrophes of the translation are doubled.  None if
// it has branches (icu_message.h); or, unless it is `certain` that MessageFormat reads it, if it
// has no argument, nor an apostrophe besides what it quotes.
std::optional<Passage> MessageFormatPassage(size_t begin, size_t end, int line,
                                            std::string_view value, bool certain,
                                            const Spelling& spell, Patience* patience);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_MESSAGE_FORMAT_H_
