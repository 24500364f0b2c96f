// A recurrent encoder-decoder with attention (Bahdanau et al. 2015), as in Marian NMT and, before
// it, Nematus.  Gated cells read the source from both ends.  The decoder's first cell reads the
// last token, attention then selects what to read of the source, and a second cell reads that.
//
//   s' = cell_1(E[w], s)     e_t = tanh(K_t + s' W_a) . u     a = softmax(e)     c = sum a_t C_t
//   s = cell_3(cell_2(c, s'))     layers above: s_l = cells(output of the layer below, s_l)
//   logits = tanh(E[w] W_0 + s W_1 + c W_2 + b) W^T + b
//
// C is the encoded source, and K = C W_c + b is what attention compares with.  Both are kept per
// sentence, and the states of all layers per hypothesis.  Before the first token, s is computed
// from the mean of C, and E[w] is 0.

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/elementary.h"
#include "engine/base/status.h"
#include "engine/math/gates.h"
#include "engine/math/kernels.h"
#include "engine/model/attention_paths.h"
#include "engine/model/network.h"
#include "engine/model/network_kind.h"
#include "engine/model/recurrent_encoder.h"
#include "engine/model/token_tables.h"
#include "engine/model/vector_states.h"

namespace dragoman {
namespace {

class RecurrentState final : public SentenceState {
 public:
  RecurrentState(int state_width, int source_width, const SentenceShape& shape, KvPool* pool)
      : source_tokens(shape.source_tokens),
        states(state_width, shape.max_hypotheses, pool),
        source(source_width, shape.source_tokens, pool),
        attention(shape, pool) {}

  void Fork(absl::Span<const int> parents) override {
    states.Fork(parents);
    attention.Fork(parents);
  }
  void AppendAttention(int row, std::vector<float>* rows) const override {
    attention.Append(row, rows);
  }
  absl::Span<const float> AttentionOf(int row) const override { return attention.At(row); }

  const int source_tokens;
  VectorStates states;      // of all layers, concatenated
  const PooledRows source;  // of each token C | K
  AttentionPaths attention;
};

class Recurrent final : public Network {
 public:
  static absl::StatusOr<std::unique_ptr<const Network>> Create(const Checkpoint& checkpoint,
                                                               const ModelSpec& spec,
                                                               const NetworkOptions& options) {
    const auto* const details = dynamic_cast<const RecurrentSpec*>(spec.details.get());
    DRAGOMAN_CHECK(details != nullptr);
    const Arithmetic arithmetic = options.arithmetic;
    const int width = details->state_width;
    ASSIGN_OR_RETURN(TokenTables tables, ReadTokenTables(checkpoint, spec, options));
    ASSIGN_OR_RETURN(RecurrentEncoder encoder,
                     RecurrentEncoder::Create(checkpoint, spec, *details, arithmetic));
    const int context = encoder.width();
    const std::string state = "decoder_ff_state_";
    ASSIGN_OR_RETURN(NormedProduct start, ReadDense(checkpoint,
                                                    {.weight = state + "W",
                                                     .bias = state + "b",
                                                     .gain = state + "gamma",
                                                     .own_gain = state + "ln_s",
                                                     .own_bias = state + "ln_b"},
                                                    width, context, arithmetic));
    ASSIGN_OR_RETURN(NormedProduct keys, ReadDense(checkpoint,
                                                   {.weight = "decoder_Wc_att",
                                                    .bias = "decoder_b_att",
                                                    .gain = "decoder_att_gamma1",
                                                    .own_gain = "decoder_Wc_att_lns",
                                                    .own_bias = "decoder_Wc_att_lnb"},
                                                   context, context, arithmetic));
    ASSIGN_OR_RETURN(NormedProduct queries, ReadDense(checkpoint,
                                                      {.weight = "decoder_W_comb_att",
                                                       .gain = "decoder_att_gamma2",
                                                       .own_gain = "decoder_W_comb_att_lns",
                                                       .own_bias = "decoder_W_comb_att_lnb"},
                                                      context, width, arithmetic));
    std::unique_ptr<Recurrent> network(new Recurrent(spec, *details, std::move(tables),
                                                     std::move(encoder), std::move(start),
                                                     std::move(keys), std::move(queries)));
    ASSIGN_OR_RETURN(network->score_, checkpoint.ReadVector("decoder_U_att", context));
    RETURN_IF_ERROR(network->ReadCells(checkpoint, spec, *details, arithmetic));
    RETURN_IF_ERROR(network->ReadOutput(checkpoint, arithmetic));
    if (std::max(network->StateWidth(), network->SourceWidth()) > PooledRows::kMaxLength) {
      return UnimplementedError("the states of a hypothesis have ", network->StateWidth(),
                                " numbers, the most is ", PooledRows::kMaxLength);
    }
    return network;
  }

