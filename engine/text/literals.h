// The parts of a plain text that are not language, and must come out of a translation byte for
// byte.
//
//   "Mail %1$s to ada@example.org 🙂"   %1$s: placeholder, ada@example.org: address, 🙂: emoji
//
// A model that reads such a part as words damages it ("%1$s" becomes "1, dollars").  What finds
// them is a table of regular expressions (literals.cc), which says of each whether it counts in any
// text, or only in the strings of programs.  Numbers with units and dates are not literals: they
// are written differently in different languages.
//
// What touches is one literal: "%02d:%02d", "{size}MB", "({0})", "<b>%s</b>".  What stands on both
// sides of words is two: "<b>" and "</b>", "**" and "**", "[" and "](https://example.org)".

#ifndef DRAGOMAN_ENGINE_TEXT_LITERALS_H_
#define DRAGOMAN_ENGINE_TEXT_LITERALS_H_

#include <string_view>
#include <vector>

#include "engine/text/text_span.h"

namespace dragoman {

// Where a text comes from.
enum class TextSource {
  kProse,    // written for readers: nothing is a literal that could be a word
  kStrings,  // what a program says: options, keys and names are what its users must type
};

enum class LiteralKind {
  kAddress,      // a URL or an e-mail address
  kPath,         // of a file, on Unix or Windows
  kHandle,       // @user, #tag, :shortcode:
  kPlaceholder,  // %s, %(name)d, {0}, {{name}}, ${HOME}, %1
  kTag,          // <b>, </0>, <br/>, ** in a text that is not markup
  kCode,  // a version, an ISBN, a telephone number, a long or hexadecimal number, a name of code
  kEmoji,
  kBreak,      // a character that is written out: &nbsp;, _x000D_, \n in prose
  kInvisible,  // a soft hyphen, a zero-width space, a mark of direction
  kBetween,    // between two lines or columns, which are no sentence together: \n, spaces
};

struct Literal {
  TextSpan span;
  LiteralKind kind = LiteralKind::kAddress;
  bool in_order = false;  // a placeholder that gets its value by its place: %s, {}
  // Of a tag: whether it begins or ends something, and its name, which is a part of the text.
  enum Part { kAlone, kOpens, kCloses } part = kAlone;
  std::string_view name = {};

  friend bool operator==(const Literal&, const Literal&) = default;
};

// The literals of `text` in order; none is empty, and none overlaps another.  Takes time linear in
// the size of the text.  `join`: "<b>%s</b>" is one of them; else it is three.  REQUIRES: text is
// valid UTF-8.
std::vector<Literal> FindLiterals(std::string_view text, TextSource source = TextSource::kProse,
                                  bool join = true);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_LITERALS_H_
