#include "engine/text/piece_model.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "engine/base/utf8.h"
#include "engine/text/chars_map.h"
#include "sentencepiece_processor.h"

namespace dragoman {
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

class SentencePieces : public PieceModel {
 public:
  bool LoadFrom(std::string_view bytes, std::string* error) {
    try {  // the library's own trie throws if it cannot be built
      const sentencepiece::util::Status status = processor_.LoadFromSerializedProto(bytes);
      if (!status.ok()) *error = status.ToString();
    } catch (const std::exception& exception) {
      *error = exception.what();
    }
    rewrites_ = HasDenormalizer(bytes);
    return error->empty();
  }

  std::vector<std::string> Encode(std::string_view text,
                                  std::vector<TextSpan>* spans) const override {
    std::vector<std::string> pieces;
    if (spans != nullptr) {
      *spans = SpansOf(processor_.EncodeAsImmutableProto(text), &pieces);
      if (!pieces.empty() || text.empty()) return pieces;
    }
    const sentencepiece::util::Status status = processor_.Encode(text, &pieces);
    // A text that cannot be segmented is one unknown piece, so that it is counted and never
    // silently lost.
    if (!status.ok()) pieces.assign(1, std::string(text));
    if (spans != nullptr) spans->assign(pieces.size(), {0, text.size()});
    return pieces;
  }

  std::vector<int32_t> EncodeAsIds(std::string_view text, bool,
                                   std::vector<TextSpan>* spans) const override {
    std::vector<int32_t> ids;
    const auto encoded = processor_.EncodeAsImmutableProto(text);
    for (const auto& piece : encoded.pieces()) ids.push_back(static_cast<int32_t>(piece.id()));
    if (spans != nullptr) {
      std::vector<std::string> pieces;
      *spans = SpansOf(encoded, &pieces);
    }
    return ids;
  }

  int32_t eos_id() const override { return processor_.eos_id(); }
  int32_t unknown_id() const override { return processor_.unk_id(); }

  bool Has(const std::string& piece) const override {
    return processor_.IdToPiece(processor_.PieceToId(piece)) == piece;
  }

  std::vector<std::string> Pieces() const override {
    std::vector<std::string> pieces;
    const int size = processor_.GetPieceSize();
    for (int id = 0; id < size; ++id) pieces.push_back(processor_.IdToPiece(id));
    return pieces;
  }

  std::string Decode(const std::vector<std::string>& pieces,
                     std::vector<TextSpan>* spans) const override {
    if (spans != nullptr) {
      const auto decoded = processor_.DecodePiecesAsImmutableProto(pieces);
      std::vector<std::string> same;
      *spans = SpansOf(decoded, &same);
      return decoded.text();
    }
    std::string text;
    const sentencepiece::util::Status status = processor_.Decode(pieces, &text);
    if (!status.ok()) text.clear();
    return text;
  }

  bool decodes_in_order() const override { return !rewrites_; }

 private:
  sentencepiece::SentencePieceProcessor processor_;
  bool rewrites_ = false;  // the text that it decodes
};

class Words : public PieceModel {
 public:
  Words() : any_word_(true) {}
  explicit Words(const std::vector<std::string>& words) : words_(words.begin(), words.end()) {}

  std::vector<std::string> Encode(std::string_view text,
                                  std::vector<TextSpan>* spans) const override {
    const std::string_view spaces = any_word_ ? " " : " \t\r\n";
    std::vector<std::string> pieces;
    if (spans != nullptr) spans->clear();
    const auto add = [&](size_t begin, size_t end) {
      pieces.emplace_back(text.substr(begin, end - begin));
      if (spans != nullptr) spans->push_back({begin, end});
    };
    for (size_t begin = 0; (begin = text.find_first_not_of(spaces, begin)) != text.npos;) {
      const size_t end = std::min(text.find_first_of(spaces, begin), text.size());
      if (any_word_ || words_.contains(std::string(text.substr(begin, end - begin)))) {
        add(begin, end);
        begin = end;
      }
      while (begin < end) {  // a character
        const size_t first = begin;
        (void)NextCodePoint(text, &begin);
        add(first, begin);
      }
    }
    return pieces;
  }

