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

  std::vector<std::string> SplitWords(std::string_view text) const;
};

std::vector<std::string> PieceModel::Impl::SplitWords(std::string_view text) const {
  constexpr std::string_view kSpace = " \t\r\n";
  std::vector<std::string> pieces;
  for (size_t begin = 0; (begin = text.find_first_not_of(kSpace, begin)) != text.npos;) {
    const size_t end = std::min(text.find_first_of(kSpace, begin), text.size());
    const std::string word(text.substr(begin, end - begin));
    begin = end;
    if (words->contains(word)) {
      pieces.push_back(word);
      continue;
    }
    for (const unsigned char byte : word) {  // a character: a first byte and those that go on
      const bool first = (byte & 0xC0) != 0x80;
      if (first) pieces.emplace_back();
      pieces.back().push_back(static_cast<char>(byte));
    }
  }
  return pieces;
}

PieceModel::PieceModel(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
PieceModel::~PieceModel() = default;

std::unique_ptr<const PieceModel> PieceModel::Load(std::string_view bytes, std::string* error) {
  if (bytes.empty()) {  // which the library takes for a model without pieces
    *error = "the file is empty";
    return nullptr;
  }
  if (!CheckCharsMap(bytes, error)) return nullptr;
  auto impl = std::make_unique<Impl>();
  try {  // the library's own trie throws on what it cannot build
    const sentencepiece::util::Status status = impl->processor.LoadFromSerializedProto(bytes);
    if (!status.ok()) {
      *error = status.ToString();
      return nullptr;
    }
  } catch (const std::exception& exception) {
    *error = exception.what();
    return nullptr;
  }
  return std::unique_ptr<const PieceModel>(new PieceModel(std::move(impl)));
}

std::unique_ptr<const PieceModel> PieceModel::OfWords(const std::vector<std::string>& words) {
  auto impl = std::make_unique<Impl>();
  impl->words.emplace(words.begin(), words.end());
  return std::unique_ptr<const PieceModel>(new PieceModel(std::move(impl)));
}

std::vector<std::string> PieceModel::Encode(std::string_view text) const {
  if (impl_->words.has_value()) return impl_->SplitWords(text);
  std::vector<std::string> pieces;
  const sentencepiece::util::Status status = impl_->processor.Encode(text, &pieces);
  // What cannot be segmented is one unknown piece, so that it is counted and never lost silently.
  if (!status.ok()) pieces.assign(1, std::string(text));
  return pieces;
}

std::vector<std::string> PieceModel::Pieces() const {
  std::vector<std::string> pieces;
  const int size = impl_->processor.GetPieceSize();
  for (int id = 0; id < size; ++id) pieces.push_back(impl_->processor.IdToPiece(id));
  return pieces;
}

std::string PieceModel::Decode(const std::vector<std::string>& pieces) const {
  std::string text;
  if (impl_->words.has_value()) {
    for (const std::string& piece : pieces) text += (text.empty() ? "" : " ") + piece;
    return text;
  }
  const sentencepiece::util::Status status = impl_->processor.Decode(pieces, &text);
  if (!status.ok()) text.clear();
  return text;
}

}  // namespace dragoman
