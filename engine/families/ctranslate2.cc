// CTranslate2's directories: model.bin with vocabularies and, where users put it, the SentencePiece
// model of the original toolkit.

#include "engine/families/ctranslate2.h"

#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "engine/base/status.h"
#include "engine/families/adapter.h"
#include "engine/families/hugging_face.h"
#include "engine/text/tokenizer_json.h"

namespace dragoman::ctranslate2 {
namespace {

bool Recognizes(const DirectoryFiles& files) {
  return files.ModelType().empty() && files.Has("model.bin");
}

absl::StatusOr<ModelConfig> Configure(const DirectoryFiles& files) {
  ASSIGN_OR_RETURN(const CTranslate2Model model, OpenCTranslate2Model(files.path));
  ASSIGN_OR_RETURN(ModelSpec spec, ReadCTranslate2Spec(model));
  return ModelConfig{std::move(spec), CTranslate2Search()};
}

// What has the pieces of a directory: SentencePiece models, for which each toolkit has its own
// names, or the file of Hugging Face's tokenizers.
struct PieceFiles {
  const char* source;
  const char* target;
  // Whether those who call CTranslate2 end the source themselves, whatever the configuration says.
  bool ends_source = false;
};
constexpr PieceFiles kPieceFiles[] = {{"source.spm", "target.spm"},
                                      // eole, whose models quickmt publishes
                                      {"src.spm.model", "tgt.spm.model", true},
                                      {"joint.spm.model", "joint.spm.model", true},
                                      {"sentencepiece.bpe.model", "sentencepiece.bpe.model"},
                                      {"spiece.model", "spiece.model"},
                                      {"sentencepiece.model", "sentencepiece.model"},
                                      {"tokenizer.model", "tokenizer.model"},
                                      {kTokenizerJson, kTokenizerJson}};

// The first of these files that exists, for one side; null: none does.
const PieceFiles* FindPieceFiles(const DirectoryFiles& files, const char* PieceFiles::*side) {
  const auto* const found =
      absl::c_find_if(kPieceFiles, [&](const PieceFiles& each) { return files.Has(each.*side); });
  return found == std::end(kPieceFiles) ? nullptr : found;
}

absl::StatusOr<std::shared_ptr<const PieceModel>> ReadPieces(const DirectoryFiles& files,
                                                             const char* PieceFiles::*side,
                                                             const Vocabulary& vocabulary) {
  const PieceFiles* const found = FindPieceFiles(files, side);
  if (found != nullptr && found->*side == std::string_view(kTokenizerJson)) {
    ASSIGN_OR_RETURN(const TokenizerJson json, ReadTokenizerJson(files.Path(kTokenizerJson)));
    return json.pieces;
  }
  if (found != nullptr) return ReadPieceModel(files.Path(found->*side));
  std::vector<std::string> words;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    if (const std::string* const word = vocabulary.Find(id)) words.push_back(*word);
  }
  return std::shared_ptr<const PieceModel>(PieceModel::OfWords(words));
}

absl::StatusOr<std::unique_ptr<const Tokenizer>> OpenTokenizer(const DirectoryFiles& files,
                                                               const ModelSpec& spec) {
  ASSIGN_OR_RETURN(CTranslate2Model model, OpenCTranslate2Model(files.path));
  const PieceFiles* const found = FindPieceFiles(files, &PieceFiles::source);
  if (found != nullptr && found->ends_source) model.tokens.add_source_eos = true;
  ASSIGN_OR_RETURN(auto source, ReadPieces(files, &PieceFiles::source, *model.source));
  ASSIGN_OR_RETURN(auto target, ReadPieces(files, &PieceFiles::target, *model.target));
  TokenizerParts parts = CTranslate2TokenizerParts(model, std::move(source), std::move(target));
  RETURN_IF_ERROR(AddToolkitHabits(model, spec, HasSmall100Tokenizer(files), &parts));
  return std::make_unique<const Tokenizer>(std::move(parts));
}

absl::StatusOr<Checkpoint> OpenTensors(const DirectoryFiles& files, const ModelSpec& spec) {
  ASSIGN_OR_RETURN(const CTranslate2Model model, OpenCTranslate2Model(files.path));
  return CTranslate2Tensors(model);
}

}  // namespace

extern const Adapter adapter;
const Adapter adapter = {
    .family = "CTranslate2",
    .recognizes = Recognizes,
    .configure = Configure,
    .open_tokenizer = OpenTokenizer,
    .open_tensors = OpenTensors,
    // Those of the models whose habits AddToolkitHabits knows.
    .tokenizer_classes = {"M2M100Tokenizer", "NllbTokenizer", "MBartTokenizer", "MBart50Tokenizer",
                          "MarianTokenizer", "T5Tokenizer", "MT5Tokenizer", "SMALL100Tokenizer"}};

}  // namespace dragoman::ctranslate2
