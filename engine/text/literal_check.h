// Which literals and numbers of a text are missing from its translation, or changed in it.
//
//   source  Take 2.5 mg on 3 May at 2 pm.    target  Nimm 2,5 mg am 3. Mai um 14 Uhr.    nothing
//                                                    Nimm 25 mg am dritten Mai um 14 Uhr.   2.5
//
// Literals (literals.h) must be in the translation byte for byte.  Numbers are compared by value,
// however they are written; a number may also be spelled out, be that of another clock, or be
// rounded to a word ("half past two").  When in doubt, nothing is reported: who is warned in vain
// does not read the next warning.
//
// Pure.

#ifndef DRAGOMAN_ENGINE_TEXT_LITERAL_CHECK_H_
#define DRAGOMAN_ENGINE_TEXT_LITERAL_CHECK_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/text/text_span.h"

namespace dragoman {

struct LiteralFault {
  TextSpan source;
  std::string text;  // there
  // Another number, or literal of the same kind, that the translation has instead; "": nothing, the
  // literal is missing.
  TextSpan target;
  std::string found;

  friend bool operator==(const LiteralFault&, const LiteralFault&) = default;
};

// The faults in the order of the source.  `language` is that of the target, as a tag or a model's
// code; without it, or if it is one whose words for numbers are not known, numbers up to twelve may
// be spelled out unseen.  REQUIRES: source and target are valid UTF-8.
std::vector<LiteralFault> CheckLiterals(std::string_view source, std::string_view target,
                                        std::string_view language);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_LITERAL_CHECK_H_
