#include "documents/piece_list.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "documents/source_text.h"

namespace dragoman {
namespace {

// A piece in a growing list and in its block, and what is composed of it.
constexpr size_t kBytesOfPiece = 2 * sizeof(Piece) + 128;
constexpr size_t kMostFields = 16;  // that are in each other's results

}  // namespace

bool IsProseField(std::string_view instruction) {
  instruction.remove_prefix(std::min(instruction.find_first_not_of(" \t\r\n"), instruction.size()));
  std::string word(instruction.substr(0, instruction.find_first_of(" \t\r\n\\")));
  absl::AsciiStrToUpper(&word);
  return IsAmong(word, " HYPERLINK INDEX QUOTE REF TOC STYLEREF ");
}

Piece& PieceList::Add(Piece::Kind kind, const Place& place, const XmlEvent& at, size_t end) {
  // The format is written around each piece, however long it is.
  const TextFormat* const format = place.format.get();
  patience_->Takes(kBytesOfPiece + (format == nullptr ? 0
                                                      : format->open.size() + format->close.size() +
                                                            format->before_text.size()));
  Piece piece = {.kind = kind, .begin = at.begin, .end = end};
  piece.unit_begin = place.in_unit ? place.unit_begin : at.begin;
  piece.unit_end = place.in_unit ? place.unit_end : end;
  piece.line = at.line;
  pieces_.push_back(std::move(piece));
  return pieces_.back();
}

void PieceList::AddText(const Place& place, const XmlEvent& at, size_t end, std::string text) {
  if (text.empty()) return;
  if (InInstruction()) {
    AddMark(place, at, end);
    return;
  }
  patience_->Takes(2 * text.size());  // of the piece, and of what is composed
  Piece& piece = Add(Piece::kText, place, at, end);
  piece.text = std::move(text);
  piece.format = place.format;
}

Piece& PieceList::AddMark(const Place& place, const XmlEvent& at, size_t end) {
  Piece& piece = Add(Piece::kMark, place, at, end);
  piece.format = place.format;
  return piece;
}

void PieceList::Open(const Place& place, const XmlEvent& at, size_t end, bool translated) {
  Add(Piece::kOpen, place, at, end).translated = translated;
  groups_.push_back(pieces_.size() - 1);
}

void PieceList::Close(const Place& place, const XmlEvent& at, size_t end) {
  const size_t group = groups_.back();
  groups_.pop_back();
  while (!fields_.empty() && fields_.back().piece > group) DropField();
  const bool has_text =
      std::any_of(pieces_.begin() + static_cast<std::ptrdiff_t>(group), pieces_.end(),
                  [](const Piece& p) { return p.kind == Piece::kText || !p.inner.empty(); });
  if (has_text) {
    Add(Piece::kClose, place, at, end);
    return;
  }
  const bool ordered = std::any_of(pieces_.begin() + static_cast<std::ptrdiff_t>(group),
                                   pieces_.end(), [](const Piece& p) { return p.ordered; });
  pieces_.resize(group + 1);
  Piece& mark = pieces_.back();
  mark.ordered = ordered;
  mark.kind = Piece::kMark;
  mark.end = end;
  if (!place.in_unit) mark.unit_end = end;
  mark.format = place.format;
}

void PieceList::BeginField(const Place& place, const XmlEvent& at, size_t end) {
  fields_.push_back({.piece = pieces_.size()});
  AddMark(place, at, end).ordered = true;
}

void PieceList::SeparateField(const Place& place, const XmlEvent& at, size_t end) {
  AddMark(place, at, end).ordered = true;
  if (fields_.empty() || fields_.back().separated || fields_.back().dropped) return;
  Field& field = fields_.back();
  field.dropped = true;
  if (fields_.size() > kMostFields) return;
  const bool in_instruction = fields_.size() > 1 && !fields_[fields_.size() - 2].separated;
  if (in_instruction || InGroupAfter(field.piece) || !JoinMarks(field.piece)) return;
  pieces_[field.piece].kind = Piece::kOpen;
  pieces_[field.piece].translated = IsProseField(field.instruction);
  field.separated = true;
}

void PieceList::EndField(const Place& place, const XmlEvent& at, size_t end) {
  Piece& mark = AddMark(place, at, end);
  mark.ordered = true;
  if (fields_.empty()) return;
  const Field& field = fields_.back();
  if (!field.separated || InGroupAfter(field.piece)) return DropField();
  mark.bytes = Written(mark);
  mark.format = nullptr;
  mark.kind = Piece::kClose;
  fields_.pop_back();
}

void PieceList::DropField() {
  if (fields_.back().separated) pieces_[fields_.back().piece].kind = Piece::kMark;
  fields_.pop_back();
}

void PieceList::AddInstruction(std::string_view text) {
  if (!fields_.empty()) fields_.back().instruction += text;
}

bool PieceList::JoinMarks(size_t first) {
  std::string bytes;
  for (size_t i = first; i < pieces_.size(); ++i) {
    if (pieces_[i].kind != Piece::kMark || !pieces_[i].inner.empty()) return false;
    bytes += Written(pieces_[i]);
  }
  Piece& joined = pieces_[first];
  joined.bytes = std::move(bytes);
  joined.format = nullptr;
  joined.end = pieces_.back().end;
  joined.unit_end = pieces_.back().unit_end;
  pieces_.resize(first + 1);
  return true;
}

std::string PieceList::Written(const Piece& piece) const {
  const std::string_view came = part_.substr(piece.begin, piece.end - piece.begin);
  const std::string bytes = piece.bytes.empty() ? std::string(came) : piece.bytes;
  if (piece.format == nullptr) return bytes;
  return absl::StrCat(piece.format->open, bytes, piece.format->close);
}

std::vector<Piece> PieceList::Take() {
  while (!fields_.empty()) DropField();
  return std::move(pieces_);
}

}  // namespace dragoman
