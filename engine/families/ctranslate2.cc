// CTranslate2's directories: model.bin with vocabularies and, where users put it, the SentencePiece
// model of the original toolkit.

#include "engine/families/ctranslate2.h"

#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/families/adapter.h"

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

// The first of these files that exists; each toolkit has its own name for it.
absl::StatusOr<std::shared_ptr<const PieceModel>> FindPieces(const DirectoryFiles& files,
                                                             const std::vector<const char*>& names,
                                                             const Vocabulary& vocabulary) {
  for (const char* name : names) {
    if (files.Has(name)) return ReadPieceModel(files.Path(name));
  }
  std::vector<std::string> words;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    if (const std::string* const word = vocabulary.Find(id)) words.push_back(*word);
  }
  return std::shared_ptr<const PieceModel>(PieceModel::OfWords(words));
}

absl::StatusOr<std::unique_ptr<const Tokenizer>> OpenTokenizer(const DirectoryFiles& files,
                                                               const ModelSpec& spec) {
  ASSIGN_OR_RETURN(const CTranslate2Model model, OpenCTranslate2Model(files.path));
  ASSIGN_OR_RETURN(auto source, FindPieces(files,
                                           {"source.spm", "sentencepiece.bpe.model", "spiece.model",
                                            "sentencepiece.model", "tokenizer.model"},
                                           *model.source));
  ASSIGN_OR_RETURN(auto target, FindPieces(files,
                                           {"target.spm", "sentencepiece.bpe.model", "spiece.model",
                                            "sentencepiece.model", "tokenizer.model"},
                                           *model.target));
  TokenizerParts parts = CTranslate2TokenizerParts(model, std::move(source), std::move(target));
  RETURN_IF_ERROR(AddToolkitHabits(model, spec, &parts));
  return std::make_unique<const Tokenizer>(std::move(parts));
}

absl::StatusOr<Checkpoint> OpenTensors(const DirectoryFiles& files, const ModelSpec& spec) {
  ASSIGN_OR_RETURN(const CTranslate2Model model, OpenCTranslate2Model(files.path));
  return CTranslate2Tensors(model);
}

}  // namespace

extern const Adapter adapter;
const Adapter adapter = {"CTranslate2",
                         Recognizes,
                         Configure,
                         OpenTokenizer,
                         OpenTensors,
                         /*harmless=*/{},
                         /*find_shortlist=*/nullptr,
                         /*read_languages=*/nullptr,
                         // Those of the models whose habits AddToolkitHabits knows.
                         {"M2M100Tokenizer", "NllbTokenizer", "MBartTokenizer", "MBart50Tokenizer",
                          "MarianTokenizer", "T5Tokenizer", "MT5Tokenizer"}};

}  // namespace dragoman::ctranslate2
