// The passage of a block (paragraph.h).  It is composed once; its elements are numbered, so that a
// tag of the translation says what stands in its place:
//
//   elements        1 the block       2 <g>: a format       3 <x>: marks [3, 4)
//   passage         One <g2>dog</g2><x3/>
//
// A translation whose tags are not those of the passage, nested properly, is not written: the bytes
// that came stay.

#ifndef DRAGOMAN_DOCUMENTS_COMPOSITION_H_
#define DRAGOMAN_DOCUMENTS_COMPOSITION_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "documents/document.h"
#include "documents/paragraph.h"

namespace dragoman {

// The passage of a block.  `part` must outlive it.
Passage MakePassage(std::string_view part, Block block);

// What MakePassage keeps.
class Composition {
 public:
  // REQUIRES: the part outlives it.
  Composition(std::string_view part, Block root) : part_(part), root_(std::move(root)) {
    ListBlocks(root_);
    for (const Block* block : blocks_) ComposeBlock(*block);
  }

  const std::string& text() const { return text_; }
  const Block& root() const { return root_; }
  std::string Write(std::string_view translation) const;

 private:
  // What stands in the place of a tag of the passage.
  struct Element {
    enum Kind { kBlock, kGroup, kFormat, kMarks } kind;
    const Block* block;
    size_t first = 0, last = 0;  // kGroup: its opening and closing pieces; kMarks: [first, last)
    FormatPointer format;        // of the text directly in it; not of kMarks
    char space = '\0';           // what was added before its tag
    bool ordered = false;
  };

  // A piece of a translation: text, or a tag of an element.
  struct Token {
    enum Kind { kText, kOpen, kClose, kEmpty } kind;
    std::string_view text;
    size_t element = 0;
  };

  struct Range {
    size_t begin = 0;  // tokens [begin, end)
    size_t end = 0;
    size_t element = 0;
  };

  // A translation.
  struct Tokens {
    std::vector<Token> list;
    std::map<const Block*, Range> ranges;
  };

  // A block before those in its marks.
  void ListBlocks(const Block& block) {
    blocks_.push_back(&block);
    for (const Piece& piece : block.pieces) {
      for (const Block& inner : piece.inner) ListBlocks(inner);
    }
  }

  size_t AddElement(Element element) {
    elements_.push_back(std::move(element));
    return elements_.size();
  }
  void ComposeBlock(const Block& block);
  void ComposePieces(const Block& block, size_t begin, size_t end, const FormatPointer& base);
  size_t ComposeText(const Block& block, size_t i, size_t end, const FormatPointer& base);
  size_t ComposeGroup(const Block& block, size_t open);
  size_t ComposeMarks(const Block& block, size_t first, size_t end, const FormatPointer& base);
  void ComposeFormat(const Block& block, size_t begin, size_t end, const FormatPointer& format);
  void AppendText(std::string_view text);

  bool Parse(std::string_view translation, std::vector<Token>* tokens) const;
  bool IsComplete(const std::vector<Token>& tokens) const;
  void Order(std::vector<Token>* tokens) const;
  void WriteBlock(const Tokens& tokens, const Block& block, std::string* out) const;
  void WriteTokens(const Tokens& tokens, const Range& range, std::string* out) const;
  void WritePiece(const Tokens& tokens, const Piece& piece, std::string* out) const;
  void WriteMark(const Tokens& tokens, const Piece& piece, std::string* out) const;

  const std::string_view part_;
  const Block root_;
  std::vector<const Block*> blocks_;
  std::vector<Element> elements_;  // the number in its tag is one higher
  std::string text_;
  char last_ = ' ';  // character of the text
};

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_COMPOSITION_H_
