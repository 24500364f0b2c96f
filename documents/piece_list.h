// Collects the pieces of a paragraph while a reader walks through its elements.

#ifndef DRAGOMAN_DOCUMENTS_PIECE_LIST_H_
#define DRAGOMAN_DOCUMENTS_PIECE_LIST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "documents/paragraph.h"
#include "engine/base/patience.h"
#include "engine/base/xml_events.h"

namespace dragoman {

// Where the reader is in a paragraph.
struct Place {
  FormatPointer format;
  // The run that the reader is in: the smallest bytes that can be replaced alone.
  bool in_unit = false;
  size_t unit_begin = 0, unit_end = 0;
};

// Whether the result of a field of Office is prose; of others it is a number, a date or a citation.
bool IsProseField(std::string_view instruction);

class PieceList {
 public:
  // REQUIRES: `patience`, which counts the pieces, outlives it.
  PieceList(std::string_view part, Patience* patience) : part_(part), patience_(patience) {}

  size_t size() const { return pieces_.size(); }

  // Whether the last piece is a line break.
  bool EndsInLine() const {
    return !pieces_.empty() && pieces_.back().kind == Piece::kMark && pieces_.back().space == '\n';
  }
  void AddText(const Place& place, const XmlEvent& at, size_t end, std::string text);
  Piece& AddMark(const Place& place, const XmlEvent& at, size_t end);
  void Open(const Place& place, const XmlEvent& at, size_t end, bool translated);
  // Ends the innermost group.  Without text it is a mark.
  void Close(const Place& place, const XmlEvent& at, size_t end);

  // Parts of a field, which are the runs in which an Office document writes BEGIN, what the field
  // is, SEPARATE, its result, END.  The result is in a group, if all of them stand in order.
  void BeginField(const Place& place, const XmlEvent& at, size_t end);
  void SeparateField(const Place& place, const XmlEvent& at, size_t end);
  void EndField(const Place& place, const XmlEvent& at, size_t end);
  // What the innermost field is.
  void AddInstruction(std::string_view text);
  // Whether what stands here is no result: it is a mark.
  bool InInstruction() const { return !fields_.empty() && !fields_.back().separated; }

  // The end of the paragraph.
  std::vector<Piece> Take();

 private:
  struct Field {
    size_t piece = 0;  // its first
    bool separated = false;
    bool dropped = false;  // it cannot become a group
    std::string instruction;
  };

  Piece& Add(Piece::Kind kind, const Place& place, const XmlEvent& at, size_t end);
  // Whether a group is open that began after that piece.
  bool InGroupAfter(size_t piece) const { return !groups_.empty() && groups_.back() > piece; }
  // The innermost field is no group: its parts are marks.
  void DropField();
  // Makes one piece of pieces_[first] and those after it, if they are all marks.
  bool JoinMarks(size_t first);
  std::string Written(const Piece& piece) const;

  const std::string_view part_;
  Patience* const patience_;
  std::vector<Piece> pieces_;
  std::vector<Field> fields_;   // that have begun, the innermost last
  std::vector<size_t> groups_;  // pieces that open one
};

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_PIECE_LIST_H_
