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
constexpr std::string_view kSpaces = " \t\r\n\v\f";

// The length of a `>>xx<<` that `text` begins with, without white space in it; 0 if there is none.
size_t LanguageCodeLength(std::string_view text) {
  if (!text.starts_with(">>")) return 0;
  const size_t end = text.find("<<", 3);
  if (end == std::string_view::npos) return 0;
  const std::string_view code = text.substr(2, end - 2);
  if (code.find_first_of(" \t\r\n<>") != std::string_view::npos) return 0;
  return end + 2;
}

std::string_view TrimRight(std::string_view text) {
  const size_t last = text.find_last_not_of(kSpaces);
  return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

size_t SpacesAt(std::string_view text) {
  return std::min(text.find_first_not_of(kSpaces), text.size());
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
  text_tokens -= over;
}

Tokenizer::Tokenizer(TokenizerParts parts) : parts_(std::move(parts)) {
  for (const SpecialToken& token : parts_.special_tokens) {
    if (!token.text.empty() && special_beginnings_.find(token.text[0]) == std::string::npos) {
      special_beginnings_.push_back(token.text[0]);
    }
  }
}

// The longest that `text` begins with; null if there is none.
const SpecialToken* Tokenizer::SpecialTokenAt(std::string_view text) const {
  const SpecialToken* longest = nullptr;
  for (const SpecialToken& token : parts_.special_tokens) {
    if (token.text.empty() || !text.starts_with(token.text)) continue;
    if (longest == nullptr || token.text.size() > longest->text.size()) longest = &token;
  }
  return longest;
}

// Adds the ids of a text without special tokens.
void Tokenizer::EncodeChunk(std::string_view chunk, std::vector<int32_t>* ids) const {
  const Vocabulary& vocabulary = *parts_.source_vocabulary;
  if (const size_t code = LanguageCodeLength(chunk); parts_.leading_language_code && code > 0) {
    ids->push_back(vocabulary.IdOf(std::string(chunk.substr(0, code))).value_or(parts_.unknown_id));
    chunk.remove_prefix(code);
  }
  for (const std::string& piece : parts_.source_pieces->Encode(chunk)) {
    ids->push_back(vocabulary.IdOf(piece).value_or(parts_.unknown_id));
  }
}

EncodedText Tokenizer::Encode(std::string_view text, const Frame& frame) const {
  std::string prefixed;
  if (!frame.text_prefix.empty() && !text.empty()) {
    prefixed = absl::StrCat(frame.text_prefix, std::string(text));
    text = prefixed;
  }
  EncodedText encoded;
  std::vector<int32_t>& ids = encoded.ids;
  ids = frame.before;
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
    if (!left.empty()) EncodeChunk(left, &ids);
    ids.push_back(token->id);
    i += token->text.size();
    if (token->trims_right) i += SpacesAt(text.substr(i));
    chunk = i;
  }
  if (chunk < text.size()) EncodeChunk(text.substr(chunk), &ids);
  encoded.text_tokens = static_cast<int>(ids.size() - frame.before.size());
  const bool ended = parts_.eos_once && encoded.text_tokens > 0 && frame.after.size() == 1 &&
                     ids.back() == frame.after.back();
  if (!ended) {
    encoded.after = static_cast<int>(frame.after.size());
    ids.insert(ids.end(), frame.after.begin(), frame.after.end());
  }
  encoded.unknown_tokens = static_cast<int>(std::count(ids.begin(), ids.end(), parts_.unknown_id));
  return encoded;
}

std::vector<int32_t> Tokenizer::EncodeTarget(std::string_view text) const {
  std::vector<int32_t> ids;
  for (const std::string& piece : parts_.target_pieces->Encode(text)) {
    ids.push_back(parts_.target_vocabulary->IdOf(piece).value_or(parts_.unknown_id));
  }
  return ids;
}

std::string Tokenizer::Decode(absl::Span<const int32_t> ids) const {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) {
    const std::string* piece = parts_.target_vocabulary->Find(id);
    const bool skipped =
        std::find(parts_.skipped.begin(), parts_.skipped.end(), id) != parts_.skipped.end();
    if (piece != nullptr && !skipped) pieces.push_back(*piece);
  }
  std::string text = parts_.target_pieces->Decode(pieces);
  constexpr std::string_view kMetaSpace = "▁";  // SentencePiece's mark of a space
  for (size_t i = text.find(kMetaSpace); i != std::string::npos; i = text.find(kMetaSpace, i)) {
    text.replace(i, kMetaSpace.size(), " ");
  }
  return std::string(StripWhiteSpace(text));
}

const std::string& Tokenizer::SourcePiece(int32_t id) const {
  return PieceOf(*parts_.source_vocabulary, id);
}

const std::string& Tokenizer::TargetPiece(int32_t id) const {
  return PieceOf(*parts_.target_vocabulary, id);
}

absl::StatusOr<std::shared_ptr<const PieceModel>> ReadPieceModel(const std::string& path) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  const std::string_view bytes(reinterpret_cast<const char*>(file->bytes().data()),
                               file->bytes().size());
  std::string error;
  std::shared_ptr<const PieceModel> model = PieceModel::Load(bytes, &error);
  if (model == nullptr) return absl::InvalidArgumentError(absl::StrCat(path, ": ", error));
  return model;
}

}  // namespace dragoman
