// ICU messages: the texts in them that are sentences of their own.
//
//   {count, plural, =0 {No dogs} one {# dog} other {# dogs}}
//                       ^^^^^^^      ^^^^^         ^^^^^^
//
// Simple arguments such as {name} are part of a text; those with a format, {when, date, short}, and
// what is quoted, '{name}', are kept in it.  What stands around an argument with branches is a
// text, too; so a message whose branches are whole sentences is translated best.

#ifndef DRAGOMAN_DOCUMENTS_ICU_MESSAGE_H_
#define DRAGOMAN_DOCUMENTS_ICU_MESSAGE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/patience.h"

namespace dragoman {

inline constexpr std::string_view kIcuNumber = "{#}";  // stands for "#", the number of a plural

struct IcuText {
  size_t begin = 0, end = 0;  // bytes of the message
  bool number = false;        // in it, "#" is the number of a plural
  bool choice = false;        // "|" ends it
};

// In order.  Empty if the message has no branches, is not an ICU message, or if `patience` does not
// last.
std::vector<IcuText> FindIcuTexts(std::string_view message, Patience* patience);

// A stretch of a text of a message.
struct IcuPiece {
  std::string text;   // of words: what the message says, with a stand-in for "#"
  bool kept = false;  // as it is written: quoted, or an argument with a format
};
std::vector<IcuPiece> ReadIcuText(std::string_view message, const IcuText& text);

// The words of a translation in a message where `apostrophe` is what an apostrophe is written as.
// One that would quote what follows, which is one of `quoted`, becomes another kind: "l’{name}".
std::string SpellApostrophes(std::string_view words, std::string_view apostrophe,
                             std::string_view quoted);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_ICU_MESSAGE_H_
