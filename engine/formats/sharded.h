// A checkpoint in several files: the weight_map of model.safetensors.index.json or
// pytorch_model.bin.index.json says which file holds which tensor.

#ifndef DRAGOMAN_ENGINE_FORMATS_SHARDED_H_
#define DRAGOMAN_ENGINE_FORMATS_SHARDED_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/formats/checkpoint.h"

namespace dragoman {

using OpenFile = absl::StatusOr<Checkpoint> (*)(const std::string& path);

// Opens each shard of an index with `open`.  NOT_FOUND if the index or a shard is missing;
// INVALID_ARGUMENT if the index is malformed or names a file outside of its own directory, if a
// tensor is not in its file, or if two shards have a tensor that the index does not mention.
absl::StatusOr<Checkpoint> OpenShards(const std::string& index_path, OpenFile open);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_SHARDED_H_
