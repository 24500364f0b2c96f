// A text with markup, as the model reads it, and how to get back.
//
//   raw   <p>A <b>big</b> cat &amp;<br>a dog.</p>
//   text     A    big     cat &       ⏎ a dog.         segments "A big cat &", "a dog."
//   mark       <b>...</b>                              covers "big"
//
// A reader (xml_reader.h) takes the raw text apart, by way of a MarkedTextBuilder.  What may move
// with the words in a sentence is a mark: <b>.  What ends a sentence is a boundary: <p>, </p> and
// here <br>; it is not listed anywhere, because whatever lies outside of sentences is copied byte
// by byte.  A translation replaces the bytes of the sentences alone (engine/request/rendering.h).
//
// Marks are properly nested, and may cover several segments: the tags that lie outside of sentences
// stay where they are.  An attribute that is to be translated is a segment of its own, inside of a
// tag.
//
// All types are values, and all functions are pure.

#ifndef DRAGOMAN_ENGINE_TEXT_MARKUP_H_
#define DRAGOMAN_ENGINE_TEXT_MARKUP_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/text_map.h"
#include "engine/text/text_span.h"

namespace dragoman {

inline constexpr std::string_view kMarkupSpaces = " \t\r\n\f";
inline bool IsMarkupSpace(char c) { return kMarkupSpaces.find(c) != kMarkupSpaces.npos; }
// `span` of a text without the white space at its ends; empty, at its end, if it has nothing else.
TextSpan WithoutMarkupSpaces(std::string_view text, TextSpan span);

enum class Markup { kNone, kHtml, kXml };

struct MarkupOptions {
  // Names of elements, as they are written; those of HTML in lower case.
  std::vector<std::string> splitting_tags;      // end a sentence
  std::vector<std::string> non_splitting_tags;  // do not
  std::vector<std::string> ignore_tags;         // their content is not translated
  bool outline_detection = true;  // XML: its structure shows which other elements end a sentence
  bool join_lines = false;        // neither <br> nor, in XML, a line break ends a sentence
  // What is translated, as a tag or a model's code; "": any language.  An element that is in
  // another one (lang, xml:lang) is not translated.
  std::string language;
};

// Whether an element in `language` is translated; no answer if that or the options' language is
// not known.
std::optional<bool> TranslatesLanguage(std::string_view language, const MarkupOptions& options);

// How the text of a segment is written.
enum class Writing {
  kPlain,         // as it reads
  kText,          // between tags
  kDoubleQuoted,  // a value of an attribute, without its quotes
  kSingleQuoted,
  kUnquoted,  // gets double quotes
};
inline bool IsAttribute(Writing writing) {
  return writing != Writing::kPlain && writing != Writing::kText;
}

// A stretch of text between two boundaries.
struct Segment {
  TextSpan text;  // not empty; without white space at its ends
  // Where it lies: from one boundary to the next, including tags and white space at its ends.
  TextSpan raw;
  Writing writing = Writing::kText;
  // Characters that the segment spells in another way than itself ("&nbsp;"), and so does its
  // translation.
  std::map<std::string, std::string> spellings;
};

enum class MarkKind {
  kPaired,  // a start tag, text, and an end tag
  kEmpty,   // an element, comment or tag without text
  kOpaque,  // an element with text that is not translated
};

// What a model reads in the place of an opaque mark.
enum class Reading {
  kText,     // its text, if that is a short word, otherwise a stand-in
  kStandIn,  // a number that the text does not contain
  kNothing,
  kAbsent,  // nothing, as if its neighbours touched; and it is not in the translation
};

struct Mark {
  MarkKind kind = MarkKind::kPaired;
  Reading reading = Reading::kText;
  TextSpan text;     // what it covers; empty for kEmpty
  TextSpan opening;  // bytes of raw: the start tag, or the whole of an empty or opaque element
  TextSpan closing;  // the end tag of a paired one
  int parent = -1;   // the innermost paired mark around it
  bool is_literal = false;  // not of the markup (literal_marks.h)
  bool in_order = false;    // those of a sentence stay in their order, whatever their places
  // An empty mark that ends a word, such as <br>: its text is a space that raw does not have,
  // unless there is white space next to it.  A literal of that name ends a sentence.
  bool breaks_word = false;
};

// A start tag, end tag, or empty or opaque element.
struct Tag {
  TextSpan raw;
  size_t text = 0;  // where it stands
  int mark = 0;
  bool closes = false;
};

struct MarkedText {
  std::string raw;
  std::string text;               // the segments, with '\n' between them
  std::vector<Segment> segments;  // in the order of their beginnings in raw
  std::vector<Mark> marks;        // in the order of their openings
  std::vector<Tag> tags;          // of all marks, in order
  TextMap to_raw;                 // from bytes of text to bytes of raw
  // Where ` dir="rtl"` could be inserted into raw, in order: in start tags of outermost blocks.
  std::vector<size_t> direction_places;
};

// Makes a MarkedText from what a reader finds in `raw`, told in order.
//
//   builder.Text({0, 2}, "A ");  builder.Open({2, 5});  ...  builder.Close({8, 12});
//
// Spans refer to raw.  Bytes of which nothing is told are copied, which suits what lies at a
// boundary; a comment within a sentence should be told as Empty, so that it keeps its neighbours.
class MarkedTextBuilder {
 public:
  explicit MarkedTextBuilder(std::string raw) { marked_.raw = std::move(raw); }

