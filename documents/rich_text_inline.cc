#include <algorithm>
#include <string>
#include <utility>

#include "documents/rich_text_reader.h"
#include "documents/source_text.h"
#include "engine/base/html_references.h"

namespace dragoman {
namespace {

constexpr int kMostFormats = 16;          // of a text, in each other
constexpr size_t kMostPieceBytes = 2000;  // of text in a long paragraph
constexpr std::string_view kUnbreakableHyphen = "\u2011";

// The first reference by number in the text that stands for a symbol; empty, at its
// end, if there is none.
std::string_view NumberedSymbol(std::string_view text) {
  for (size_t at = text.find("&#"); at != text.npos; at = text.find("&#", at + 1)) {
    const std::string_view reference = text.substr(at, text.find(';', at) - at + 1);
    if (IsSymbol(CharactersNamed(reference))) return reference;
  }
  return text.substr(text.size());
}

}  // namespace

void RichTextReader::ReadInline(size_t begin, size_t end, const Place& place, PieceList* pieces) {
  for (size_t i = begin; i < end && patience_->Lasts(sizeof(XmlEvent)); ++i) {
    const XmlEvent& event = events_[i];
    if (event.kind == XmlEvent::kStart) {
      ReadElement(i, place, pieces);
      i = event.partner;
    } else if (kind_ != XmlVocabulary::kOffice) {
      ReadMixedText(event, place, pieces);
    }
  }
}

void RichTextReader::ReadElement(size_t i, const Place& place, PieceList* pieces) {
  const XmlEvent& event = events_[i];
  const XmlEvent& end = events_[event.partner];
  switch (roles_[i]) {
    case Role::kRun:
    case Role::kCode:
      return ReadRun(i, place, pieces);
    case Role::kText:
    case Role::kDrawingText:
    case Role::kCellText:
      return ReadOfficeText(i, place, pieces);
    case Role::kGroup:
    case Role::kSimpleField:
      return ReadGroup(i, i, place, pieces);
    case Role::kWrapper:
      for (size_t child = i + 1; child < event.partner; ++child) {
        if (events_[child].kind != XmlEvent::kStart) continue;
        if (roles_[child] == Role::kContent) return ReadGroup(i, child, place, pieces);
        child = events_[child].partner;
      }
      return ReadMark(i, place, pieces);
    case Role::kOrdered:
      pieces->AddMark(place, event, end.end).ordered = true;
      return;
    case Role::kSpace:
      pieces->AddMark(place, event, end.end).space = ' ';
      return;
    case Role::kLine:
      pieces->AddMark(place, event, end.end).space = '\n';
      return;
    case Role::kMark:
    case Role::kSkipped:
      pieces->AddMark(place, event, end.end);
      return;
    case Role::kHyphen:
      return pieces->AddText(place, event, end.end, std::string(kUnbreakableHyphen));
    case Role::kField:
      return ReadField(i, place, pieces);
    case Role::kInstruction:
      pieces->AddInstruction(XmlText(part_.substr(event.end, end.begin - event.end)));
      pieces->AddMark(place, event, end.end);
      return;
    case Role::kIgnored:
      return;
    default:
      ReadMark(i, place, pieces);
  }
}

void RichTextReader::ReadRun(size_t i, const Place& place, PieceList* pieces) {
  const XmlEvent& event = events_[i];
  const size_t end = events_[event.partner].end;
  if (kind_ == XmlVocabulary::kXhtml && roles_[i] == Role::kCode) {
    return ReadGroup(i, i, place, pieces);
  }
  // Formats that are nested deeper would be many times as long as the part.
  if (place.format != nullptr && place.format->depth == kMostFormats) {
    return ReadMark(i, place, pieces);
  }
  Place inside = place;
  if (!place.in_unit) inside = {place.format, true, event.begin, end};
  if (kind_ == XmlVocabulary::kXhtml) return ReadInline(i + 1, event.partner, inside, pieces);
  if (kind_ == XmlVocabulary::kOpenDocument) {
    inside.format = formats_.Within(place.format, events_, i, roles_[i] == Role::kCode);
    return ReadInline(i + 1, event.partner, inside, pieces);
  }
  const OfficeRun run = FindRun(i);
  inside.format = formats_.OfRun(run);
  ReadInline(run.content, event.partner, inside, pieces);
}

OfficeRun RichTextReader::FindRun(size_t i) const {
  OfficeRun run = {.tag = events_[i].name, .content = i + 1};
  for (size_t child = i + 1; child < events_[i].partner; ++child) {
    const XmlEvent& event = events_[child];
    if (event.kind != XmlEvent::kStart) continue;
    const size_t end = events_[event.partner].end;
    const Role role = roles_[child];
    if (role == Role::kFormat && run.format.empty()) {
      run.format = part_.substr(event.begin, end - event.begin);
      run.content = event.partner + 1;
    }
    if (role == Role::kDrawingText) run.drawing = true;
    child = event.partner;
  }
  return run;
}

void RichTextReader::ReadGroup(size_t i, size_t content, const Place& place, PieceList* pieces) {
  const XmlEvent& start = events_[i];
  const XmlEvent& inside = events_[content];
  bool translated = true;
  if (kind_ == XmlVocabulary::kXhtml) {
    translated = IsXhtmlTranslated(Tag(i), roles_[i] != Role::kCode);
  }
  if (roles_[i] == Role::kSimpleField) translated = IsProseField(AttributeNamed(Tag(i), "instr"));
  pieces->Open(place, start, inside.end, translated);
  ReadInline(content + 1, inside.partner, place, pieces);
  pieces->Close(place, events_[inside.partner], events_[start.partner].end);
}

void RichTextReader::ReadMark(size_t i, const Place& place, PieceList* pieces) {
  const XmlEvent& event = events_[i];
  Blocks inner;
  const bool paragraph = roles_[i] == Role::kParagraph;
  if (kind_ != XmlVocabulary::kXhtml) {
    ReadOutside(paragraph ? i : i + 1, paragraph ? event.partner + 1 : event.partner, &inner);
  }
  Piece& mark = pieces->AddMark(place, event, events_[event.partner].end);
  mark.inner = std::move(inner);
  mark.ordered = roles_[i] == Role::kNote;
}

void RichTextReader::ReadField(size_t i, const Place& place, PieceList* pieces) {
  const XmlEvent& event = events_[i];
  const size_t end = events_[event.partner].end;
  const std::string type = AttributeNamed(Tag(i), "fldCharType");
  if (type == "begin") {
    pieces->BeginField(place, event, end);
  } else if (type == "separate") {
    pieces->SeparateField(place, event, end);
  } else {
    pieces->EndField(place, event, end);
  }
}

void RichTextReader::ReadOfficeText(size_t i, const Place& place, PieceList* pieces) {
  const XmlEvent& event = events_[i];
  std::string text;
  for (size_t child = i + 1; child < event.partner; ++child) {
    const XmlEvent& inside = events_[child];
    if (inside.kind == XmlEvent::kText || inside.kind == XmlEvent::kCdata) {
      text += XmlText(part_.substr(inside.begin, inside.end - inside.begin));
    }
  }
  const bool drawing = roles_[i] == Role::kDrawingText;
  if (!drawing && AttributeNamed(Tag(i), "space") != "preserve") {
    text.erase(0, std::min(text.find_first_not_of(kXmlSpaces), text.size()));
    text.erase(text.find_last_not_of(kXmlSpaces) + 1);
  }
  if (roles_[i] != Role::kCellText) {
    const auto is_space = [](char c) { return c == '\n' || c == '\t'; };
    std::replace_if(text.begin(), text.end(), is_space, ' ');
  }
  Place inside = place;
  if (inside.format == nullptr) inside.format = formats_.OfText(event.name, drawing);
  pieces->AddText(inside, event, events_[event.partner].end, std::move(text));
}

void RichTextReader::ReadReference(const XmlEvent& reference, const Place& place,
                                   PieceList* pieces) {
  std::string characters = CharactersNamed(XmlBytes(part_, reference));
  if (!characters.empty() && !IsSymbol(characters)) {
    return pieces->AddText(place, reference, reference.end, std::move(characters));
  }
  Piece& mark = pieces->AddMark(place, reference, reference.end);
  if (IsSymbolSpace(characters)) mark.space = ' ';
}

// Text between tags and what stands among it.
void RichTextReader::ReadMixedText(const XmlEvent& event, const Place& place, PieceList* pieces) {
  if (event.kind == XmlEvent::kOther) {
    pieces->AddMark(place, event, event.end);
  } else if (event.kind == XmlEvent::kReference) {
    ReadReference(event, place, pieces);
  } else if (event.kind == XmlEvent::kCdata || kind_ != XmlVocabulary::kXhtml) {
    ReadCharacters(event, place, pieces);
  } else {
    XmlEvent rest = event;
    while (rest.begin < rest.end) {
      const std::string_view raw = XmlBytes(part_, rest);
      const std::string_view symbol = NumberedSymbol(raw);
      XmlEvent text = rest, reference = rest;
      text.end = reference.begin = static_cast<size_t>(symbol.data() - part_.data());
      rest.begin = reference.end = reference.begin + symbol.size();
      rest.line += static_cast<int>(std::count(raw.data(), symbol.data(), '\n'));
      reference.line = rest.line;
      if (text.begin < text.end) ReadCharacters(text, place, pieces);
      if (!symbol.empty()) ReadReference(reference, place, pieces);
    }
  }
}

// White space is one space.
void RichTextReader::ReadCharacters(const XmlEvent& event, const Place& place, PieceList* pieces) {
  const std::string_view raw = XmlBytes(part_, event);
  // White space at the ends is text of its own, which stays where it is at an end of a paragraph.
  const bool cdata = event.kind == XmlEvent::kCdata;
  const size_t first = cdata ? 0 : std::min(raw.find_first_not_of(kXmlSpaces), raw.size());
  const size_t last = cdata ? raw.size() : std::max(first, raw.find_last_not_of(kXmlSpaces) + 1);
  const auto add = [&](size_t begin, size_t end) {
    if (begin == end) return;
    XmlEvent at = event;
    at.begin = event.begin + begin;
    at.line += static_cast<int>(std::count(raw.begin(), raw.begin() + begin, '\n'));
    pieces->AddText(place, at, event.begin + end,
                    OneSpace(XmlText(raw.substr(begin, end - begin))));
  };
  if (first > 0 && pieces->EndsInLine()) {  // the line ends in the file, too
    XmlEvent at = event;
    at.end = event.begin + first;
    pieces->AddMark(place, at, at.end).space = '\n';
  } else {
    add(0, first);
  }
  size_t begin = first;
  // Sentences of a long paragraph are pieces, so that it can be cut between them.
  while (is_long_ && !cdata) {
    const std::string_view rest = raw.substr(begin, last - begin);
    size_t size = std::min({rest.find(". "), rest.find("? "), rest.find("! ")});
    if (size == rest.npos && rest.size() <= kMostPieceBytes) break;
    size = size < kMostPieceBytes ? size + 1 : CutPlace(rest, kMostPieceBytes);
    const std::string_view piece = rest.substr(0, size);
    const size_t end = begin + piece.find_last_not_of(kXmlSpaces) + 1;
    add(begin, end);
    begin = std::min(raw.find_first_not_of(kXmlSpaces, begin + size), last);
    add(end, begin);
  }
  add(begin, last);
  add(last, raw.size());
}

}  // namespace dragoman
