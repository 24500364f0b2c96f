#include "engine/model/model_report.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "engine/base/machine.h"
#include "engine/base/status.h"
#include "engine/math/gemm.h"
#include "engine/model/embedding_table.h"
#include "engine/model/network_kind.h"
#include "engine/model/relative_bias.h"
#include "engine/model/token_tables.h"

namespace dragoman {
namespace {

using Shape = std::vector<int64_t>;
using Wanted = std::vector<std::pair<std::string, Shape>>;

std::string Megabytes(double bytes) { return absl::StrFormat("%.1f MB", bytes / 1e6); }

// Lists the tensors of one part of a network.
class Inventory {
 public:
  Inventory(const ModelSpec& spec, Wanted* wanted) : spec_(spec), wanted_(*wanted) {}

  void Linear(const std::string& name, int64_t outputs, int64_t inputs) {
    wanted_.push_back({name + ".weight", {outputs, inputs}});
    if (spec_.biases) wanted_.push_back({name + ".bias", {outputs}});
  }
  void Normalization(const std::string& name) {
    wanted_.push_back({name + ".weight", {spec_.d_model}});
    if (spec_.norm == Norm::kLayer) wanted_.push_back({name + ".bias", {spec_.d_model}});
  }
  void Attention(const std::string& name, int64_t width) {
    for (const char* part : {".q_proj", ".k_proj", ".v_proj"}) {
      Linear(name + part, width, spec_.d_model);
    }
    if (spec_.attention_output) Linear(name + ".out_proj", spec_.d_model, width);
    Around(name);
  }
  // The tensors of the steps around a sublayer (residual.h).
  void Around(const std::string& sublayer) {
    const Processing around = spec_.around();
    const std::string norm = sublayer + "_layer_norm";
    if (around.norms_after() || !around.before.empty()) Normalization(norm);
    if (around.norms_after() && !around.before.empty()) Normalization(norm + "_before");
    if (absl::StrContains(around.after, 'h')) {
      wanted_.push_back({sublayer + "_highway.weight", {spec_.d_model, spec_.d_model}});
      wanted_.push_back({sublayer + "_highway.bias", {spec_.d_model}});
    }
  }
  void Stack(const std::string& name, int layers, int heads, int head_width, int inner,
             bool decoder) {
    for (const std::string& bias : RelativeBiasTensors(spec_, name, layers)) {
      wanted_.push_back({bias, {spec_.positions.buckets, heads}});
    }
    if (spec_.positions.kind == Positions::kTable) {
      wanted_.push_back({name + ".embed_positions.weight",
                         {spec_.positions.first + spec_.max_positions, spec_.d_model}});
    }
    if (spec_.embedding_norm) Normalization(name + ".layernorm_embedding");
    if (spec_.final_norm) Normalization(name + ".layer_norm");
    for (int l = 0; l < layers; ++l) {
      const std::string layer = absl::StrCat(name, ".layers.", l);
      Attention(layer + ".self_attn", int64_t{heads} * head_width);
      if (decoder) Attention(layer + ".encoder_attn", int64_t{heads} * head_width);
      const int depth = decoder ? spec_.decoder_ffn_layers : spec_.encoder_ffn_layers;
      int width = spec_.d_model;
      for (int i = 1; i < depth; ++i, width = inner) {
        Linear(i == 1 ? layer + ".fc1" : absl::StrCat(layer, ".fc1_", i), inner, width);
      }
      if (spec_.gated) Linear(layer + ".fc1_linear", inner, spec_.d_model);
      Linear(layer + ".fc2", spec_.d_model, width);
      Around(layer + ".final");
    }
  }

