// What the parts of the adapter of Marian NMT's own models share.  Such a directory is a model
// (formats/npz.h, formats/marian_file.h) with its configuration inside, vocabularies, and perhaps
// decoder.yml, which names them and says how to search.  Bergamot and Firefox leave decoder.yml out
// and go by the names of the files:
//
//   model.ende.intgemm.alphas.bin  vocab.deen.spm  lex.50.50.ende.s2t.bin

#ifndef DRAGOMAN_ENGINE_FAMILIES_MARIAN_NMT_H_
#define DRAGOMAN_ENGINE_FAMILIES_MARIAN_NMT_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/base/json.h"
#include "engine/families/adapter.h"
#include "engine/formats/json_fields.h"
#include "engine/spec/config.h"
#include "engine/text/languages.h"

namespace dragoman {

// Where everything of a directory is.
struct MarianFiles {
  std::string model;
  std::string source_vocabulary, target_vocabulary;  // may be one
  ShortlistSource shortlist;                         // without a file: none
  LanguagePair languages;                            // as file names tell them; "": they do not
  std::string search_file;                           // decoder.yml; "": there is none
  nlohmann::json search = nlohmann::json::object();  // what it says
};

// Whether a directory has a model of Marian's.
bool HasMarianModel(const DirectoryFiles& files);

// NOT_FOUND or INVALID_ARGUMENT names the file that is missing, or those that it may be.
absl::StatusOr<MarianFiles> FindMarianFiles(const DirectoryFiles& files);

// A model and what it says of itself.
struct MarianModel {
  MarianFiles files;
  Checkpoint tensors;      // under Marian's names
  nlohmann::json options;  // special:model.yml

  // The options, and those of decoder.yml where the model has none.
  JsonFields fields() const;
};
absl::StatusOr<MarianModel> OpenMarianModel(const DirectoryFiles& files);

// Marian's names of the matrices of tokens.
struct MarianTables {
  std::string source, target, output;  // output [vocabulary, d_model]; that of target if it is tied
  std::string output_bias;
};
absl::StatusOr<MarianTables> ReadMarianTables(const MarianModel& model);

// Which layer's tensors each of the decoder's layers has, from 1.
absl::StatusOr<std::vector<int>> ReadTiedLayers(const MarianModel& model, int layers);

// What the options say of the network.  UNIMPLEMENTED names an option whose value this engine does
// not know.
absl::StatusOr<ModelSpec> ReadMarianSpec(const MarianModel& model);

// The most tokens that a sentence may have where the network itself has no end.
inline constexpr int kMarianPositions = 2048;

// The same of recurrent networks: types s2s, amun and nematus.
absl::StatusOr<ModelSpec> ReadMarianRecurrent(const MarianModel& model);
// Their tensors, under the names of s2s (recurrent.cc).
absl::StatusOr<Checkpoint> MarianRecurrentTensors(const MarianModel& model);
// Gives tensors with the names of Nematus those of s2s; others keep theirs.
Checkpoint RenameFromNematus(const Checkpoint& tensors, bool shared_embeddings);

// The tensors under canonical names (model_directory.h).
absl::StatusOr<Checkpoint> MarianTensors(const MarianModel& model, const ModelSpec& spec);

// Tensors get new names, one by one.
class TensorMap {
 public:
  explicit TensorMap(const Checkpoint& from) : from_(from) {}

  // The tensor as it is.  NOT_FOUND if there is none.
  absl::Status Take(const std::string& to, const std::string& name);
  // A matrix [inputs, outputs] as [outputs, inputs].
  absl::Status TakeTransposed(const std::string& to, const std::string& name);

  // What was taken, and, under the names that they had, those that were not, but for what is no
  // part of a network.
  Checkpoint Finish() &&;

 private:
  const Checkpoint& from_;
  std::map<std::string, Tensor> taken_;
  std::set<std::string> used_;
};

// The embeddings and the output under canonical names.
absl::Status TakeMarianTables(const MarianTables& tables, TensorMap* map);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FAMILIES_MARIAN_NMT_H_