  void Encode(const TokenBatch& batch, Matrix<float>* encoded, Workspace* ws) const override {
    Matrix<float> embedded(static_cast<int>(batch.tokens.size()), d_model_);
    for (int i = 0; i < embedded.rows(); ++i) {
      std::fill(embedded.Row(i).begin(), embedded.Row(i).end(), 0.0f);
      tables_.source->AddTo(batch.tokens[i], 1.0f, embedded.Row(i));
    }
    encoder_.Run(batch, embedded.view(), encoded, ws);
  }

  std::unique_ptr<SentenceState> NewState(const SentenceShape& shape, KvPool* pool) const override {
    return std::make_unique<RecurrentState>(StateWidth(), SourceWidth(), shape, pool);
  }
  size_t StateBytes(const SentenceShape& shape) const override {
    return VectorStates::Bytes(StateWidth(), shape.max_hypotheses) +
           PooledRows::Bytes(SourceWidth(), shape.source_tokens) + AttentionPaths::Bytes(shape);
  }

  void Remember(MatrixView<const float> encoded, SentenceState* state,
                Workspace* ws) const override {
    RecurrentState& sentence = *static_cast<RecurrentState*>(state);
    keys_.Apply(encoded, &ws->keys_values, ws);
    Matrix<float> mean(1, encoded.cols());
    std::fill(mean.Row(0).begin(), mean.Row(0).end(), 0.0f);
    for (int t = 0; t < encoded.rows(); ++t) {
      const absl::Span<const float> row = encoded.Row(t);
      float* const to = std::copy(row.begin(), row.end(), sentence.source.Row(t));
      std::copy(ws->keys_values.Row(t).begin(), ws->keys_values.Row(t).end(), to);
      for (int c = 0; c < encoded.cols(); ++c) mean.Row(0)[c] += row[c];
    }
    for (float& value : mean.Row(0)) value /= static_cast<float>(encoded.rows());
    start_.Apply(mean.view(), &ws->sublayer, ws);
    Tanh(ws->sublayer.Row(0));
    float* to = sentence.states.first();
    for (size_t l = 0; l < layers_.size(); ++l) {
      to = std::copy(ws->sublayer.Row(0).begin(), ws->sublayer.Row(0).end(), to);
    }
  }

  bool attends() const override { return true; }

