// Takes a translation apart into its tags and the text between them, and writes what they stand
// for.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "documents/composition.h"
#include "documents/passage_tags.h"
#include "documents/source_text.h"
#include "engine/base/utf8.h"
#include "engine/base/xml_events.h"

namespace dragoman {
namespace {

// Whether XML can hold all of its characters, control characters aside.
bool IsXmlText(std::string_view text) {
  return IsValidUtf8(text) && text.find("\uFFFE") == text.npos && text.find("\uFFFF") == text.npos;
}

void WriteText(const FormatPointer& format, std::string_view text, std::string* out) {
  if (text.empty()) return;
  const std::string escaped = EscapeXml(text);
  if (format == nullptr) {
    *out += escaped;
  } else {
    absl::StrAppend(out, format->open, format->before_text, escaped, format->after_text,
                    format->close);
  }
}

// Whether a group is not translated, and nothing but its bytes says what is in it.
bool IsCopied(const std::vector<Piece>& pieces, size_t first, size_t last) {
  const Piece& open = pieces[first];
  const Piece& close = pieces[last];
  return !open.translated && open.bytes.empty() && close.bytes.empty() &&
         open.unit_begin == open.begin && close.unit_end == close.end;
}

}  // namespace

// False if it has other tags than elements_.
bool Composition::Parse(std::string_view translation, std::vector<Token>* tokens) const {
  size_t done = 0;
  const auto add_text = [&](size_t end) {
    if (end > done) tokens->push_back({Token::kText, translation.substr(done, end - done)});
  };
  for (const PassageTag& tag : FindPassageTags(translation)) {
    add_text(tag.begin);
    done = tag.end;
    if (tag.element >= elements_.size()) return false;
    constexpr std::string_view kNames = "pggx";  // by Element::Kind
    if (tag.name.front() != kNames[elements_[tag.element].kind]) return false;
    if (elements_[tag.element].kind == Element::kMarks) {
      if (!tag.closes) tokens->push_back({Token::kEmpty, {}, tag.element});
      continue;
    }
    if (!tag.closes) tokens->push_back({Token::kOpen, {}, tag.element});
    if (tag.closes || tag.empty) tokens->push_back({Token::kClose, {}, tag.element});
  }
  add_text(translation.size());
  return translation.find('<', done) == translation.npos;
}

// Whether each element is there once, properly nested, in its own block.
bool Composition::IsComplete(const std::vector<Token>& tokens) const {
  const bool only = blocks_.size() == 1;
  std::vector<size_t> open, seen(elements_.size());
  if (only) seen[0] = 1;
  const Block* block = only ? &root_ : nullptr;
  for (const Token& token : tokens) {
    const Element& element = elements_[token.element];
    if (token.kind == Token::kText) {
      if (block == nullptr && !IsBlank(token.text)) return false;
      continue;
    }
    if (token.kind == Token::kClose) {
      if (open.empty() || open.back() != token.element) return false;
      open.pop_back();
      if (element.kind == Element::kBlock) block = nullptr;
      continue;
    }
    if (++seen[token.element] > 1) return false;
    const bool begins = element.kind == Element::kBlock;
    if (begins ? block != nullptr : block != element.block) return false;
    if (begins) block = element.block;
    if (token.kind == Token::kOpen) open.push_back(token.element);
  }
  return open.empty() &&
         std::count(seen.begin(), seen.end(), 1) == static_cast<std::ptrdiff_t>(seen.size());
}

// Ordered marks that a translation exchanged take each other's places, and the space that was added
// before a mark goes.
void Composition::Order(std::vector<Token>* tokens) const {
  std::map<const Block*, std::vector<size_t>> ordered;
  for (const Token& token : *tokens) {
    const Element& element = elements_[token.element];
    if (token.kind == Token::kEmpty && element.ordered) {
      ordered[element.block].push_back(token.element);
    }
  }
  for (auto& [block, list] : ordered) std::sort(list.rbegin(), list.rend());
  for (size_t i = 0; i < tokens->size(); ++i) {
    Token& token = (*tokens)[i];
    if (token.kind != Token::kEmpty) continue;
    const Element& element = elements_[token.element];
    if (i > 0 && element.space != '\0' && (*tokens)[i - 1].kind == Token::kText) {
      std::string_view& before = (*tokens)[i - 1].text;
      if (!before.empty() && IsBlank(before.substr(before.size() - 1))) before.remove_suffix(1);
    }
    if (!element.ordered) continue;
    std::vector<size_t>& left = ordered[element.block];
    token.element = left.back();
    left.pop_back();
  }
}

void Composition::WriteMark(const Tokens& tokens, const Piece& piece, std::string* out) const {
  if (piece.format != nullptr) *out += piece.format->open;
  size_t place = piece.begin;
  for (const Block& inner : piece.inner) {
    out->append(part_.substr(place, inner.begin - place));
    WriteBlock(tokens, inner, out);
    place = inner.end;
  }
  if (piece.bytes.empty()) {
    out->append(part_.substr(place, piece.end - place));
  } else {
    *out += piece.bytes;
  }
  if (piece.format != nullptr) *out += piece.format->close;
}

void Composition::WritePiece(const Tokens& tokens, const Piece& piece, std::string* out) const {
  if (piece.kind == Piece::kText) return WriteText(piece.format, piece.text, out);
  WriteMark(tokens, piece, out);
}

void Composition::WriteTokens(const Tokens& tokens, const Range& range, std::string* out) const {
  std::vector<FormatPointer> formats = {elements_[range.element].format};
  for (size_t i = range.begin; i < range.end; ++i) {
    const Token& token = tokens.list[i];
    const Element& element = elements_[token.element];
    const std::vector<Piece>& pieces = element.block->pieces;
    const bool group = element.kind == Element::kGroup;
    if (token.kind == Token::kText) {
      WriteText(formats.back(), XmlText(token.text), out);
    } else if (token.kind == Token::kOpen && group &&
               IsCopied(pieces, element.first, element.last)) {
      const size_t begin = pieces[element.first].begin;
      out->append(part_.substr(begin, pieces[element.last].end - begin));
      while (tokens.list[i].kind != Token::kClose || tokens.list[i].element != token.element) ++i;
    } else if (token.kind == Token::kOpen) {
      if (group) WritePiece(tokens, pieces[element.first], out);
      formats.push_back(element.format);
    } else if (token.kind == Token::kClose) {
      if (group) WritePiece(tokens, pieces[element.last], out);
      formats.pop_back();
    } else {
      for (size_t p = element.first; p < element.last; ++p) WritePiece(tokens, pieces[p], out);
    }
  }
}

void Composition::WriteBlock(const Tokens& tokens, const Block& block, std::string* out) const {
  for (size_t p = 0; p < block.core_begin; ++p) WritePiece(tokens, block.pieces[p], out);
  const Range& range = tokens.ranges.at(&block);
  WriteTokens(tokens, range, out);
  for (size_t p = block.core_end; p < block.pieces.size(); ++p) {
    WritePiece(tokens, block.pieces[p], out);
  }
}

std::string Composition::Write(std::string_view translation) const {
  const std::string_view came = part_.substr(root_.begin, root_.end - root_.begin);
  if (translation == text_ || !IsXmlText(translation)) return std::string(came);
  Tokens tokens;
  if (!Parse(translation, &tokens.list) || !IsComplete(tokens.list)) return std::string(came);
  Order(&tokens.list);
  if (blocks_.size() == 1) tokens.ranges[&root_] = {0, tokens.list.size(), 0};
  for (size_t i = 0; i < tokens.list.size(); ++i) {
    const Token& token = tokens.list[i];
    const Element& element = elements_[token.element];
    if (token.kind == Token::kText || element.kind != Element::kBlock) continue;
    Range& range = tokens.ranges[element.block];
    if (token.kind == Token::kOpen) range = {i + 1, i + 1, token.element};
    range.end = i;
  }
  std::string out;
  WriteBlock(tokens, root_, &out);
  return out;
}

}  // namespace dragoman
