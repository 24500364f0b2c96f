#include "engine/text/piece_model.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <unordered_set>
#include <utility>

#include "engine/text/chars_map.h"
#include "sentencepiece_processor.h"

namespace dragoman {

struct PieceModel::Impl {
  sentencepiece::SentencePieceProcessor processor;
  std::optional<std::unordered_set<std::string>> words;  // instead of the processor
  bool rewrites = false;                                 // the text that it decodes

  bool any_word = false;  // accept any word as a piece, listed or not

  std::vector<std::string> SplitWords(std::string_view text, std::vector<TextSpan>* spans) const;
};

namespace {

// Of the pieces that come from one character, the library gives the character to the last one and
// leaves the others empty.
void ShareCharacters(std::vector<TextSpan>* spans) {
  for (size_t i = spans->size(); i-- > 1;) {
    TextSpan& before = (*spans)[i - 1];
    const TextSpan& span = (*spans)[i];
    if (before.size() == 0 && before.end == span.begin) before = span;
  }
}

std::vector<TextSpan> SpansOf(const sentencepiece::ImmutableSentencePieceText& text,
                              std::vector<std::string>* pieces) {
  std::vector<TextSpan> spans;
  for (const auto& piece : text.pieces()) {
    spans.push_back({piece.begin(), piece.end()});
    pieces->push_back(piece.piece());
  }
  ShareCharacters(&spans);
  return spans;
}

}  // namespace

std::vector<std::string> PieceModel::Impl::SplitWords(std::string_view text,
                                                      std::vector<TextSpan>* spans) const {
  const std::string_view spaces = any_word ? " " : " \t\r\n";
  std::vector<std::string> pieces;
  const auto note = [&](size_t begin, size_t end) {
    if (spans != nullptr) spans->push_back({begin, end});
  };
  for (size_t begin = 0; (begin = text.find_first_not_of(spaces, begin)) != text.npos;) {
    const size_t end = std::min(text.find_first_of(spaces, begin), text.size());
    const std::string word(text.substr(begin, end - begin));
    if (any_word || words->contains(word)) {
      pieces.push_back(word);
      note(begin, end);
      begin = end;
      continue;
    }
    while (begin < end) {  // one character: a first byte and its continuation bytes
      size_t next = begin + 1;
      while (next < end && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80) ++next;
      pieces.emplace_back(text.substr(begin, next - begin));
      note(begin, next);
      begin = next;
    }
  }
  return pieces;
}

PieceModel::PieceModel(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
PieceModel::~PieceModel() = default;

std::unique_ptr<const PieceModel> PieceModel::Load(std::string_view bytes, std::string* error) {
  if (bytes.empty()) {  // the library would accept it as a model without pieces
    *error = "the file is empty";
    return nullptr;
  }
  if (!CheckCharsMap(bytes, error)) return nullptr;
  auto impl = std::make_unique<Impl>();
  try {  // the library's own trie throws if it cannot be built
    const sentencepiece::util::Status status = impl->processor.LoadFromSerializedProto(bytes);
    if (!status.ok()) {
      *error = status.ToString();
      return nullptr;
    }
  } catch (const std::exception& exception) {
    *error = exception.what();
    return nullptr;
  }
  impl->rewrites = HasDenormalizer(bytes);
  return std::unique_ptr<const PieceModel>(new PieceModel(std::move(impl)));
}

bool PieceModel::decodes_in_order() const { return !impl_->rewrites; }

std::unique_ptr<const PieceModel> PieceModel::OfWords(const std::vector<std::string>& words) {
  auto impl = std::make_unique<Impl>();
  impl->words.emplace(words.begin(), words.end());
  return std::unique_ptr<const PieceModel>(new PieceModel(std::move(impl)));
}

std::unique_ptr<const PieceModel> PieceModel::OfSpaces() {
  auto impl = std::make_unique<Impl>();
  impl->words.emplace();
  impl->any_word = true;
  return std::unique_ptr<const PieceModel>(new PieceModel(std::move(impl)));
}

std::vector<int32_t> PieceModel::EncodeAsIds(std::string_view text,
                                             std::vector<TextSpan>* spans) const {
  std::vector<int32_t> ids;
  const auto encoded = impl_->processor.EncodeAsImmutableProto(text);
  for (const auto& piece : encoded.pieces()) ids.push_back(static_cast<int32_t>(piece.id()));
  if (spans != nullptr) {
    std::vector<std::string> pieces;
    *spans = SpansOf(encoded, &pieces);
  }
  return ids;
}

int32_t PieceModel::eos_id() const { return impl_->processor.eos_id(); }
int32_t PieceModel::unknown_id() const { return impl_->processor.unk_id(); }

std::vector<std::string> PieceModel::Encode(std::string_view text,
                                            std::vector<TextSpan>* spans) const {
  if (spans != nullptr) spans->clear();
  if (impl_->words.has_value()) return impl_->SplitWords(text, spans);
  std::vector<std::string> pieces;
  if (spans != nullptr) {
    *spans = SpansOf(impl_->processor.EncodeAsImmutableProto(text), &pieces);
    if (!pieces.empty() || text.empty()) return pieces;
  }
  const sentencepiece::util::Status status = impl_->processor.Encode(text, &pieces);
  // A text that cannot be segmented is one unknown piece, so that it is counted and never silently
  // lost.
  if (!status.ok()) pieces.assign(1, std::string(text));
  if (spans != nullptr) spans->assign(pieces.size(), {0, text.size()});
  return pieces;
}

bool PieceModel::has_file() const { return !impl_->words.has_value(); }

bool PieceModel::Has(const std::string& piece) const {
  if (!has_file()) return false;
  return impl_->processor.IdToPiece(impl_->processor.PieceToId(piece)) == piece;
}

std::vector<std::string> PieceModel::Pieces() const {
  std::vector<std::string> pieces;
  const int size = impl_->processor.GetPieceSize();
  for (int id = 0; id < size; ++id) pieces.push_back(impl_->processor.IdToPiece(id));
  return pieces;
}

std::string PieceModel::Decode(const std::vector<std::string>& pieces,
                               std::vector<TextSpan>* spans) const {
  std::string text;
  if (spans != nullptr) spans->clear();
  if (impl_->words.has_value()) {
    for (const std::string& piece : pieces) {
      text += (text.empty() ? "" : " ") + piece;
      if (spans != nullptr) spans->push_back({text.size() - piece.size(), text.size()});
    }
    return text;
  }
  if (spans != nullptr) {
    const auto decoded = impl_->processor.DecodePiecesAsImmutableProto(pieces);
    std::vector<std::string> same;
    *spans = SpansOf(decoded, &same);
    return decoded.text();
  }
  const sentencepiece::util::Status status = impl_->processor.Decode(pieces, &text);
  if (!status.ok()) text.clear();
  return text;
}

}  // namespace dragoman