 private:
  const ModelSpec& spec_;
  Wanted& wanted_;
};

std::string ShapeText(const Shape& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

bool Fits(const Tensor& tensor, const Shape& wanted) {
  if (tensor.shape == wanted) return true;
  return wanted.size() == 1 && tensor.shape == Shape{1, wanted[0]};
}

// Looks up the tensors that a network reads.
void CheckTensors(const Wanted& wanted, const Checkpoint& checkpoint, ModelReport* report) {
  for (const auto& [name, shape] : wanted) {
    const absl::StatusOr<Tensor> tensor = checkpoint.Take(name);
    if (!tensor.ok()) {
      report->missing.push_back(absl::StrCat(name, " ", ShapeText(shape)));
    } else if (!Fits(*tensor, shape)) {
      report->missing.push_back(
          absl::StrCat(name, " is ", ShapeText(tensor->shape), ", want ", ShapeText(shape)));
    }
  }
}

std::string Weights(const Checkpoint& checkpoint) {
  std::map<std::string, int> types;
  std::set<const std::byte*> seen;
  double bytes = 0;
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    if (!seen.insert(tensor.bytes.data()).second) continue;
    ++types[NameOf(tensor.dtype)];
    bytes += static_cast<double>(tensor.bytes.size());
  }
  std::vector<std::string> parts;
  for (const auto& [type, count] : types) parts.push_back(absl::StrCat(count, " ", type));
  return absl::StrCat(checkpoint.name(), ": ", Megabytes(bytes),
                      ", tensors: ", absl::StrJoin(parts, ", "));
}

std::string LanguageText(const Tokenizer& tokenizer) {
  const std::vector<LanguagePair> pairs = tokenizer.languages().Tags();
  if (pairs.empty()) return "the files do not say";
  constexpr size_t kMost = 12;
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(pairs.size(), kMost); ++i) {
    shown.push_back(absl::StrCat(pairs[i].source.empty() ? "?" : pairs[i].source, "-",
                                 pairs[i].target.empty() ? "?" : pairs[i].target));
  }
  std::string text = absl::StrJoin(shown, " ");
  if (pairs.size() > kMost) absl::StrAppend(&text, " and ", pairs.size() - kMost, " more pairs");
  return text;
}

// Whether TensorsOf lists all of a model's tensors.
bool IsPlain(const ModelSpec& spec) {
  return spec.network == "transformer" && spec.history == "self_attention";
}

// The parameters of all matrices, the output's among them.
double CountParameters(const ModelSpec& spec) {
  const double d = spec.d_model;
  const double output = d * spec.target_vocabulary;
  if (spec.details != nullptr) return spec.details->Weights(spec) + output;
  const double encoder_width = spec.encoder_heads * spec.encoder_head_width();
  const double decoder_width = spec.decoder_heads * spec.decoder_head_width();
  const double inner = spec.gated ? 3 : 2;
  const double encoder =
      spec.encoder_layers * (4 * d * encoder_width + inner * d * spec.encoder_ffn);
  const double decoder =
      spec.decoder_layers * (8 * d * decoder_width + inner * d * spec.decoder_ffn);
  return encoder + decoder + output;
}

double BytesOf(const ModelSpec& spec, double parameters, Precision precision) {
  const double tables = EmbeddingBytes(spec, {.arithmetic = precision});
  const double bytes =
      precision == Precision::kFloat32 ? 4 : (precision == Precision::kBFloat16 ? 2 : 1);
  return bytes * parameters + tables;
}

constexpr double kLoadingBytes = 100e6;

// What a tokenizer and its vocabularies take in memory for each byte of their files: a guess on the
// safe side.
constexpr double kTokenizerFactor = 10;

std::string Memory(const ModelSpec& spec, double parameters, double tokenizer) {
  std::vector<std::string> parts;
  for (const Precision precision : {Precision::kInt8, Precision::kBFloat16, Precision::kFloat32}) {
    const double bytes = BytesOf(spec, parameters, precision) + tokenizer;
    parts.push_back(absl::StrCat(NameOf(precision), " ", Megabytes(bytes)));
  }
  return absl::StrCat(absl::StrJoin(parts, ", "),
                      " and up to 100 MB more (estimated; this process may use ",
                      Megabytes(static_cast<double>(AvailableMemory())), ")");
}

// Times a feed-forward matrix of the model for a moment.
absl::StatusOr<double> OperationsPerSecond(const ModelSpec& spec, Precision precision) {
  constexpr int kRows = 32;
  const int inner = std::max(spec.decoder_ffn, spec.d_model);
  Matrix<float> weight(inner, spec.d_model);
  Matrix<float> x(kRows, spec.d_model);
  Matrix<float> y(kRows, inner);
  std::fill_n(weight.view().data(), size_t{1} * weight.rows() * weight.cols(), 0.01f);
  std::fill_n(x.view().data(), size_t{1} * x.rows() * x.cols(), 0.5f);
  ASSIGN_OR_RETURN(const PackedGemm gemm,
                   PackedGemm::Create(weight.view(), {}, Activation::kNone, precision));
  GemmScratch scratch;
  gemm.Apply(x.view(), y.view(), &scratch);
  // The best of many, so that other work on this machine does not count.
  constexpr int kProducts = 4;
  const absl::Time end = absl::Now() + absl::Milliseconds(50);
  absl::Duration best = absl::InfiniteDuration();
  while (absl::Now() < end || best == absl::InfiniteDuration()) {
    const absl::Time start = absl::Now();
    for (int i = 0; i < kProducts; ++i) gemm.Apply(x.view(), y.view(), &scratch);
    best = std::min(best, absl::Now() - start);
  }
  return 2.0 * kProducts * kRows * spec.d_model * inner / absl::ToDoubleSeconds(best);
}

// Every parameter is multiplied once by a source token or a target token, at a bit more than half
// of the speed of a product whose weights are in the cache; the rest goes to attention, the search,
// and weights that come from memory (tests/bench).
std::string Speed(const ModelSpec& spec, double parameters) {
  constexpr double kShare = 0.6;
  std::vector<std::string> parts;
  for (const Precision precision : {Precision::kInt8, Precision::kBFloat16, Precision::kFloat32}) {
    const absl::StatusOr<double> speed = OperationsPerSecond(spec, precision);
    parts.push_back(speed.ok() ? absl::StrFormat("%s %.0f", NameOf(precision),
                                                 kShare * *speed / (2 * parameters))
                               : absl::StrCat(NameOf(precision), " not on this machine"));
  }
  return absl::StrCat(
      absl::StrJoin(parts, ", "),
      " target tokens/s per core with 32 in flight, beam 1, translations as long as "
      "their texts (estimated; ",
      AvailableCores(), " cores, ", GemmIsa(Precision::kInt8), ")");
}

std::string NetworkText(const ModelSpec& spec) {
  const std::string shape = absl::StrCat(spec.encoder_layers, " + ", spec.decoder_layers,
                                         " layers, width ", spec.d_model);
  if (spec.network != "transformer") return absl::StrCat(spec.network, ", ", shape);
  const bool norms_before = !spec.around().before.empty();
  return absl::StrCat(shape, ", ", spec.encoder_heads, " heads, feed-forward ", spec.encoder_ffn,
                      spec.gated ? " gated" : "", norms_before ? ", pre-norm" : ", post-norm",
                      IsPlain(spec) ? "" : absl::StrCat(", ", spec.history, " decoder"),
                      spec.norm == Norm::kLayer ? "" : " (root mean square)");
}

std::string VocabularyText(const ModelDirectory& files) {
  const ModelSpec& spec = files.config.spec;
  std::string text = absl::StrCat(spec.source_vocabulary, " source and ", spec.target_vocabulary,
                                  " target tokens");
  if (spec.share_embeddings) text = absl::StrCat(spec.target_vocabulary, " tokens, shared");
  return absl::StrCat(text, "; the tokenizer has ", files.tokenizer->source_vocabulary_size(),
                      "; sentences of up to ", spec.max_positions, " tokens");
}

std::string SearchText(const GenerationConfig& search) {
  std::string text =
      absl::StrCat("beam ", search.options.beam_size.value_or(1), ", length penalty ",
                   search.options.length_penalty.value_or(1.0f));
  if (const auto most = search.options.max_length; most.has_value()) {
    absl::StrAppend(&text, ", at most ", *most + 1, " tokens");  // with the decoder's start
  }
  return text;
}

// What the tokenizer of a directory takes, as its part of an estimate.
double TokenizerBytes(const std::string& directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) return 0;
  double bytes = 0;
  for (const std::string& file : FilesBeside(directory)) {
    const auto size = std::filesystem::file_size(file, error);
    if (!error) bytes += static_cast<double>(size);
  }
  return kTokenizerFactor * bytes;
}

