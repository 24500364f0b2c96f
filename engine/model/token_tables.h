// The tables of a network with an entry for each token: the embeddings of both sides and the output
// projection.  Several of them may be the same table of the checkpoint.

#ifndef DRAGOMAN_ENGINE_MODEL_TOKEN_TABLES_H_
#define DRAGOMAN_ENGINE_MODEL_TOKEN_TABLES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/formats/checkpoint.h"
#include "engine/model/embedding_table.h"
#include "engine/model/output_projection.h"
#include "engine/spec/config.h"

namespace dragoman {

struct TokenTables {
  std::shared_ptr<const EmbeddingTable> source, target;
  std::shared_ptr<const OutputProjection> output;
};

inline constexpr char kSourceTable[] = "model.encoder.embed_tokens.weight";
inline constexpr char kTargetTable[] = "model.decoder.embed_tokens.weight";
inline constexpr char kOutputTable[] = "lm_head.weight";

// The table of the target's embeddings.  One that is tied is stored once, under any of its names.
std::string TargetTable(const ModelSpec& spec, const Checkpoint& checkpoint);

// Reads model.shared.weight, model.{encoder,decoder}.embed_tokens.weight, lm_head.weight and
// final_logits_bias, as far as the specification says that they exist.
absl::StatusOr<TokenTables> ReadTokenTables(const Checkpoint& checkpoint, const ModelSpec& spec,
                                            const NetworkOptions& options);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_TOKEN_TABLES_H_
