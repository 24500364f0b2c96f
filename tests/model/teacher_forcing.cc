#include "tests/model/teacher_forcing.h"

#include <algorithm>
#include <memory>

namespace dragoman {
namespace {

reference::Vector Copy(absl::Span<const float> row) { return {row.begin(), row.end()}; }

}  // namespace

std::vector<ForcedOutput> ForceTeacher(const Network& network,
                                       const std::vector<ForcedPair>& pairs) {
  Workspace workspace;
  KvPool pool;
  TokenBatch batch;
  for (const ForcedPair& pair : pairs) batch.Add(pair.source);
  Matrix<float> encoded;
  network.Encode(batch, &encoded, &workspace);

  std::vector<ForcedOutput> outputs(pairs.size());
  std::vector<std::unique_ptr<SentenceState>> states;
  size_t steps = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const int first = batch.starts[i];
    const int count = batch.starts[i + 1] - first;
    for (int row = first; row < first + count; ++row) {
      outputs[i].encoded.push_back(Copy(encoded.Row(row)));
    }
    states.push_back(
        network.NewState({.source_tokens = count,
                          .max_steps = static_cast<int>(pairs[i].decoder_inputs.size()),
                          .attention = network.attends()},
                         &pool));
    network.Remember(encoded.view().Rows(first, count), states[i].get(), &workspace);
    steps = std::max(steps, pairs[i].decoder_inputs.size());
  }

  for (size_t step = 0; step < steps; ++step) {
    std::vector<StepRow> rows;
    std::vector<size_t> pair_of_row;
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (step >= pairs[i].decoder_inputs.size()) continue;
      rows.push_back({pairs[i].decoder_inputs[step], states[i].get(), /*hypothesis=*/0});
      pair_of_row.push_back(i);
    }
    for (const size_t pair : pair_of_row) outputs[pair].logits.emplace_back();
    network.Step(
        rows,
        [&](const LogitsTile& tile) {
          for (int row = 0; row < tile.logits.rows(); ++row) {
            const absl::Span<const float> logits = tile.logits.Row(row);
            std::vector<float>& all = outputs[pair_of_row[row]].logits.back();
            all.insert(all.end(), logits.begin(), logits.end());
          }
        },
        &workspace);
  }
  for (size_t i = 0; i < pairs.size() && network.attends(); ++i) {
    std::vector<float> attention;
    states[i]->AppendAttention(static_cast<int>(pairs[i].decoder_inputs.size()) - 1, &attention);
    const size_t count = pairs[i].source.size();
    for (size_t first = 0; first < attention.size(); first += count) {
      outputs[i].attention.push_back(Copy(absl::MakeConstSpan(attention).subspan(first, count)));
    }
  }
  return outputs;
}

std::vector<ForcedOutput> ForceTeacher(const Model& model, const std::vector<ForcedPair>& pairs) {
  return ForceTeacher(model.network(), pairs);
}

}  // namespace dragoman
