// Literals (literals.h) as marks of a text: a model does not read them, and they go where their
// neighbours went.

#ifndef DRAGOMAN_ENGINE_TEXT_LITERAL_MARKS_H_
#define DRAGOMAN_ENGINE_TEXT_LITERAL_MARKS_H_

#include <functional>
#include <string>
#include <string_view>

#include "engine/text/literals.h"
#include "engine/text/markup.h"

namespace dragoman {

// Whether a model can write a character or, if that is a letter, read it.
using CanWrite = std::function<bool(std::string_view character)>;

// Adds an opaque mark for each literal in the text of `text`, and for each symbol that cannot be
// written; not in attributes, not where one of its marks begins or ends within the literal, and not
// inside of opaque ones.  Placeholders, addresses, paths, handles and codes are read as numbers,
// because they take the place of words, and so are words in letters that the model does not know;
// emoji, tags, symbols and characters that are written out
// are not read at all.  Two tags that belong together, <b> and </b>, are a paired mark.  What is
// invisible is read as if it were not there, and does not come back, unless a script needs it for
// its spelling.
void MarkLiterals(const CanWrite& can_write, MarkedText* text,
                  TextSource source = TextSource::kProse);

// A text without markup: one segment without marks.  If lines are joined, the model reads a space
// in place of each line break.  REQUIRES: raw is valid UTF-8.
MarkedText ReadPlain(std::string raw, bool join_lines);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_LITERAL_MARKS_H_
