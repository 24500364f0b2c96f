#include "engine/text/tokenizer.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/base/json.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/text/piece_model.h"

namespace dragoman {
namespace {

constexpr std::string_view kEos = "</s>";
constexpr std::string_view kUnknown = "<unk>";
constexpr std::string_view kPad = "<pad>";
constexpr std::array<std::string_view, 3> kSpecialTokens = {kEos, kUnknown, kPad};

constexpr int64_t kMaxVocabulary = 10'000'000;  // a larger id is a damaged file, not a vocabulary

// The pieces of vocab.json and their ids.
class Vocabulary {
 public:
  static absl::StatusOr<Vocabulary> Read(const std::string& path);

  int size() const { return static_cast<int>(pieces_.size()); }
  int32_t eos_id() const { return eos_id_; }
  int32_t unknown_id() const { return unknown_id_; }

  int32_t IdOf(const std::string& piece) const {
    const auto it = ids_.find(piece);
    return it != ids_.end() ? it->second : unknown_id_;
  }
  // nullptr for an id that no piece has.
  const std::string* Find(int32_t id) const {
    return id >= 0 && id < size() ? pieces_[id] : nullptr;
  }
  // The xx of all pieces `>>xx<<`, sorted.
  std::vector<std::string> Languages() const;

 private:
  absl::Status Add(const std::string& piece, const nlohmann::json& id);

  std::unordered_map<std::string, int32_t> ids_;
  std::vector<const std::string*> pieces_;  // by id; keys of ids_
  int32_t eos_id_ = 0;
  int32_t unknown_id_ = 0;
};

absl::Status Vocabulary::Add(const std::string& piece, const nlohmann::json& id) {
  if (!id.is_number_unsigned() || id.get<uint64_t>() >= kMaxVocabulary) {
    return absl::InvalidArgumentError(absl::StrCat("the id of \"", piece, "\" is ", id.dump(),
                                                   ", want a whole number from 0 to ",
                                                   kMaxVocabulary - 1));
  }
  const int32_t value = id.get<int32_t>();
  const auto it = ids_.emplace(piece, value).first;
  if (value >= size()) pieces_.resize(value + 1);
  if (pieces_[value] != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("both \"", *pieces_[value], "\" and \"", piece, "\" have the id ", value));
  }
  pieces_[value] = &it->first;
  return absl::OkStatus();
}

absl::StatusOr<Vocabulary> Vocabulary::Read(const std::string& path) {
  ASSIGN_OR_RETURN(const nlohmann::json json, ReadJsonObject(path));
  Vocabulary vocabulary;
  for (const auto& [piece, id] : json.items()) {
    const absl::Status status = vocabulary.Add(piece, id);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": ", absl::string_view(status.message())));
    }
  }
  for (const std::string_view token : kSpecialTokens) {
    if (vocabulary.ids_.count(std::string(token)) == 0) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": has no ", std::string(token)));
    }
  }
  vocabulary.eos_id_ = vocabulary.IdOf(std::string(kEos));
  vocabulary.unknown_id_ = vocabulary.IdOf(std::string(kUnknown));
  return vocabulary;
}

std::vector<std::string> Vocabulary::Languages() const {
  std::vector<std::string> languages;
  for (const auto& [piece, id] : ids_) {
    if (piece.size() > 4 && piece.starts_with(">>") && piece.ends_with("<<")) {
      languages.push_back(piece.substr(2, piece.size() - 4));
    }
  }
  std::sort(languages.begin(), languages.end());
  return languages;
}

absl::StatusOr<std::unique_ptr<const PieceModel>> ReadPieceModel(const std::string& path) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  const std::string_view bytes(reinterpret_cast<const char*>(file->bytes().data()),
                               file->bytes().size());
  std::string error;
  std::unique_ptr<const PieceModel> model = PieceModel::Load(bytes, &error);
  if (model == nullptr) return absl::InvalidArgumentError(absl::StrCat(path, ": ", error));
  return model;
}

// The fields of tokenizer_config.json that matter here.  The file may be missing.
struct TokenizerConfig {
  bool separate_vocabs = false;
  std::string source_language;
  std::string target_language;
};

absl::StatusOr<TokenizerConfig> ReadTokenizerConfig(const std::string& path) {
  absl::StatusOr<nlohmann::json> json = ReadJsonObject(path);
  if (absl::IsNotFound(json.status())) return TokenizerConfig();
  if (!json.ok()) return json.status();
  TokenizerConfig config;
  const auto separate = json->find("separate_vocabs");
  if (separate != json->end() && !separate->is_null()) {
    if (!separate->is_boolean()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": separate_vocabs is ", separate->type_name(), ", want a boolean"));
    }
    config.separate_vocabs = separate->get<bool>();
  }
  for (const auto& [field, target] : {std::pair("source_lang", &config.source_language),
                                      std::pair("target_lang", &config.target_language)}) {
    const auto it = json->find(field);
    if (it == json->end() || it->is_null()) continue;
    if (!it->is_string()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": ", field, " is a ", it->type_name(), ", want a string"));
    }
    *target = it->get<std::string>();
  }
  return config;
}

