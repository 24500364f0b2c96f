// Translates texts with markup without a model: by a script whose alignment is known.

#ifndef DRAGOMAN_TESTS_REQUEST_SCRIPTED_TRANSLATION_H_
#define DRAGOMAN_TESTS_REQUEST_SCRIPTED_TRANSLATION_H_

#include <string>

#include "engine/request/rendering.h"
#include "engine/text/markup.h"

namespace dragoman {

enum class Script {
  kIdentity,
  kReversal,  // of words; a full stop stays at the end
  kNothing,   // every translation is empty
};

// The rendered translation of a text; sentence by sentence if `split`.
std::string TranslateByScript(MarkedText text, Script script, bool split = true);

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_REQUEST_SCRIPTED_TRANSLATION_H_
