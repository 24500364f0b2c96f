// Walks through the elements of a part (rich_text.h): outside of paragraphs, where it looks for
// them (rich_text.cc), and within one, where it keeps the place where it is: the format that runs
// give to text (rich_text_inline.cc).  The two call each other, because a mark may have paragraphs.
// The pieces of a paragraph become passages at its end.

#ifndef DRAGOMAN_DOCUMENTS_RICH_TEXT_READER_H_
#define DRAGOMAN_DOCUMENTS_RICH_TEXT_READER_H_

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "documents/document.h"
#include "documents/paragraph.h"
#include "documents/passage_list.h"
#include "documents/piece_list.h"
#include "documents/rich_text.h"
#include "documents/text_formats.h"
#include "engine/base/patience.h"
#include "engine/base/xml_events.h"

namespace dragoman {

// REQUIRES: the part and its events outlive it.
class RichTextReader {
 public:
  RichTextReader(std::string_view part, const XmlVocabulary& vocabulary,
                 absl::Span<const XmlEvent> events, Patience* patience)
      : part_(part),
        kind_(vocabulary.kind),
        events_(events),
        patience_(patience),
        roles_(FindRoles(part, events, vocabulary, patience)),
        formats_(part, kind_, patience) {
    if (kind_ == XmlVocabulary::kXhtml) FindBlockElements();
  }

  absl::StatusOr<std::vector<Passage>> Read() {
    ReadOutside(0, events_.size(), nullptr);
    return passages_.Take();
  }

 private:
  using Blocks = std::vector<Block>;  // those in a mark; null: passages

  std::string_view Tag(size_t i) const {
    return part_.substr(events_[i].begin, events_[i].end - events_[i].begin);
  }
  bool IsBlock(size_t i) const { return is_block_[i]; }

  void FindBlockElements();
  void ReadOutside(size_t begin, size_t end, Blocks* inner);
  void ReadParagraph(size_t i, Blocks* inner);
  void ReadCell(size_t i, Blocks* inner);
  void ReadXhtmlBlock(size_t begin, size_t end, bool translated);
  void Finish(PieceList* pieces, bool translated, Blocks* inner);

  void ReadInline(size_t begin, size_t end, const Place& place, PieceList* pieces);
  void ReadElement(size_t i, const Place& place, PieceList* pieces);
  void ReadRun(size_t i, const Place& place, PieceList* pieces);
  OfficeRun FindRun(size_t i) const;
  void ReadGroup(size_t i, size_t content, const Place& place, PieceList* pieces);
  void ReadMark(size_t i, const Place& place, PieceList* pieces);
  void ReadField(size_t i, const Place& place, PieceList* pieces);
  void ReadOfficeText(size_t i, const Place& place, PieceList* pieces);
  void ReadReference(const XmlEvent& reference, const Place& place, PieceList* pieces);
  void ReadCharacters(const XmlEvent& text, const Place& place, PieceList* pieces);
  void ReadMixedText(const XmlEvent& event, const Place& place, PieceList* pieces);

  const std::string_view part_;
  const XmlVocabulary::Kind kind_;
  const absl::Span<const XmlEvent> events_;
  Patience* const patience_;
  const std::vector<Role> roles_;
  TextFormats formats_;
  bool is_long_ = false;        // XHTML: so that its paragraphs may have to be cut, is what is read
  std::vector<bool> is_block_;  // XHTML: elements that are blocks or contain one
  PassageList passages_{patience_};
};

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_RICH_TEXT_READER_H_