// The tensors that a network of this kind reads, with their shapes: [rows, columns], or [size].
Wanted TensorsOf(const ModelSpec& spec, const Checkpoint& checkpoint) {
  const Shape of_source = {spec.source_vocabulary, spec.d_model};
  const Shape of_target = {spec.target_vocabulary, spec.d_model};
  Wanted wanted = {{TargetTable(spec, checkpoint), of_target}};
  if (!spec.share_embeddings) wanted.push_back({kSourceTable, of_source});
  if (!spec.tied_output) wanted.push_back({kOutputTable, of_target});
  if (checkpoint.Has("final_logits_bias")) {
    wanted.push_back({"final_logits_bias", {spec.target_vocabulary}});
  }
  Inventory inventory(spec, &wanted);
  inventory.Stack("model.encoder", spec.encoder_layers, spec.encoder_heads,
                  spec.encoder_head_width(), spec.encoder_ffn, false);
  inventory.Stack("model.decoder", spec.decoder_layers, spec.decoder_heads,
                  spec.decoder_head_width(), spec.decoder_ffn, true);
  return wanted;
}

}  // namespace

absl::Status CheckWithoutWeights(const std::string& directory) {
  ASSIGN_OR_RETURN(const UnpackedModel held, UnpackModel(directory));
  RETURN_IF_ERROR(ReadModelConfig(directory).status());
  return OpenTokenizer(directory).status();
}