  std::string_view raw() const { return marked_.raw; }

  // Whether white space in text that follows is one space (or a boundary's), however long.
  // At first it is kept as it is.
  void CollapseWhiteSpace(bool collapse) { collapse_ = collapse; }

  // Text that is written as it reads.
  void Text(TextSpan raw);
  // A character, or several, that are written in another way ("&eacute;").  A symbol ("&copy;") is
  // told as Empty, because a model may leave it out.
  void Spelled(TextSpan raw, std::string_view text);

  void Open(TextSpan tag);
  // Closes the innermost open mark.  REQUIRES: open() > 0.
  void Close(TextSpan tag);
  // The innermost open mark will never be closed: it becomes an empty one.  REQUIRES: open() > 0.
  void Abandon();
  // The number of open marks.
  int open() const { return static_cast<int>(open_.size()); }

  void Empty(TextSpan element, bool breaks_word = false);
  // `text` is what a reader would see of the element; nothing but white space: it is an empty one.
  // What touches is one mark, with signs in between: <kbd>Ctrl</kbd>+<kbd>C</kbd>.
  void Opaque(TextSpan element, std::string_view text);

  // A boundary: what was told before it and what follows are different sentences.  Marks stay open.
  void Boundary(TextSpan raw);

  // What is told between these two is the value of an attribute, without its quotes, inside of the
  // tag or boundary that is told next: only Text and Spelled.
  void BeginAttribute(TextSpan value, Writing writing);
  void EndAttribute();

  void DirectionPlace(size_t raw) { marked_.direction_places.push_back(raw); }

  // Open marks are abandoned.
  MarkedText Finish() &&;

 private:
  // A segment of which more may be told.
  struct Draft {
    Segment segment;
    std::string text;  // with the white space at its end
    TextMap to_raw;    // from bytes of `text`
  };

  void Append(TextSpan raw, std::string_view text);
  void AddSpaces(TextSpan raw, std::string_view spaces);
  void AddMark(MarkKind kind, TextSpan raw, bool breaks_word);
  size_t Here() const;
  Mark* Touching();
  void FinishSegment(size_t raw);
  void Add(Draft draft);

  MarkedText marked_;
  bool collapse_ = false;
  std::vector<int> open_;          // marks, outermost first
  Draft draft_;                    // between the last boundary and the next
  size_t first_tag_ = 0;           // the first tag after that boundary
  std::vector<Draft> attributes_;  // inside of its tags
  bool in_attribute_ = false;      // the last of these is being told
};

// Appends bytes `part` of `text` to `out` as they are to be written in a segment, and their places
// to `map`.  REQUIRES: text is valid UTF-8.
void Spell(std::string_view text, TextSpan part, const Segment& segment, std::string* out,
           TextMap* map);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_MARKUP_H_
