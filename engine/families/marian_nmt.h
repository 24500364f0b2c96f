// Shared by the parts of the adapter of Marian NMT's own models.  Such a directory has a model
// (formats/npz.h, formats/marian_file.h) that contains its configuration, vocabularies, and perhaps
// decoder.yml, which names them and sets the search.  Bergamot and Firefox omit decoder.yml and
// rely on the names of the files:
//
//   model.ende.intgemm.alphas.bin  vocab.deen.spm  lex.50.50.ende.s2t.bin

#ifndef DRAGOMAN_ENGINE_FAMILIES_MARIAN_NMT_H_
#define DRAGOMAN_ENGINE_FAMILIES_MARIAN_NMT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/base/json.h"
#include "engine/families/adapter.h"
#include "engine/families/tensor_map.h"
#include "engine/formats/json_fields.h"
#include "engine/spec/config.h"
#include "engine/text/languages.h"

namespace dragoman {

// The paths of all files of a directory.
struct MarianFiles {
  std::string model;
  std::string source_vocabulary, target_vocabulary;  // may be the same file
  ShortlistSource shortlist;                         // without a file: none
  LanguagePair languages;                            // from file names; "" if they do not tell
  std::string search_file;                           // decoder.yml; "": there is none
  nlohmann::json search = nlohmann::json::object();  // its content
};

// Whether a directory contains a Marian model.
bool HasMarianModel(const DirectoryFiles& files);

// NOT_FOUND or INVALID_ARGUMENT names the file that is missing, or the candidates for it.
absl::StatusOr<MarianFiles> FindMarianFiles(const DirectoryFiles& files);

// A model and its own configuration.
struct MarianModel {
  MarianFiles files;
  Checkpoint tensors;      // under Marian's names
  nlohmann::json options;  // special:model.yml

  // The options, followed by those of decoder.yml.
  JsonFields fields() const;
};
absl::StatusOr<MarianModel> OpenMarianModel(const DirectoryFiles& files);

// Marian's names of the embedding and output matrices.
struct MarianTables {
  std::string source, target, output;  // output [vocabulary, d_model] is the target's if tied
  std::string output_bias;
};
absl::StatusOr<MarianTables> ReadMarianTables(const MarianModel& model);

// For each of the decoder's layers, the layer (from 1) whose tensors it uses.
absl::StatusOr<std::vector<int>> ReadTiedLayers(const MarianModel& model, int layers);

// The network that the options describe.  UNIMPLEMENTED names an option whose value this engine
// does not support.
absl::StatusOr<ModelSpec> ReadMarianSpec(const MarianModel& model);

// The most tokens of a sentence, where the network itself sets no limit.
inline constexpr int kMarianPositions = 2048;

// The network of the types s2s, amun and nematus, which are recurrent.
absl::StatusOr<ModelSpec> ReadMarianRecurrent(const MarianModel& model);
// Their tensors, under the names of s2s (recurrent.cc).
absl::StatusOr<Checkpoint> MarianRecurrentTensors(const MarianModel& model);
// Renames tensors from Nematus's names to those of s2s; others keep theirs.
Checkpoint RenameFromNematus(const Checkpoint& tensors, bool shared_embeddings);

// The tensors under canonical names (model_directory.h).
absl::StatusOr<Checkpoint> MarianTensors(const MarianModel& model, const ModelSpec& spec);

// The embeddings and the output under canonical names.
absl::Status TakeMarianTables(const MarianTables& tables, TensorMap* map);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FAMILIES_MARIAN_NMT_H_
