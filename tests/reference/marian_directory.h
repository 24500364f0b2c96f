// Models for tests, with random weights and any shape, written to or read from a directory in
// Hugging Face's Marian layout, so that the real loader and the reference use the same bytes.

#ifndef DRAGOMAN_TESTS_REFERENCE_MARIAN_DIRECTORY_H_
#define DRAGOMAN_TESTS_REFERENCE_MARIAN_DIRECTORY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/reference/transformer.h"

namespace dragoman::reference {

// A Marian model of this shape.  eos is 0, <unk> is 1, and <pad>, the last target id, is the
// decoder start.  Both stacks have the same heads and feed-forward width.
ModelSpec MarianShape(int d_model, int layers, int heads, int ffn, Activation activation,
                      int vocabulary);

// Random weights that keep activations near one and let logits differ by several; the same seed
// gives the same weights on every machine.
Transformer RandomTransformer(const ModelSpec& config, uint64_t seed);

// Writes config.json, generation_config.json, model.safetensors in F32, vocab.json,
// tokenizer_config.json, and source.spm and target.spm of marian-trained to a directory, which must
// exist.  The vocabulary has as many pieces of marian-trained as fit.  Embeddings are written as
// one shared table, so the target's must equal the source's.
absl::Status WriteMarianDirectory(const Transformer& model, const std::string& directory);

// Reads config.json and model.safetensors.
absl::StatusOr<Transformer> ReadMarianDirectory(const std::string& directory);

}  // namespace dragoman::reference

#endif  // DRAGOMAN_TESTS_REFERENCE_MARIAN_DIRECTORY_H_
