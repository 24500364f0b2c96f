// LoRA adapters (Hu et al. 2021) as Hugging Face's PEFT saves them: adapter_config.json and
// adapter_model.safetensors or .bin.  For some matrices W [outputs, inputs] of another model they
// have A [r, inputs] and B [outputs, r], and the model that was tuned has
//
//   W + s B A,  s = lora_alpha / r, or lora_alpha / sqrt(r) with use_rslora

#ifndef DRAGOMAN_ENGINE_FORMATS_LORA_H_
#define DRAGOMAN_ENGINE_FORMATS_LORA_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/formats/checkpoint.h"

namespace dragoman {

// `base` with the adapter in `directory` added to the tensors that it changes; the products are
// made when a tensor is read.  NOT_FOUND: a file is missing; INVALID_ARGUMENT: one is malformed, or
// changes a matrix that the model does not have; UNIMPLEMENTED: another kind of adapter.
absl::StatusOr<Checkpoint> AddLora(const Checkpoint& base, const std::string& directory);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_LORA_H_
