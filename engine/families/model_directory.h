// Opens a model directory as it was downloaded: what the model is, its default search settings, its
// tensors, its tokenizer and its languages, all in the engine's own terms.
//
// Families of models differ in file names, fields, tensor names and tokenizer rules.  One adapter
// per family (engine/families) handles them; callers of OpenModelDirectory need not know them.

#ifndef DRAGOMAN_ENGINE_FAMILIES_MODEL_DIRECTORY_H_
#define DRAGOMAN_ENGINE_FAMILIES_MODEL_DIRECTORY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/base/unpacked_zip.h"
#include "engine/formats/checkpoint.h"
#include "engine/spec/config.h"
#include "engine/text/shortlist.h"
#include "engine/text/tokenizer.h"

namespace dragoman {

struct ModelDirectory {
  std::string family;  // "Marian"
  ModelConfig config;
  std::unique_ptr<const Tokenizer> tokenizer;
  // The tensors have these names, each [outputs, inputs], where STACK is model.encoder or
  // model.decoder (the names of Hugging Face's M2M100, Marian and mBART):
  //
  //   model.shared.weight, STACK.embed_tokens.weight, lm_head.weight, final_logits_bias
  //   STACK.embed_positions.weight                 [positions, d_model]
  //   STACK.relative_attention_bias.weight         [buckets, heads]
  //   STACK.layernorm_embedding, STACK.layer_norm  .weight and .bias
  //   STACK.layers.N.{self_attn,encoder_attn}.{q,k,v,out}_proj, .fc1, .fc2, and .fc1_linear, the
  //       factor without activation of a gated feed-forward layer
  //   STACK.layers.N.{self_attn,encoder_attn,final}_layer_norm
  //
  // and where a model has them: .fc1_2, .fc1_3 ... between .fc1 and .fc2;
  // {self_attn,encoder_attn,final}_layer_norm_before, if there are norms on both sides of a
  // sublayer; {self_attn,encoder_attn,final}_highway, the gate of its input.
  Checkpoint checkpoint;
  ShortlistSource shortlist;  // in the directory; without a file: there is none
};

// A model's directory, or that into which its zip (an .argosmodel) was unpacked, for as long as
// this lives.  Hold one to have a zip unpacked once for all functions below.
struct UnpackedModel {
  std::string path;
  std::shared_ptr<const UnpackedZip> zip;  // null: it is a directory
};
absl::StatusOr<UnpackedModel> UnpackModel(const std::string& directory);

// Recognizes a directory by its files and opens it, with the LoRA adapter of another directory
// unless `lora` is empty; a zip is unpacked in the process.  None of the weights are read yet.
// NOT_FOUND: a file is missing; INVALID_ARGUMENT: one is malformed; UNIMPLEMENTED: a family, an
// architecture, a tokenizer or an option that this engine does not support.
absl::StatusOr<ModelDirectory> OpenModelDirectory(const std::string& directory,
                                                  const std::string& lora = "");

// Opens only the tokenizer.  The same errors.
absl::StatusOr<std::unique_ptr<const Tokenizer>> OpenTokenizer(const std::string& directory);

// Reads only the languages, without the tokenizer where the family allows that.  Some of the same
// errors: a tokenizer that cannot be opened need not be noticed.
absl::StatusOr<Languages> ReadLanguages(const std::string& directory);

// Reads only the configuration, which is quick.  The same errors.
absl::StatusOr<ModelConfig> ReadModelConfig(const std::string& directory);

// The files, besides the weights, that a translation may depend on: configuration and tokenizer, or
// the archive that contains them.  The index of sharded weights is not among them, because the
// tensors themselves are part of the version.
std::vector<std::string> FilesBeside(const std::string& directory);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FAMILIES_MODEL_DIRECTORY_H_
