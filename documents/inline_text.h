// Text with structure inside of it, in any syntax, as a passage in XML, and back.
//
//   One *dog* in `x`     Text("One "), Open("*", "*"), Text("dog"), Close(), Text(" in "),
//                        Opaque("`x`", "x")
//   One <x1>dog</x1> in <x2 translate="no">x</x2>
//   Ein <x1>Hund</x1> in <x2 translate="no">x</x2>
//   Ein *Hund* in `x`
//
// What is translated has none of the file's own tags, so they may be long, and of any kind.  A text
// without elements is plain.

#ifndef DRAGOMAN_DOCUMENTS_INLINE_TEXT_H_
#define DRAGOMAN_DOCUMENTS_INLINE_TEXT_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "documents/document.h"

namespace dragoman {

// Spells characters in the syntax of a file.
using Spelling = std::function<std::string(std::string_view characters)>;

class InlineText {
 public:
  // REQUIRES: `patience`, which counts the elements, outlives it.
  explicit InlineText(Patience* patience) : patience_(patience) {}

  void Text(std::string_view characters);
  // An element, which Close() ends; a tight one keeps no white space at its ends, and is left out
  // if nothing is in it.
  void Open(std::string open, std::string close, bool tight = false);
  void Close();
  void Empty(std::string raw);
  // A reference of a symbol (IsSymbol), which stays as it is.
  void Symbol(std::string raw, std::string_view characters);
  // What ends a line, and so a sentence.
  void Break(std::string raw);
  // What is not translated, and the characters that a reader sees of it.
  void Opaque(std::string raw, std::string_view characters);
  // If the text is an ICU message with branches (icu_message.h), each branch becomes a line of its
  // own, and what stands between them is kept.  Whether it is.  REQUIRES: every element is closed.
  bool CutBranches();
  // Whether there is anything to be translated.
  bool has_words() const { return has_words_; }
  // The passage that stands in bytes [begin, end).  White space at its ends is no part of its text.
  // REQUIRES: has_words(), and every element is closed.
  Passage ToPassage(size_t begin, size_t end, int line, Spelling spell) &&;

 private:
  struct Element {
    std::string open, close;
    bool tight = false;
    bool spelled = false;  // `open` is still to be spelled
    bool between = false;  // it stands between branches
    bool breaks = false;   // ends a line
    bool spaced = false;   // a space, in front of which is one more for the model
  };
  // False if it would take too much memory; then the text will not be needed.
  bool AddElement(Element element);
  // `apostrophe`: of a message (SpellApostrophes); "": it is no message.
  static std::string Write(const std::vector<Element>& elements, std::string_view xml,
                           const std::string& apostrophe, const Spelling& spell);
  // Takes the line breaks away that CutBranches has added; "" if they are not where they were.
  static std::string JoinBranches(const std::vector<Element>& elements, std::string_view xml);

  Patience* patience_;
  std::vector<Element> elements_;
  std::vector<size_t> open_;  // elements
  std::string plain_, xml_;
  bool has_words_ = false;
  std::string apostrophe_;  // of a message that was cut
};

// A passage of characters without structure.  REQUIRES: HasWords(characters).
Passage PlainPassage(size_t begin, size_t end, int line, std::string_view characters,
                     Spelling spell);

// A passage without text: bytes [begin, end) become `replacement`, such as the language that a file
// names.
Passage Replacement(size_t begin, size_t end, int line, std::string replacement);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_INLINE_TEXT_H_
