// ICU messages: the texts in them that are sentences of their own.
//
//   {count, plural, =0 {No dogs} one {# dog} other {# dogs}}
//                       ^^^^^^^      ^^^^^         ^^^^^^
//
// Simple arguments such as {name} are part of a text.  What stands around an argument with branches
// is a text, too; so a message whose branches are whole sentences is translated best.

#ifndef DRAGOMAN_DOCUMENTS_ICU_MESSAGE_H_
#define DRAGOMAN_DOCUMENTS_ICU_MESSAGE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

inline constexpr std::string_view kIcuNumber = "{n}";  // stands for "#"

struct IcuText {
  size_t begin = 0, end = 0;  // bytes of the message
  bool number = false;        // in it, "#" is the number of a plural
};

// In order.  Empty if the message has no branches, or is not an ICU message.
std::vector<IcuText> FindIcuTexts(std::string_view message);

// A text as it is translated: with a placeholder for "#"; and its translation as ICU reads it.
std::string ReadIcuText(std::string_view text, bool number);
std::string SpellIcuText(std::string_view text, bool number);

// With an apostrophe of another kind in front of each brace, where the usual one means that the
// brace is not a placeholder: "l’{name}".
std::string SpellApostrophes(std::string_view text);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_ICU_MESSAGE_H_