absl::StatusOr<MemoryEstimate> EstimateMemory(const std::string& directory, Precision precision,
                                              bool selective_output) {
  ASSIGN_OR_RETURN(const UnpackedModel model, UnpackModel(directory));
  ASSIGN_OR_RETURN(const ModelConfig config, ReadModelConfig(model.path));
  const ModelSpec& spec = config.spec;
  const double output = selective_output ? 1.0 * spec.d_model * spec.target_vocabulary : 0.0;
  const double weights = BytesOf(spec, CountParameters(spec), Resolve(precision));
  return MemoryEstimate{weights + output + TokenizerBytes(model.path), kLoadingBytes};
}

absl::StatusOr<ModelReport> ReportModel(const std::string& directory, const std::string& lora) {
  ASSIGN_OR_RETURN(const ModelDirectory files, OpenModelDirectory(directory, lora));
  const ModelSpec& spec = files.config.spec;
  const double parameters = CountParameters(spec);
  ModelReport report;
  report.lines = {{"family", absl::StrCat(files.family, " (", spec.architecture, ")")},
                  {"network", NetworkText(spec)},
                  {"vocabulary", VocabularyText(files)},
                  {"languages", LanguageText(*files.tokenizer)},
                  {"search", SearchText(files.config.generation)},
                  {"weights", Weights(files.checkpoint)},
                  {"memory", Memory(spec, parameters, TokenizerBytes(directory))},
                  {"speed", Speed(spec, parameters)}};
  report.languages = files.tokenizer->languages().Tags();
  if (IsPlain(spec)) {
    CheckTensors(TensorsOf(spec, files.checkpoint), files.checkpoint, &report);
  } else {
    // Only the network knows which tensors it needs.
    const absl::Status created = CreateNetwork(files.checkpoint, spec, {}).status();
    if (!created.ok()) report.missing.push_back(std::string(created.message()));
  }
  if (report.missing.empty()) report.unused = files.checkpoint.Unread();
  for (const auto& [side, tokens, embeddings] :
       {std::tuple("source", files.tokenizer->source_vocabulary_size(), spec.source_vocabulary),
        std::tuple("target", files.tokenizer->target_vocabulary_size(), spec.target_vocabulary)}) {
    if (tokens > embeddings) {
      report.missing.push_back(absl::StrCat("embeddings: the tokenizer has ", tokens, " ", side,
                                            " tokens, the model ", embeddings));
    }
  }
  return report;
}

}  // namespace dragoman
