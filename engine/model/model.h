// A model, loaded: configuration, tokenizer and network, with weights packed for this
// machine.  Shared by all workers and never changed.

#ifndef DRAGOMAN_ENGINE_MODEL_MODEL_H_
#define DRAGOMAN_ENGINE_MODEL_MODEL_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/base/packed_file.h"
#include "engine/formats/checkpoint.h"
#include "engine/math/precision.h"
#include "engine/model/network.h"
#include "engine/spec/config.h"
#include "engine/text/shortlist.h"
#include "engine/text/tokenizer.h"

namespace dragoman {

struct PackedPlace;

struct ModelOptions {
  Precision precision = Precision::kAuto;
  Matmul matmul = Matmul::kAuto;
  // The precision in which the decoder stores keys and values: float32, bfloat16, int8, or auto,
  // which is float32 if the matrices are in float32 and bfloat16 otherwise.
  Precision keys_values = Precision::kAuto;
  ShortlistSource shortlist;  // without a file: none
  std::string lora = {};      // the directory of an adapter (lora.h); "": none
  // Where packed weights are kept from one load to the next, and shared by processes: a directory,
  // or kBesideModel (packed_place.h).  "": nowhere.
  std::string packed_cache = {};
};

// What is known of a model before it is loaded.
struct ModelProfile {
  std::string name;
  ModelConfig config;
  Languages languages;
  bool known = false;  // otherwise only its name is

  ModelProfile() = default;
  explicit ModelProfile(std::string the_name) : name(std::move(the_name)) {}

  // Reads only what it needs of a directory, which is quick.  The errors are some of Model::Load's:
  // a tokenizer that is malformed need not be noticed.
  static absl::StatusOr<ModelProfile> Read(const std::string& name, const std::string& directory);
};

class Model {
 public:
  // Loads a model directory as it was downloaded, and its shortlist if there is one.  `name` is the
  // model's name in requests and metrics.  NOT_FOUND: a file or a tensor is missing;
  // INVALID_ARGUMENT: one is malformed, holds a number that is not finite, or belongs to a layer
  // that the configuration does not have; UNIMPLEMENTED: an architecture or option that this engine
  // does not support; FAILED_PRECONDITION: this CPU cannot run the precision under the row law
  // (gemm.h).  Errors name a file and leave it to the caller to name the model.
  static absl::StatusOr<std::shared_ptr<const Model>> Load(const std::string& name,
                                                           const std::string& directory,
                                                           const ModelOptions& options = {});

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }  // a digest of its files
  const ModelSpec& spec() const { return config_.spec; }
  const GenerationConfig& generation() const { return config_.generation; }
  Precision precision() const { return arithmetic_.precision; }  // never kAuto
  std::string matmul() const;      // what multiplies its matrices (gemm.h): "native+onednn"
  std::string matmul_isa() const;  // with which instructions
  const std::string& isa() const { return isa_; }  // what decides how numbers are rounded (gemm.h)
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  // The source of each sentence's shortlist; null if all sentences use the whole vocabulary.
  const Shortlist* shortlist() const { return shortlist_.get(); }
  const Network& network() const { return *network_; }
  // False once the file of its packed weights was found to be cut: what was computed since is
  // wrong.
  bool whole() const { return packed_ == nullptr || packed_->whole(); }

 private:
  Model() = default;
  absl::Status LoadFrom(const std::string& directory, const ModelOptions& options);
  absl::StatusOr<std::unique_ptr<const Network>> NetworkOf(const ModelOptions& options,
                                                           const PackedWeights& packed,
                                                           Checkpoint* checkpoint) const;
  absl::Status Pack(const ModelOptions& options, PackedFileWriter* writer, Checkpoint* checkpoint);
  bool Map(const PackedPlace& place, const ModelOptions& options, Checkpoint* checkpoint);

  std::string name_;
  std::string version_;
  ModelConfig config_;
  Arithmetic arithmetic_ = Precision::kFloat32;
  std::string isa_;
  std::unique_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<const Shortlist> shortlist_;
  std::unique_ptr<const Network> network_;
  std::shared_ptr<const PackedFile> packed_;  // null: the weights are in memory of its own
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_MODEL_H_
