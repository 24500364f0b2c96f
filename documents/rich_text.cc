#include "documents/rich_text.h"

#include <string>
#include <utility>

#include "documents/composition.h"
#include "documents/rich_text_reader.h"
#include "engine/base/status.h"

namespace dragoman {

void RichTextReader::FindBlockElements() {
  is_block_.resize(events_.size());
  std::vector<size_t> open;
  for (size_t i = 0; i < events_.size(); ++i) {
    if (events_[i].kind == XmlEvent::kEnd) open.pop_back();
    if (events_[i].kind != XmlEvent::kStart) continue;
    if (roles_[i] == Role::kSkipped || roles_[i] == Role::kMark) {
      i = events_[i].partner;
      continue;
    }
    open.push_back(i);
    if (roles_[i] != Role::kOther && roles_[i] != Role::kParagraph) continue;
    for (auto o = open.rbegin(); o != open.rend() && !is_block_[*o]; ++o) is_block_[*o] = true;
  }
}

void RichTextReader::Finish(PieceList* pieces, bool translated, Blocks* inner) {
  constexpr size_t kBytesOfBlock = sizeof(Composition) + 2 * sizeof(Block) + 64;
  std::vector<std::vector<Piece>> parts;
  if (kind_ == XmlVocabulary::kXhtml) {
    parts = CutPieces(pieces->Take());
  } else {
    parts.push_back(pieces->Take());
  }
  for (std::vector<Piece>& part : parts) {
    for (Block& block : FindBlocks(std::move(part), translated)) {
      if (!patience_->Takes(kBytesOfBlock)) return;
      if (inner == nullptr) {
        passages_.Add(MakePassage(part_, std::move(block)));
      } else {
        inner->push_back(std::move(block));
      }
    }
  }
}

// Elements that are in no paragraph.
void RichTextReader::ReadOutside(size_t begin, size_t end, Blocks* inner) {
  for (size_t i = begin; i < end; ++i) {
    if (!patience_->Lasts(sizeof(XmlEvent))) return;
    if (events_[i].kind != XmlEvent::kStart) continue;
    const Role role = roles_[i];
    if (role == Role::kStyle) formats_.AddStyle(events_, i);
    if (kind_ == XmlVocabulary::kXhtml) {
      ReadXhtmlBlock(i, events_[i].partner + 1, true);
    } else if (role == Role::kParagraph) {
      ReadParagraph(i, inner);
    } else if (role == Role::kCell) {
      ReadCell(i, inner);
    } else if (role != Role::kSkipped && role != Role::kStyle) {
      continue;  // to what is in it
    }
    i = events_[i].partner;
  }
}

void RichTextReader::ReadParagraph(size_t i, Blocks* inner) {
  PieceList pieces(part_, patience_);
  ReadInline(i + 1, events_[i].partner, {}, &pieces);
  Finish(&pieces, formats_.IsTranslated(events_, i), inner);
}

// Numbers, dates and results of formulas are written as paragraphs, too; comments are text.
void RichTextReader::ReadCell(size_t i, Blocks* inner) {
  const std::string type = AttributeNamed(Tag(i), "value-type");
  const bool text = (type.empty() || type == "string") && AttributeNamed(Tag(i), "formula").empty();
  for (size_t child = i + 1; child < events_[i].partner; ++child) {
    if (events_[child].kind != XmlEvent::kStart) continue;
    if (text || roles_[child] != Role::kParagraph) {
      ReadOutside(child, events_[child].partner + 1, inner);
    }
    child = events_[child].partner;
  }
}

// What stands between two tags of blocks is a paragraph.
void RichTextReader::ReadXhtmlBlock(size_t begin, size_t end, bool translated) {
  PieceList pieces(part_, patience_);
  const bool outer = is_long_;
  is_long_ = begin < end && events_[end - 1].end - events_[begin].begin > kMostBlockBytes;
  for (size_t i = begin; i < end && patience_->Lasts(sizeof(XmlEvent)); ++i) {
    const XmlEvent& event = events_[i];
    const bool starts = event.kind == XmlEvent::kStart;
    if (starts && IsBlock(i)) {
      Finish(&pieces, translated, nullptr);
      ReadXhtmlBlock(i + 1, event.partner, IsXhtmlTranslated(Tag(i), translated));
    } else if (event.kind != XmlEvent::kEnd) {
      ReadInline(i, starts ? event.partner + 1 : i + 1, {}, &pieces);
    }
    if (starts) i = event.partner;
  }
  Finish(&pieces, translated, nullptr);
  is_long_ = outer;
}

absl::StatusOr<std::vector<Passage>> ReadRichText(std::string_view part,
                                                  const XmlVocabulary& vocabulary,
                                                  Patience* patience) {
  ASSIGN_OR_RETURN(const std::vector<XmlEvent> events,
                   ReadXmlEvents(part, patience, vocabulary.reads));
  return RichTextReader(part, vocabulary, events, patience).Read();
}

}  // namespace dragoman
