#include "engine/text/tokenizer.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr char kUnknown[] = "<unk>";

// The length of a `>>xx<<` without white space at the start of `text`; 0 if there is none.
size_t LanguageCodeLength(std::string_view text) {
  if (!text.starts_with(">>")) return 0;
  const size_t end = text.find("<<", 3);
  if (end == std::string_view::npos) return 0;
  const std::string_view code = text.substr(2, end - 2);
  if (code.find_first_of(" \t\r\n<>") != std::string_view::npos) return 0;
  return end + 2;
}

// The part of the span without white space at its ends.
TextSpan WithoutWhiteSpace(std::string_view text, TextSpan span) {
  const auto inside = [text](size_t i) {  // a character
    return i < text.size() && (static_cast<uint8_t>(text[i]) & 0xC0) == 0x80;
  };
  while (span.begin > 0 && inside(span.begin)) --span.begin;
  while (inside(span.end)) ++span.end;
  const std::string_view part = text.substr(span.begin, span.size());
  const std::string_view left = StripWhiteSpace(part);
  if (left.empty()) return {span.end, span.end};
  const size_t begin = span.begin + static_cast<size_t>(left.data() - part.data());
  return {begin, begin + left.size()};
}

std::string_view TrimRight(std::string_view text) {
  while (!text.empty() && IsWhiteSpace(LastCodePoint(text))) {
    while ((static_cast<uint8_t>(text.back()) & 0xC0) == 0x80) text.remove_suffix(1);
    text.remove_suffix(1);
  }
  return text;
}

size_t SpacesAt(std::string_view text) {
  size_t end = 0;
  for (size_t i = 0; i < text.size() && IsWhiteSpace(NextCodePoint(text, &i));) end = i;
  return end;
}

// Drops trailing bytes that may be the start of a character whose other bytes are still to come.
void DropUnfinishedCharacter(std::vector<std::string>* pieces) {
  for (size_t bytes = 1; bytes <= 3 && bytes <= pieces->size(); ++bytes) {
    const int byte = ByteOfPiece((*pieces)[pieces->size() - bytes]);
    if (byte < 0x80) return;              // not a byte, or a character of its own
    if ((byte & 0xC0) == 0x80) continue;  // a continuation byte
    const size_t length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    if (length > bytes) pieces->resize(pieces->size() - bytes);
    return;
  }
}

// Whether this character's script is written without spaces between words: Thai, Lao, Tibetan,
// Burmese, Khmer, Chinese and Japanese.
bool IsOfScriptWithoutSpaces(char32_t c) {
  return (c >= 0x0E00 && c <= 0x109F) || (c >= 0x1780 && c <= 0x17FF) ||
         (c >= 0x2E80 && c <= 0x31FF) || (c >= 0x3400 && c <= 0x9FFF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF00 && c <= 0xFFEF) ||
         (c >= 0x20000 && c <= 0x3FFFF);
}

// Where the last word that may still continue begins, including the white space before it.
size_t EndOfWholeWords(std::string_view text) {
  size_t end = 0;
  bool in_space = false;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    const char32_t c = NextCodePoint(text, &i);
    const bool space = IsWhiteSpace(c);
    if (space && !in_space) end = begin;
    if (IsOfScriptWithoutSpaces(c) && !space) end = i;
    in_space = space;
  }
  return end;
}

const std::string& PieceOf(const Vocabulary& vocabulary, int32_t id) {
  static const std::string unknown(kUnknown);
  const std::string* piece = vocabulary.Find(id);
  return piece != nullptr ? *piece : unknown;
}

}  // namespace

void EncodedText::Truncate(int most) {
  const int over = std::min(static_cast<int>(ids.size()) - most, text_tokens);
  if (over <= 0) return;
  const auto end = ids.end() - after;
  ids.erase(end - over, end);
  if (!spans.empty()) spans.erase(spans.end() - after - over, spans.end() - after);
  text_tokens -= over;
}

Tokenizer::Tokenizer(TokenizerParts parts) : parts_(std::move(parts)) {
  for (const SpecialToken& token : parts_.special_tokens) {
    if (!token.text.empty() && special_beginnings_.find(token.text[0]) == std::string::npos) {
      special_beginnings_.push_back(token.text[0]);
    }
  }
}

// The longest special token at the start of `text`; null if there is none.
const SpecialToken* Tokenizer::SpecialTokenAt(std::string_view text) const {
  const SpecialToken* longest = nullptr;
  for (const SpecialToken& token : parts_.special_tokens) {
    if (token.text.empty() || !text.starts_with(token.text)) continue;
    if (longest == nullptr || token.text.size() > longest->text.size()) longest = &token;
  }
  return longest;
}

