// A paragraph of formatted text, as XML that is translated, and back.
//
//   the file       <w:r><w:t>One </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>dog</w:t></w:r>
//                  <w:r><w:footnoteReference w:id="2"/></w:r>
//   the passage    One <g1>dog</g1><x2/>
//   translated     Ein <g1>Hund</g1><x2/>        written as three runs again
//
// A reader (rich_text.h) takes the paragraph apart into pieces.  Text that is written in the format
// that most of the text has needs no tags; other formats are a <g>, and so is an element that
// cannot be there twice, such as a link.  Everything else is a mark, <x/>: its bytes go where its
// tag goes.
//
// What a mark contains may have paragraphs of its own: a note, a text box.  They are blocks of the
// same passage, <p1>...</p1> and so on, because passages do not overlap.  Marks at either end of a
// paragraph are no part of a passage, and paragraphs in them are passages of their own.

#ifndef DRAGOMAN_DOCUMENTS_PARAGRAPH_H_
#define DRAGOMAN_DOCUMENTS_PARAGRAPH_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

// How text is formatted: what is written around it.
struct TextFormat {
  std::string key;          // equal for formats that look equal
  std::string open;         // "<w:r><w:rPr><w:b/></w:rPr>"
  std::string close;        // "</w:r>"
  std::string before_text;  // "<w:t>", within open and close
  std::string after_text;
  bool translated = true;
  int depth = 0;  // of elements in open
};
using FormatPointer = std::shared_ptr<const TextFormat>;

struct Block;

struct Piece {
  enum Kind { kText, kMark, kOpen, kClose } kind = kMark;
  size_t begin = 0;  // bytes [begin, end) of the part
  size_t end = 0;
  // The smallest bytes around it that can be replaced alone: a run.
  size_t unit_begin = 0;
  size_t unit_end = 0;
  int line = 1;
  std::string text;      // kText: its characters
  FormatPointer format;  // kText; kMark: what is written around it.  May be null: nothing
  std::string bytes;     // kOpen, kClose, kMark: is written in place of those of the part if not ""
  // kMark: a reader sees white space there (a tab, a line break), so it ends a word; this is passed
  // to the translation if there is no white space before it.
  char space = '\0';
  bool ordered = false;      // kMark: stays in the order of others that are
  bool translated = true;    // kOpen: what is in it
  std::vector<Block> inner;  // kMark: the paragraphs in it
};

// The pieces of a paragraph that are a passage (composition.h), or of a paragraph in one.
struct Block {
  size_t begin = 0;  // bytes [begin, end) of the part
  size_t end = 0;
  std::vector<Piece> pieces;
  size_t core_begin = 0;  // pieces [core_begin, core_end) have tags, those around them are copied
  size_t core_end = 0;
};

// What of a paragraph is translated: its blocks, in order.  Most often there is one; without words,
// or with `translated` false, only those in its marks.  Opening and closing pieces must be
// balanced.
std::vector<Block> FindBlocks(std::vector<Piece> pieces, bool translated);

inline constexpr size_t kMostBlockBytes = 8000;  // about, of a passage that can be cut

// The pieces of a paragraph, in the parts that its passages are made of: one, or several if it is
// too long for one.  It is cut at a line break, or else at the end of a sentence, outside of groups
// if they are not too long themselves; the tags of such a group are in no part.
std::vector<std::vector<Piece>> CutPieces(std::vector<Piece> pieces);

// Whether there is nothing but white space.
bool IsBlankText(const Piece& piece);

// Whether text of that format, which may be null, is translated.
bool IsTranslated(const FormatPointer& format);

// The index of the piece that ends the group that pieces[open] begins.
size_t ClosingPiece(const std::vector<Piece>& pieces, size_t open);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_PARAGRAPH_H_