// The length of a `>>xx<<` that `text` begins with, without white space in it; 0 if there is none.
size_t LanguageCodeLength(std::string_view text) {
  if (!text.starts_with(">>")) return 0;
  const size_t end = text.find("<<", 3);
  if (end == std::string_view::npos) return 0;
  const std::string_view code = text.substr(2, end - 2);
  if (code.find_first_of(" \t\r\n<>") != std::string_view::npos) return 0;
  return end + 2;
}

// The special token that `text` begins with; empty if there is none.
std::string_view SpecialTokenAt(std::string_view text) {
  for (const std::string_view token : kSpecialTokens) {
    if (text.starts_with(token)) return token;
  }
  return {};
}

}  // namespace

struct Tokenizer::Impl {
  const Vocabulary& target() const { return target_vocabulary ? *target_vocabulary : vocabulary; }

  std::unique_ptr<const PieceModel> source_pieces;
  std::unique_ptr<const PieceModel> target_pieces;
  Vocabulary vocabulary;                                // of the source, or of both
  std::unique_ptr<const Vocabulary> target_vocabulary;  // only if the two are separate
  TokenizerConfig config;
  std::vector<std::string> languages;

  // Adds the ids of a text without special tokens.
  void EncodeChunk(std::string_view chunk, std::vector<int32_t>* ids) const {
    const size_t code = LanguageCodeLength(chunk);
    if (code > 0) ids->push_back(vocabulary.IdOf(std::string(chunk.substr(0, code))));
    for (const std::string& piece : source_pieces->Encode(chunk.substr(code))) {
      ids->push_back(vocabulary.IdOf(piece));
    }
  }
};

Tokenizer::Tokenizer(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::~Tokenizer() = default;

absl::StatusOr<std::unique_ptr<const Tokenizer>> Tokenizer::Load(const std::string& directory) {
  auto impl = std::make_unique<Impl>();
  ASSIGN_OR_RETURN(impl->config, ReadTokenizerConfig(directory + "/tokenizer_config.json"));
  ASSIGN_OR_RETURN(impl->source_pieces, ReadPieceModel(directory + "/source.spm"));
  ASSIGN_OR_RETURN(impl->target_pieces, ReadPieceModel(directory + "/target.spm"));
  ASSIGN_OR_RETURN(impl->vocabulary, Vocabulary::Read(directory + "/vocab.json"));
  if (impl->config.separate_vocabs) {
    ASSIGN_OR_RETURN(Vocabulary target, Vocabulary::Read(directory + "/target_vocab.json"));
    impl->target_vocabulary = std::make_unique<const Vocabulary>(std::move(target));
  }
  impl->languages = impl->vocabulary.Languages();
  return std::unique_ptr<const Tokenizer>(new Tokenizer(std::move(impl)));
}

EncodedText Tokenizer::Encode(std::string_view text) const {
  const Vocabulary& vocabulary = impl_->vocabulary;
  EncodedText encoded;
  size_t chunk = 0;  // where the text after the last special token begins
  for (size_t i = text.find('<'); i != std::string_view::npos; i = text.find('<', i)) {
    const std::string_view token = SpecialTokenAt(text.substr(i));
    if (token.empty()) {
      ++i;
      continue;
    }
    if (i > chunk) impl_->EncodeChunk(text.substr(chunk, i - chunk), &encoded.ids);
    encoded.ids.push_back(vocabulary.IdOf(std::string(token)));
    i += token.size();
    chunk = i;
  }
  if (chunk < text.size()) impl_->EncodeChunk(text.substr(chunk), &encoded.ids);
  encoded.ids.push_back(vocabulary.eos_id());
  encoded.unknown_tokens =
      static_cast<int>(std::count(encoded.ids.begin(), encoded.ids.end(), vocabulary.unknown_id()));
  return encoded;
}

std::string Tokenizer::Decode(absl::Span<const int32_t> ids) const {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) {
    const std::string* piece = impl_->target().Find(id);
    if (piece == nullptr) continue;
    if (std::find(kSpecialTokens.begin(), kSpecialTokens.end(), *piece) != kSpecialTokens.end()) {
      continue;
    }
    pieces.push_back(*piece);
  }
  std::string text = impl_->target_pieces->Decode(pieces);
  constexpr std::string_view kMetaSpace = "▁";  // SentencePiece's mark of a space
  for (size_t i = text.find(kMetaSpace); i != std::string::npos; i = text.find(kMetaSpace, i)) {
    text.replace(i, kMetaSpace.size(), " ");
  }
  return std::string(StripWhiteSpace(text));
}

const std::string& Tokenizer::SourcePiece(int32_t id) const {
  static const std::string unknown(kUnknown);
  const std::string* piece = impl_->vocabulary.Find(id);
  return piece != nullptr ? *piece : unknown;
}

const std::string& Tokenizer::TargetPiece(int32_t id) const {
  static const std::string unknown(kUnknown);
  const std::string* piece = impl_->target().Find(id);
  return piece != nullptr ? *piece : unknown;
}

int Tokenizer::source_vocabulary_size() const { return impl_->vocabulary.size(); }
int Tokenizer::target_vocabulary_size() const { return impl_->target().size(); }
const std::vector<std::string>& Tokenizer::target_languages() const { return impl_->languages; }
const std::string& Tokenizer::source_language() const { return impl_->config.source_language; }
const std::string& Tokenizer::target_language() const { return impl_->config.target_language; }

}  // namespace dragoman