// Adds the ids of a part of the text that contains no special tokens.
void Tokenizer::EncodeChunk(std::string_view text, TextSpan chunk, bool with_spans,
                            EncodedText* encoded) const {
  const Vocabulary& vocabulary = *parts_.source_vocabulary;
  std::string_view left = text.substr(chunk.begin, chunk.size());
  const auto add = [&](const std::string& piece) {
    encoded->ids.push_back(vocabulary.IdOf(piece).value_or(parts_.unknown_id));
  };
  if (const size_t code = LanguageCodeLength(left); parts_.leading_language_code && code > 0) {
    add(std::string(left.substr(0, code)));
    if (with_spans) encoded->spans.push_back({chunk.begin, chunk.begin + code});
    left.remove_prefix(code);
    chunk.begin += code;
  }
  std::vector<TextSpan> spans;
  std::vector<TextSpan>* const wanted = with_spans ? &spans : nullptr;
  if (parts_.numbered_pieces) {
    const std::vector<int32_t> numbers =
        parts_.source_pieces->EncodeAsIds(left, /*starts=*/chunk.begin == 0, wanted);
    encoded->ids.insert(encoded->ids.end(), numbers.begin(), numbers.end());
  } else {
    for (const std::string& piece : parts_.source_pieces->Encode(left, wanted)) add(piece);
  }
  for (const TextSpan& span : spans) {
    encoded->spans.push_back(
        WithoutWhiteSpace(text, {chunk.begin + span.begin, chunk.begin + span.end}));
  }
}

void Tokenizer::EncodeText(std::string_view text, bool with_spans, EncodedText* encoded) const {
  size_t chunk = 0;  // where the text after the last special token begins
  for (size_t i = text.find_first_of(special_beginnings_); i != std::string_view::npos;
       i = text.find_first_of(special_beginnings_, i)) {
    const SpecialToken* token = SpecialTokenAt(text.substr(i));
    if (token == nullptr) {
      ++i;
      continue;
    }
    std::string_view left = text.substr(chunk, i - chunk);
    if (token->trims_left) left = TrimRight(left);
    if (!left.empty()) EncodeChunk(text, {chunk, chunk + left.size()}, with_spans, encoded);
    encoded->ids.push_back(token->id);
    if (with_spans) encoded->spans.push_back({i, i + token->text.size()});
    i += token->text.size();
    if (token->trims_right) i += SpacesAt(text.substr(i));
    chunk = i;
  }
  if (chunk < text.size()) EncodeChunk(text, {chunk, text.size()}, with_spans, encoded);
}

// Whether the text itself says which language it wants.
bool Tokenizer::BeginsWithCode(std::string_view text) const {
  if (!parts_.leading_language_code) return false;
  const size_t code = LanguageCodeLength(text);
  return code > 0 && parts_.source_vocabulary->IdOf(std::string(text.substr(0, code))).has_value();
}

EncodedText Tokenizer::Encode(std::string_view text, const Frame& frame, bool with_spans) const {
  std::string prefixed;
  if (!frame.text_prefix.empty() && !text.empty() && !BeginsWithCode(text)) {
    prefixed = absl::StrCat(frame.text_prefix, std::string(text));
    text = prefixed;
  }
  EncodedText encoded;
  std::vector<int32_t>& ids = encoded.ids;
  ids = frame.before;
  if (with_spans) encoded.spans.resize(ids.size());
  EncodeText(text, with_spans, &encoded);
  encoded.text_tokens = static_cast<int>(ids.size() - frame.before.size());
  if (encoded.text_tokens > 0 && ids[frame.before.size()] == parts_.ends_text) {
    encoded.text_tokens = 0;
  }
  if (parts_.reversed) {
    std::reverse(ids.begin() + frame.before.size(), ids.end());
    if (with_spans) std::reverse(encoded.spans.begin() + frame.before.size(), encoded.spans.end());
  }
  const bool ended = parts_.eos_once && encoded.text_tokens > 0 && frame.after.size() == 1 &&
                     ids.back() == frame.after.back();
  if (!ended) {
    encoded.after = static_cast<int>(frame.after.size());
    ids.insert(ids.end(), frame.after.begin(), frame.after.end());
    if (with_spans) encoded.spans.resize(ids.size(), {text.size(), text.size()});
  }
  // The prefix is not part of the text.
  const size_t added = prefixed.empty() ? 0 : frame.text_prefix.size();
  for (TextSpan& span : encoded.spans) {
    span.begin = std::max(span.begin, added) - added;
    span.end = std::max(span.end, added) - added;
  }
  return encoded;
}

std::vector<int32_t> Tokenizer::EncodeTarget(std::string_view text) const {
  std::vector<int32_t> ids;
  if (parts_.numbered_pieces) {
    ids = parts_.target_pieces->EncodeAsIds(text, /*starts=*/true);
  } else {
    for (const std::string& piece : parts_.target_pieces->Encode(text)) {
      ids.push_back(parts_.target_vocabulary->IdOf(piece).value_or(target_unknown_id()));
    }
  }
  if (parts_.reversed) std::reverse(ids.begin(), ids.end());
  return ids;
}

