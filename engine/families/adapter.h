// What the engine knows about a family of models: how to recognize its directories and how to open
// one.  A new family is one file in this folder that defines an `Adapter`, and its name in
// CMakeLists.txt.

#ifndef DRAGOMAN_ENGINE_FAMILIES_ADAPTER_H_
#define DRAGOMAN_ENGINE_FAMILIES_ADAPTER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/json.h"
#include "engine/families/model_directory.h"

namespace dragoman {

// What every adapter may inspect first.
struct DirectoryFiles {
  std::string path;
  std::string lora;  // the directory of an adapter (lora.h); "": none
  nlohmann::json config = nlohmann::json::object();      // config.json; empty if there is none
  nlohmann::json generation = nlohmann::json::object();  // generation_config.json, likewise
  nlohmann::json tokenizer = nlohmann::json::object();   // tokenizer_config.json, likewise

  bool Has(const std::string& file) const;
  std::string Path(const std::string& file) const { return path + "/" + file; }
  // The model type that config.json names; "" if it names none.
  std::string ModelType() const;
};

struct Adapter {
  const char* family;  // for messages
  bool (*recognizes)(const DirectoryFiles& files);
  // Reads the configuration, and nothing of the large files.
  absl::StatusOr<ModelConfig> (*configure)(const DirectoryFiles& files);
  absl::StatusOr<std::unique_ptr<const Tokenizer>> (*open_tokenizer)(const DirectoryFiles& files,
                                                                     const ModelSpec& spec);
  // Opens the tensors under canonical names (model_directory.h).
  absl::StatusOr<Checkpoint> (*open_tensors)(const DirectoryFiles& files, const ModelSpec& spec);
  // Tensors without a use that files of this family may have, under the names that open_tensors
  // leaves them; * at either end stands for any text.  Any other tensor that the network does not
  // read is an error.
  std::vector<const char*> harmless = {};
  // Finds the shortlist that belongs to the model; null if models of this family have none.
  absl::StatusOr<ShortlistSource> (*find_shortlist)(const DirectoryFiles& files) = nullptr;
  // Reads the languages of the tokenizer without opening it, which takes long; null: only the
  // tokenizer knows them.  A file that is malformed need not be noticed.
  absl::StatusOr<Languages> (*read_languages)(const DirectoryFiles& files,
                                              const ModelSpec& spec) = nullptr;
  // Hugging Face's tokenizers whose rules open_tokenizer follows, without the "Fast" that may end
  // their names.  A directory that names another one (tokenizer_class) is refused.
  std::vector<const char*> tokenizer_classes = {};
};

// All adapters.  The first that recognizes a directory opens it.
absl::Span<const Adapter* const> Adapters();

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FAMILIES_ADAPTER_H_
