#include "documents/composition.h"

#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "documents/source_text.h"
#include "engine/base/xml_events.h"

namespace dragoman {
namespace {

std::string_view KeyOf(const FormatPointer& format) {
  return format == nullptr ? std::string_view() : format->key;
}

// The format of most of the letters in pieces [begin, end) that are in no group; none without any.
std::optional<FormatPointer> MainFormat(const Block& block, size_t begin, size_t end) {
  struct Use {
    FormatPointer format;
    size_t letters = 0;
  };
  std::map<std::string_view, Use> uses;
  const Use* main = nullptr;
  for (size_t i = begin; i < end; ++i) {
    const Piece& piece = block.pieces[i];
    if (piece.kind == Piece::kOpen) i = ClosingPiece(block.pieces, i);
    if (piece.kind != Piece::kText || !IsTranslated(piece.format) || IsBlank(piece.text)) continue;
    Use& use = uses.try_emplace(KeyOf(piece.format), Use{piece.format}).first->second;
    use.letters += piece.text.size();
    if (main == nullptr || use.letters > main->letters) main = &use;
  }
  if (main == nullptr) return std::nullopt;
  return main->format;
}

// Of the first text of a block.
FormatPointer FirstFormat(const Block& block) {
  for (const Piece& piece : block.pieces) {
    if (piece.kind == Piece::kText) return piece.format;
  }
  return nullptr;
}

// White space in another format than its neighbours may be seen, so it is a mark; not a single
// space.
bool IsMark(const Piece& piece, const FormatPointer& base) {
  if (piece.kind == Piece::kMark) return true;
  return IsBlankText(piece) && piece.text.size() > 1 && KeyOf(piece.format) != KeyOf(base);
}

}  // namespace

void Composition::AppendText(std::string_view text) {
  text_ += EscapeXml(text);
  if (!text.empty()) last_ = text.back();
}

void Composition::ComposeBlock(const Block& block) {
  const std::optional<FormatPointer> base = MainFormat(block, block.core_begin, block.core_end);
  last_ = ' ';
  const size_t number = AddElement({.kind = Element::kBlock,
                                    .block = &block,
                                    .format = base.has_value() ? *base : FirstFormat(block)});
  const bool only = blocks_.size() == 1;
  // The line break ends a sentence, whatever elements do.
  if (!only) absl::StrAppend(&text_, number > 1 ? "\n" : "", "<p", number, ">");
  ComposePieces(block, block.core_begin, block.core_end, base.value_or(nullptr));
  if (!only) absl::StrAppend(&text_, "</p", number, ">");
}

void Composition::ComposePieces(const Block& block, size_t begin, size_t end,
                                const FormatPointer& base) {
  for (size_t i = begin; i < end;) {
    const Piece& piece = block.pieces[i];
    if (IsMark(piece, base)) {
      i = ComposeMarks(block, i, end, base);
    } else if (piece.kind == Piece::kOpen) {
      i = ComposeGroup(block, i);
    } else {
      i = ComposeText(block, i, end, base);
    }
  }
}

size_t Composition::ComposeText(const Block& block, size_t i, size_t end,
                                const FormatPointer& base) {
  const Piece& piece = block.pieces[i];
  if (IsBlankText(piece) || KeyOf(piece.format) == KeyOf(base)) {
    AppendText(piece.text);
    return i + 1;
  }
  // The format goes on over marks up to its last text.
  size_t stop = i + 1;
  for (size_t j = stop; j < end; ++j) {
    const Piece& next = block.pieces[j];
    const bool same = next.kind == Piece::kText && KeyOf(next.format) == KeyOf(piece.format);
    if (same) stop = j + 1;
    if (!same && next.kind != Piece::kMark && !IsBlankText(next)) break;
  }
  ComposeFormat(block, i, stop, piece.format);
  return stop;
}

void Composition::ComposeFormat(const Block& block, size_t begin, size_t end,
                                const FormatPointer& format) {
  const size_t number = AddElement({.kind = Element::kFormat, .block = &block, .format = format});
  absl::StrAppend(&text_, "<g", number, IsTranslated(format) ? "" : " translate=\"no\"", ">");
  ComposePieces(block, begin, end, format);
  absl::StrAppend(&text_, "</g", number, ">");
}

// Returns the piece after the group.
size_t Composition::ComposeGroup(const Block& block, size_t open) {
  const size_t close = ClosingPiece(block.pieces, open);
  const std::optional<FormatPointer> base = MainFormat(block, open + 1, close);
  const size_t number = AddElement({.kind = Element::kGroup,
                                    .block = &block,
                                    .first = open,
                                    .last = close,
                                    .format = base.has_value() ? *base : FirstFormat(block)});
  const bool translated = block.pieces[open].translated;
  absl::StrAppend(&text_, "<g", number, translated ? "" : " translate=\"no\"", ">");
  ComposePieces(block, open + 1, close, base.value_or(nullptr));
  absl::StrAppend(&text_, "</g", number, ">");
  return close + 1;
}

// Marks that stand together have one tag.  Returns the piece after them.
size_t Composition::ComposeMarks(const Block& block, size_t first, size_t end,
                                 const FormatPointer& base) {
  Element marks = {.kind = Element::kMarks, .block = &block, .first = first, .last = first};
  for (; marks.last < end && IsMark(block.pieces[marks.last], base); ++marks.last) {
    const Piece& mark = block.pieces[marks.last];
    if (mark.space != '\0' && marks.space != '\n') marks.space = mark.space;
    if (mark.ordered) marks.ordered = true;
  }
  if (IsBlank({&last_, 1})) marks.space = '\0';
  if (marks.space != '\0') text_ += last_ = marks.space;
  const size_t next = marks.last;
  absl::StrAppend(&text_, "<x", AddElement(std::move(marks)), "/>");
  return next;
}

Passage MakePassage(std::string_view part, Block block) {
  const auto composition = std::make_shared<const Composition>(part, std::move(block));
  const Block& root = composition->root();
  return {.begin = root.begin,
          .end = root.end,
          .line = root.pieces[root.core_begin].line,
          .text = composition->text(),
          .markup = PassageMarkup::kXml,
          .write = [composition](std::string_view translation) {
            return composition->Write(translation);
          }};
}

}  // namespace dragoman