bool Tokenizer::WritesText(int32_t id) const {
  return parts_.target_vocabulary->Find(id) != nullptr &&
         std::find(parts_.skipped.begin(), parts_.skipped.end(), id) == parts_.skipped.end();
}

// The pieces of those ids that produce text.
std::vector<std::string> Tokenizer::PiecesOfText(absl::Span<const int32_t> ids) const {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) {
    if (WritesText(id)) pieces.push_back(*parts_.target_vocabulary->Find(id));
  }
  if (parts_.reversed) std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

std::string Tokenizer::TextOf(const std::vector<std::string>& pieces) const {
  std::string text = parts_.target_pieces->Decode(pieces);
  for (size_t i = text.find(kMetaSpace); i != std::string::npos; i = text.find(kMetaSpace, i)) {
    text.replace(i, kMetaSpace.size(), " ");
  }
  return std::string(StripWhiteSpace(text));
}

Tokenizer::DecodedText Tokenizer::DecodeWithSpans(absl::Span<const int32_t> ids,
                                                  absl::Span<const std::string> words) const {
  if (!parts_.reversed) return DecodeInOrder(ids, words);
  std::vector<std::string> words_of_all(words.begin(), words.end());
  words_of_all.resize(ids.size());
  DecodedText decoded =
      DecodeInOrder(std::vector<int32_t>(ids.rbegin(), ids.rend()),
                    std::vector<std::string>(words_of_all.rbegin(), words_of_all.rend()));
  std::reverse(decoded.spans.begin(), decoded.spans.end());
  return decoded;
}

// Decodes where the last token of `ids` also comes last in the text.
Tokenizer::DecodedText Tokenizer::DecodeInOrder(absl::Span<const int32_t> ids,
                                                absl::Span<const std::string> words) const {
  std::vector<std::string> pieces;
  std::vector<size_t> of_piece;  // the indices of the ids
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i < words.size() && !words[i].empty() && ids[i] == target_unknown_id()) {
      pieces.push_back(absl::StrCat(std::string(kMetaSpace), words[i]));
    } else if (WritesText(ids[i])) {
      pieces.push_back(*parts_.target_vocabulary->Find(ids[i]));
    } else {
      continue;
    }
    of_piece.push_back(i);
  }
  std::vector<TextSpan> of_pieces;
  const std::string decoded = parts_.target_pieces->Decode(pieces, &of_pieces);
  of_pieces.resize(pieces.size(), {decoded.size(), decoded.size()});

  // Stripping or adding a character at the front shifts the rest: spans move with their text.
  DecodedText result;
  std::vector<size_t> moved(decoded.size() + 1);  // where each byte went
  for (size_t i = 0; i < decoded.size();) {
    const bool space = std::string_view(decoded).substr(i).starts_with(kMetaSpace);
    const size_t length = space ? kMetaSpace.size() : 1;
    for (size_t k = 0; k < length; ++k) moved[i + k] = result.text.size();
    result.text += space ? ' ' : decoded[i];
    i += length;
  }
  moved[decoded.size()] = result.text.size();
  const TextSpan kept = WithoutWhiteSpace(result.text, {0, result.text.size()});
  const auto place = [&](size_t i) {
    return std::clamp(moved[std::min(i, decoded.size())], kept.begin, kept.end) - kept.begin;
  };
  result.text = result.text.substr(kept.begin, kept.size());
  result.spans.resize(ids.size());
  size_t end = 0, p = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    TextSpan& span = result.spans[i] = {end, end};
    if (p == of_piece.size() || of_piece[p] != i) continue;
    span = WithoutWhiteSpace(result.text, {place(of_pieces[p].begin), place(of_pieces[p].end)});
    end = span.end;
    ++p;
  }
  return result;
}

std::string Tokenizer::Decode(absl::Span<const int32_t> ids) const {
  return TextOf(PiecesOfText(ids));
}

std::string Tokenizer::DecodeStable(absl::Span<const int32_t> ids) const {
  if (parts_.reversed || !parts_.target_pieces->decodes_in_order()) return "";
  std::vector<std::string> pieces = PiecesOfText(ids);
  DropUnfinishedCharacter(&pieces);
  std::string text = TextOf(pieces);
  text.resize(EndOfWholeWords(text));
  return text;
}

const std::string& Tokenizer::SourcePiece(int32_t id) const {
  return PieceOf(*parts_.source_vocabulary, id);
}

const std::string& Tokenizer::TargetPiece(int32_t id) const {
  return PieceOf(*parts_.target_vocabulary, id);
}

absl::StatusOr<std::shared_ptr<const PieceModel>> ReadPieceModel(const std::string& path) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  const std::string_view bytes = file->text();
  std::string error;
  std::shared_ptr<const PieceModel> model = PieceModel::Load(bytes, &error);
  if (model == nullptr) return InvalidArgumentError(path, ": ", error);
  return model;
}

}  // namespace dragoman