  void Step(absl::Span<const StepRow> rows, LogitsSink sink, Workspace* ws) const override {
    const int count = static_cast<int>(rows.size());
    std::vector<Row> own(count);
    Matrix<float>& embedded = ws->x;
    embedded.Resize(count, d_model_);
    for (int i = 0; i < count; ++i) {
      RecurrentState& state = *static_cast<RecurrentState*>(rows[i].state);
      own[i] = {state.states.Extend(rows[i].hypothesis), &state,
                state.attention.Extend(rows[i].hypothesis)};
      const absl::Span<float> row = embedded.Row(i);
      std::fill(row.begin(), row.end(), 0.0f);
      if (own[i].step.position > 0) tables_.target->AddTo(rows[i].token, 1.0f, row);
    }
    Matrix<float>&contexts = ws->context, &out = ws->left;
    for (size_t l = 0; l < layers_.size(); ++l) {
      RunLayer(static_cast<int>(l), own, embedded.view(), &contexts, &out, ws);
    }
    const MatrixView<const float> inputs[] = {embedded.view(), out.view(), contexts.view()};
    Matrix<float>& hidden = ws->normed;
    deep_[0].Apply(inputs[0], &hidden, ws);
    for (int i = 1; i < 3; ++i) {
      deep_[i].Apply(inputs[i], &ws->sublayer, ws);
      Add(ws->sublayer.view(), hidden.view());
    }
    for (int i = 0; i < count; ++i) Tanh(hidden.Row(i));
    tables_.output->RunScored<StepRow>(hidden.view(), rows, sink, ws);
  }

 private:
  struct Row {
    VectorStates::Step step;
    const RecurrentState* state = nullptr;
    float* attention = nullptr;  // [source tokens], or null
  };
  using Cells = std::vector<GatedCell>;

  Recurrent(const ModelSpec& spec, const RecurrentSpec& details, TokenTables tables,
            RecurrentEncoder encoder, NormedProduct start, NormedProduct keys,
            NormedProduct queries)
      : d_model_(spec.d_model),
        width_(details.state_width),
        skip_(details.skip),
        tables_(std::move(tables)),
        encoder_(std::move(encoder)),
        start_(std::move(start)),
        keys_(std::move(keys)),
        queries_(std::move(queries)) {}