  std::vector<int32_t> EncodeAsIds(std::string_view, bool, std::vector<TextSpan>*) const override {
    return {};
  }

  bool has_file() const override { return false; }
  bool Has(const std::string&) const override { return false; }
  std::vector<std::string> Pieces() const override { return {}; }

  std::string Decode(const std::vector<std::string>& pieces,
                     std::vector<TextSpan>* spans) const override {
    std::string text;
    if (spans != nullptr) spans->clear();
    for (const std::string& piece : pieces) {
      text += (text.empty() ? "" : " ") + piece;
      if (spans != nullptr) spans->push_back({text.size() - piece.size(), text.size()});
    }
    return text;
  }

 private:
  const std::unordered_set<std::string> words_;
  const bool any_word_ = false;  // any word is a piece, listed or not
};

class Bytes : public PieceModel {
 public:
  explicit Bytes(int32_t first) : first_(first) {}

  std::vector<std::string> Encode(std::string_view text,
                                  std::vector<TextSpan>* spans) const override {
    std::vector<std::string> pieces;
    for (const char byte : text) pieces.push_back(PieceOfByte(static_cast<uint8_t>(byte)));
    if (spans != nullptr) *spans = SpansIn(text);
    return pieces;
  }

  std::vector<int32_t> EncodeAsIds(std::string_view text, bool,
                                   std::vector<TextSpan>* spans) const override {
    std::vector<int32_t> ids;
    for (const char byte : text) ids.push_back(first_ + static_cast<uint8_t>(byte));
    if (spans != nullptr) *spans = SpansIn(text);
    return ids;
  }

  bool Has(const std::string& piece) const override { return ByteOfPiece(piece) >= 0; }

  std::vector<std::string> Pieces() const override {
    std::vector<std::string> pieces(first_);
    for (int byte = 0; byte < 256; ++byte) pieces.push_back(PieceOfByte(byte));
    return pieces;
  }

  std::string Decode(const std::vector<std::string>& pieces,
                     std::vector<TextSpan>* spans) const override {
    std::string bytes, text;
    for (const std::string& piece : pieces) bytes += static_cast<char>(ByteOfPiece(piece));
    if (spans != nullptr) spans->clear();
    for (size_t i = 0; i < bytes.size();) {
      const size_t begin = i, written = text.size();
      const bool valid = NextCodePoint(bytes, &i) != kNoCharacter || i - begin > 1;
      if (valid) text.append(bytes, begin, i - begin);
      if (spans != nullptr) spans->insert(spans->end(), i - begin, {written, text.size()});
    }
    return text;
  }

 private:
  static std::vector<TextSpan> SpansIn(std::string_view text) {
    std::vector<TextSpan> spans;
    for (size_t i = 0; i < text.size();) {
      const size_t begin = i;
      (void)NextCodePoint(text, &i);
      spans.insert(spans.end(), i - begin, {begin, i});
    }
    return spans;
  }

  const int32_t first_;
};

}  // namespace

std::string PieceOfByte(uint8_t byte) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  return {'<', '0', 'x', kDigits[byte >> 4], kDigits[byte & 15], '>'};
}

int ByteOfPiece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return -1;
  int byte = 0;
  const auto [end, error] = std::from_chars(piece.data() + 3, piece.data() + 5, byte, 16);
  return error == std::errc() && end == piece.data() + 5 ? byte : -1;
}

std::unique_ptr<const PieceModel> PieceModel::Load(std::string_view bytes, std::string* error) {
  if (bytes.empty()) {  // the library would accept it as a model without pieces
    *error = "the file is empty";
    return nullptr;
  }
  if (!CheckCharsMap(bytes, error)) return nullptr;
  auto model = std::make_unique<SentencePieces>();
  if (!model->LoadFrom(bytes, error)) return nullptr;
  return model;
}

std::unique_ptr<const PieceModel> PieceModel::OfWords(const std::vector<std::string>& words) {
  return std::make_unique<const Words>(words);
}

std::unique_ptr<const PieceModel> PieceModel::OfSpaces() { return std::make_unique<const Words>(); }

std::unique_ptr<const PieceModel> PieceModel::OfBytes(int32_t first) {
  return std::make_unique<const Bytes>(first);
}

}  // namespace dragoman
