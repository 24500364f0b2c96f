#include "engine/families/tokenizer_check.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/families/hugging_face.h"
#include "engine/formats/json_fields.h"
#include "engine/text/chars_map.h"
#include "engine/text/tokenizer_json.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

// A SentencePiece model or a tokenizer.json in the directory, read or not.
struct PieceFile {
  std::string name;
  std::vector<std::string> pieces;
};

// The pieces that a file lists; none if it is not a SentencePiece model.
std::vector<std::string> PiecesOfFile(const std::string& path) {
  const auto file = MappedFile::Open(path);
  if (!file.ok()) return {};
  const std::string_view bytes = (*file)->text();
  std::string why;
  if (!CheckCharsMap(bytes, &why)) return {};
  std::vector<std::string> pieces = PiecesIn(bytes);
  const bool damaged =
      absl::c_any_of(pieces, [](const std::string& piece) { return piece.empty(); });
  return damaged ? std::vector<std::string>() : pieces;
}

// Those beside the model, which may be in a folder of its own.
std::vector<PieceFile> FindPieceFiles(const DirectoryFiles& files) {
  std::vector<PieceFile> found;
  for (const char* folder : {"", "model/"}) {
    for (const std::string& path : FilesBeside(files.Path(folder))) {
      if (!absl::EndsWith(path, ".spm") && !absl::EndsWith(path, ".model")) continue;
      std::vector<std::string> pieces = PiecesOfFile(path);
      if (pieces.empty()) continue;
      const std::string name = std::filesystem::path(path).filename().string();
      found.push_back({absl::StrCat(folder, name), std::move(pieces)});
    }
  }
  return found;
}

// That of Hugging Face's tokenizers, if there is a valid one.
void AddTokenizerJson(const DirectoryFiles& files, std::vector<PieceFile>* found) {
  auto lists = ReadTokenizerLists(files.Path(kTokenizerJson));
  if (lists.ok()) found->push_back({kTokenizerJson, std::move(lists->pieces)});
}

// Whether SentencePiece made a piece: a word's beginning.  A vocabulary of words may have U+2581 as
// a character of its texts, alone or among other signs.
bool BeginsWord(const std::string& piece) {
  if (!piece.starts_with(kMetaSpace) || !IsValidUtf8(piece)) return false;
  size_t at = kMetaSpace.size();
  return at < piece.size() && IsLetterOrDigit(NextCodePoint(piece, &at));
}

absl::Status CheckSide(const char* which, const PieceModel& pieces, const Vocabulary& vocabulary,
                       const std::vector<PieceFile>& beside) {
  if (pieces.has_file()) return absl::OkStatus();
  int beginnings = 0;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string* const piece = vocabulary.Find(id);
    if (piece != nullptr && BeginsWord(*piece)) ++beginnings;
  }
  if (beginnings == 0) return absl::OkStatus();
  const std::string message =
      absl::StrCat("the ", which, " has ", beginnings,
                   " pieces of SentencePiece, which begin with U+2581, among ", vocabulary.size(),
                   " tokens, want a SentencePiece model for it under a name that is read; ");
  if (beside.empty()) {
    return NotFoundError(message, "there is no .spm or .model file beside it");
  }
  const auto add_name = [](std::string* out, const PieceFile& file) { out->append(file.name); };
  return UnimplementedError(message, "beside it: ", absl::StrJoin(beside, ", ", add_name));
}

// How many of a file's pieces the tokenizer does not know.  Control tokens, such as <s>, are no
// pieces of a text.
size_t CountUnknown(const PieceFile& file, const TokenizerParts& parts) {
  return absl::c_count_if(file.pieces, [&](const std::string& piece) {
    const bool control = piece.starts_with('<') && piece.ends_with('>');
    return !control && !parts.source_vocabulary->IdOf(piece).has_value() &&
           !parts.target_vocabulary->IdOf(piece).has_value() && !parts.source_pieces->Has(piece) &&
           !parts.target_pieces->Has(piece);
  });
}

}  // namespace

absl::Status CheckTokenizerClass(const Adapter& adapter, const DirectoryFiles& files) {
  const JsonFields fields({{files.Path("tokenizer_config.json"), &files.tokenizer},
                           {files.Path("config.json"), &files.config}});
  constexpr const char* kField = "tokenizer_class";
  std::string name;
  RETURN_IF_ERROR(fields.Read(kField, &name));
  const std::vector<const char*>& known = adapter.tokenizer_classes;
  const absl::string_view slow = absl::StripSuffix(name, "Fast");
  if (name.empty() || absl::c_linear_search(known, slow)) {
    return absl::OkStatus();
  }
  return fields.Unknown(kField, known.empty() ? "none" : absl::StrJoin(known, " or "));
}

absl::Status CheckPieces(const Tokenizer& tokenizer, const DirectoryFiles& files) {
  const TokenizerParts& parts = tokenizer.parts();
  std::vector<PieceFile> beside = FindPieceFiles(files);
  const char* const source =
      tokenizer.shares_vocabulary() ? "shared vocabulary" : "source vocabulary";
  RETURN_IF_ERROR(CheckSide(source, *parts.source_pieces, *parts.source_vocabulary, beside));
  RETURN_IF_ERROR(
      CheckSide("target vocabulary", *parts.target_pieces, *parts.target_vocabulary, beside));
  // A tokenizer whose pieces are those of tokenizer.json need not be compared with it.
  if (!parts.numbered_pieces || !beside.empty()) AddTokenizerJson(files, &beside);
  for (const PieceFile& file : beside) {
    const size_t unknown = CountUnknown(file, parts);
    if (unknown == 0) continue;
    return UnimplementedError(
        file.name, ": nothing reads it, and ", unknown, " of its ", file.pieces.size(),
        " pieces are not those of the model, want it under a name that is read, or removed");
  }
  return absl::OkStatus();
}

}  // namespace dragoman
