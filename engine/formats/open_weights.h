// The weights of a model directory, in whichever of Hugging Face's formats they are stored.

#ifndef DRAGOMAN_ENGINE_FORMATS_OPEN_WEIGHTS_H_
#define DRAGOMAN_ENGINE_FORMATS_OPEN_WEIGHTS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/formats/checkpoint.h"

namespace dragoman {

// Opens the first of model.safetensors, model.safetensors.index.json, pytorch_model.bin and
// pytorch_model.bin.index.json that the directory has.  NOT_FOUND if it has none, saying what is
// there instead and what to do; otherwise the errors of the format's own function.  Unless `lora`
// is empty, the adapter in that directory is added (lora.h).
absl::StatusOr<Checkpoint> OpenWeights(const std::string& directory, const std::string& lora = "");

// Why a directory cannot be served, whatever its family, and what to do about it:
// FAILED_PRECONDITION for files that are Git LFS pointers and for an adapter without its base
// model; UNIMPLEMENTED for a decoder-only model; NOT_FOUND if there is no such directory.
absl::Status CheckServable(const std::string& directory);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_OPEN_WEIGHTS_H_
