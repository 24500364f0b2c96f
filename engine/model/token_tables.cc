#include "engine/model/token_tables.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

// Calls take(first token, embeddings) for a table [vocabulary, d_model], a few tiles of the output
// projection at a time: a whole table in float32 would be most of the memory that loading needs.
absl::Status ReadTable(const Checkpoint& checkpoint, const std::string& name, int vocabulary,
                       int d_model, absl::FunctionRef<absl::Status(int, MatrixView<float>)> take) {
  constexpr int kTokens = 8 * OutputProjection::kTile;
  for (int first = 0; first < vocabulary; first += kTokens) {
    const int end = std::min(first + kTokens, vocabulary);
    ASSIGN_OR_RETURN(Matrix<float> embeddings,
                     checkpoint.ReadRows(name, vocabulary, d_model, first, end));
    RETURN_IF_ERROR(take(first, embeddings.view()));
  }
  return absl::OkStatus();
}

// The output projection while its table is being read: logits = scale x E^T + bias, with the scale
// folded into E.
struct OutputTable {
  static absl::StatusOr<OutputTable> Create(const Checkpoint& checkpoint, const ModelSpec& spec,
                                            const NetworkOptions& options) {
    const int vocabulary = spec.target_vocabulary;
    OutputTable table = {
        std::make_shared<OutputProjection>(vocabulary, spec.d_model, options.arithmetic,
                                           options.selective_output),
        std::vector<float>(vocabulary, 0.0f), spec.logit_scale};
    if (checkpoint.Has("final_logits_bias")) {
      ASSIGN_OR_RETURN(table.bias, checkpoint.ReadVector("final_logits_bias", vocabulary));
    }
    return table;
  }

  // Appends the rows of the tokens first, first + 1, ... and overwrites them.
  absl::Status Append(int first, MatrixView<float> embeddings) {
    if (scale != 1.0f) {
      for (int r = 0; r < embeddings.rows(); ++r) {
        for (float& value : embeddings.Row(r)) value *= scale;
      }
    }
    return projection->Append(
        embeddings, absl::MakeConstSpan(bias).subspan(first, embeddings.rows()), step * scale);
  }

  std::shared_ptr<OutputProjection> projection;
  std::vector<float> bias;
  float scale = 1.0f;
  float step = 0.0f;  // of the table's numbers, if the checkpoint stores them in 8 bits
};

// The embeddings stored in that table of the checkpoint.
absl::StatusOr<std::shared_ptr<const EmbeddingTable>> ReadEmbeddings(
    const Checkpoint& checkpoint, const std::string& name, int vocabulary, int d_model,
    const NetworkOptions& options) {
  RETURN_IF_ERROR(checkpoint.CheckMatrix(name, vocabulary, d_model));
  auto table = std::make_shared<EmbeddingTable>(
      vocabulary, d_model, TablePrecision(vocabulary, d_model, /*copied=*/false, options));
  RETURN_IF_ERROR(ReadTable(
      checkpoint, name, vocabulary, d_model,
      [&](int first, MatrixView<float> embeddings) { return table->Set(first, embeddings); }));
  return table;
}

constexpr char kTargetName[] = "target embeddings", kSourceName[] = "source embeddings";

// The tables as they were stored; nothing if one of them was not.
std::optional<TokenTables> Restore(const std::shared_ptr<const PackedFile>& file,
                                   const ModelSpec& spec, const NetworkOptions& options) {
  const int vocabulary = spec.target_vocabulary, d_model = spec.d_model;
  TokenTables tables;
  tables.output = OutputProjection::Restore(file, vocabulary, d_model, options.arithmetic,
                                            options.selective_output);
  if (tables.output == nullptr) return std::nullopt;
  if (spec.tied_output && IsLargeTable(vocabulary, d_model, options)) {
    tables.target = std::make_shared<EmbeddingTable>(tables.output, 1.0f / spec.logit_scale);
  } else {
    const Precision precision = TablePrecision(vocabulary, d_model, spec.tied_output, options);
    tables.target = EmbeddingTable::Restore(file, kTargetName, vocabulary, d_model, precision);
  }
  tables.source = tables.target;
  if (!spec.share_embeddings) {
    tables.source = EmbeddingTable::Restore(
        file, kSourceName, spec.source_vocabulary, d_model,
        TablePrecision(spec.source_vocabulary, d_model, /*copied=*/false, options));
  }
  if (tables.target == nullptr || tables.source == nullptr) return std::nullopt;
  return tables;
}

void Store(const TokenTables& tables, PackedFileWriter* file) {
  tables.output->Store(file);
  tables.target->Store(kTargetName, file);
  if (tables.source != tables.target) tables.source->Store(kSourceName, file);
}

}  // namespace

std::string TargetTable(const ModelSpec& spec, const Checkpoint& checkpoint) {
  std::vector<std::string> names = {kTargetTable};
  if (spec.share_embeddings) names = {"model.shared.weight", kSourceTable, kTargetTable};
  if (spec.tied_output) names.push_back(kOutputTable);
  for (const std::string& name : names) {
    if (checkpoint.Has(name)) return name;
  }
  return names.front();
}

absl::StatusOr<TokenTables> ReadTokenTables(const Checkpoint& checkpoint, const ModelSpec& spec,
                                            const NetworkOptions& options) {
  const int vocabulary = spec.target_vocabulary, d_model = spec.d_model;
  const std::string table = TargetTable(spec, checkpoint);
  const std::string output_table = spec.tied_output ? table : kOutputTable;
  RETURN_IF_ERROR(checkpoint.CheckMatrix(table, vocabulary, d_model));
  RETURN_IF_ERROR(checkpoint.CheckMatrix(output_table, vocabulary, d_model));
  const PackedWeights* const packed = checkpoint.packed();
  if (packed != nullptr && packed->from != nullptr) {
    if (std::optional<TokenTables> tables = Restore(packed->from, spec, options)) return *tables;
  }
  ASSIGN_OR_RETURN(OutputTable output, OutputTable::Create(checkpoint, spec, options));
  output.step = checkpoint.StepOf(output_table);
  std::shared_ptr<EmbeddingTable> copy;  // of a tied table
  if (spec.tied_output && !IsLargeTable(vocabulary, d_model, options)) {
    copy = std::make_shared<EmbeddingTable>(
        vocabulary, d_model, TablePrecision(vocabulary, d_model, /*copied=*/true, options));
  }
  const absl::Status read = ReadTable(checkpoint, output_table, vocabulary, d_model,
                                      [&](int first, MatrixView<float> embeddings) {
                                        if (copy != nullptr) {
                                          RETURN_IF_ERROR(copy->Set(first, embeddings));
                                        }
                                        return output.Append(first, embeddings);
                                      });
  RETURN_IF_ERROR(read);
  TokenTables tables = {.target = std::move(copy), .output = output.projection};
  if (tables.target == nullptr && spec.tied_output && tables.output->readable()) {
    tables.target = std::make_shared<EmbeddingTable>(tables.output, 1.0f / spec.logit_scale);
  } else if (tables.target == nullptr) {
    ASSIGN_OR_RETURN(tables.target,
                     ReadEmbeddings(checkpoint, table, vocabulary, d_model, options));
  }
  tables.source = tables.target;
  if (!spec.share_embeddings) {
    ASSIGN_OR_RETURN(tables.source, ReadEmbeddings(checkpoint, kSourceTable, spec.source_vocabulary,
                                                   d_model, options));
  }
  if (packed != nullptr && packed->to != nullptr) Store(tables, packed->to);
  return tables;
}

}  // namespace dragoman