  absl::Status ReadCells(const Checkpoint& checkpoint, const ModelSpec& spec,
                         const RecurrentSpec& details, Arithmetic arithmetic) {
    for (int l = 1; l <= spec.decoder_layers; ++l) {
      const bool base = l == 1;
      Cells& cells = layers_.emplace_back();
      const int count = base ? details.decoder_base_cells : details.decoder_high_cells;
      for (int i = 1; i <= count; ++i) {
        int inputs = i > 1 ? 0 : base ? d_model_ : width_;
        if (base && i == 2) inputs = ContextWidth();
        const std::string prefix =
            base ? absl::StrCat("decoder_cell", i) : absl::StrCat("decoder_l", l, "_cell", i);
        ASSIGN_OR_RETURN(GatedCell cell, GatedCell::Create(checkpoint, prefix,
                                                           {.inputs = inputs,
                                                            .width = width_,
                                                            .bias_in_reset = base && i > 1,
                                                            .bias_of_state = base && i > 1},
                                                           arithmetic));
        cells.push_back(std::move(cell));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadOutput(const Checkpoint& checkpoint, Arithmetic arithmetic) {
    const int inputs[] = {d_model_, width_, ContextWidth()};
    const std::string prefix = "decoder_ff_logit_l1_";
    for (int i = 0; i < 3; ++i) {
      ASSIGN_OR_RETURN(NormedProduct product,
                       ReadDense(checkpoint,
                                 {.weight = absl::StrCat(prefix, "W", i),
                                  .bias = absl::StrCat(prefix, "b", i),
                                  .gain = absl::StrCat(prefix, "gamma", i),
                                  .own_gain = absl::StrCat(prefix, "ln_s", i),
                                  .own_bias = absl::StrCat(prefix, "ln_b", i)},
                                 d_model_, inputs[i], arithmetic));
      deep_.push_back(std::move(product));
    }
    return absl::OkStatus();
  }

  int StateWidth() const { return static_cast<int>(layers_.size()) * width_; }
  int ContextWidth() const { return encoder_.width(); }
  int SourceWidth() const { return ContextWidth() + static_cast<int>(score_.size()); }

  // `out` holds the output of the layer below, [rows, width], and is replaced by this layer's.
  void RunLayer(int l, absl::Span<const Row> rows, MatrixView<const float> embedded,
                Matrix<float>* contexts, Matrix<float>* out, Workspace* ws) const {
    const int count = static_cast<int>(rows.size());
    Matrix<float>& states = ws->gate;
    states.Resize(count, width_);
    for (int i = 0; i < count; ++i) {
      std::copy_n(rows[i].step.last + static_cast<ptrdiff_t>(l) * width_, width_,
                  states.Row(i).data());
    }
    const Cells& cells = layers_[l];
    for (size_t c = 0; c < cells.size(); ++c) {
      const bool reads_context = l == 0 && c == 1;
      if (reads_context) Attend(rows, states.view(), contexts, ws);
      const bool reads = c == 0 || reads_context;
      if (reads) {
        const MatrixView<const float> in = reads_context ? contexts->view()
                                           : l == 0      ? embedded
                                                         : out->view();
        cells[c].Project(in, &ws->projected, ws);
      }
      cells[c].Update(
          [&](int i) -> absl::Span<const float> {
            return reads ? absl::Span<const float>(ws->projected.Row(i))
                         : absl::Span<const float>();
          },
          states.view(), ws);
    }
    // A decoder with one cell does not read the context in its recurrence, but the output layer
    // does.
    if (l == 0 && cells.size() == 1) Attend(rows, states.view(), contexts, ws);
    const bool adds = skip_ && l > 0;
    if (!adds) out->Resize(count, width_);
    for (int i = 0; i < count; ++i) {
      const absl::Span<const float> state = states.Row(i);
      std::copy(state.begin(), state.end(), rows[i].step.next + static_cast<ptrdiff_t>(l) * width_);
      for (int c = 0; c < width_; ++c) out->Row(i)[c] = state[c] + (adds ? out->Row(i)[c] : 0.0f);
    }
  }

  void Attend(absl::Span<const Row> rows, MatrixView<const float> states, Matrix<float>* contexts,
              Workspace* ws) const {
    queries_.Apply(states, &ws->sublayer, ws);
    contexts->Resize(states.rows(), ContextWidth());
    ws->team().Split(states.rows(), Workspace::kLeastQueries, [&](int, int first, int end) {
      for (int i = first; i < end; ++i) AttendRow(rows[i], ws->sublayer.Row(i), contexts->Row(i));
    });
  }

  void AttendRow(const Row& row, absl::Span<const float> query, absl::Span<float> context) const {
    const int tokens = row.state->source_tokens;
    thread_local std::vector<float> weights;
    weights.resize(tokens);
    float max = -std::numeric_limits<float>::infinity();
    for (int t = 0; t < tokens; ++t) {
      const absl::Span<const float> key(row.state->source.Row(t) + ContextWidth(), score_.size());
      weights[t] = TanhScore(key, query, score_);
      max = std::max(max, weights[t]);
    }
    float sum = 0.0f;
    for (float& weight : weights) sum += weight = static_cast<float>(ExpOf(weight - max));
    std::fill(context.begin(), context.end(), 0.0f);
    for (int t = 0; t < tokens; ++t) {
      const float weight = weights[t] / sum;
      if (row.attention != nullptr) row.attention[t] = weight;
      const float* const values = row.state->source.Row(t);
      for (size_t c = 0; c < context.size(); ++c) context[c] += weight * values[c];
    }
  }

  const int d_model_;
  const int width_;  // of a layer's state
  const bool skip_;
  const TokenTables tables_;
  const RecurrentEncoder encoder_;
  const NormedProduct start_;           // [context, width]
  const NormedProduct keys_, queries_;  // [context, .], [width, .]
  std::vector<float> score_;            // u
  std::vector<Cells> layers_;
  std::vector<NormedProduct> deep_;  // of E[w], s and c
};

}  // namespace

extern const NetworkKind recurrent_network;
const NetworkKind recurrent_network = {"recurrent", Recurrent::Create};

}  // namespace dragoman
