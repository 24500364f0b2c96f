// T5, T5 v1.1 (and Flan-T5), mT5, MADLAD-400, UMT5 and ByT5.  Pre-norm with root mean square norms,
// no biases, unscaled queries, and relative positions in self-attention.
//
//   T5        translate English to German: text </s>     ReLU, output tied and scaled
//   T5 v1.1   the same                                   gated GELU, an output table of its own
//   mT5       text </s>, whatever it was tuned for
//   MADLAD    <2de> text </s>
//   UMT5      as mT5, and each layer has a bias of positions of its own
//   ByT5      as mT5, of bytes: <pad>, </s>, <unk> and the 256 bytes; more encoder than decoder
//
// The decoder starts with <pad>. Ids are those of the SentencePiece model; <extra_id_0> and so on
// follow them in reverse order.

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/base/json.h"
#include "engine/base/status.h"
#include "engine/families/adapter.h"
#include "engine/families/hugging_face.h"
#include "engine/formats/open_weights.h"
#include "engine/text/language_tag.h"

namespace dragoman::t5 {
namespace {

constexpr char kArchitecture[] = "T5ForConditionalGeneration";

// The classes that config.json may name, and what their configurations say by default.
struct Class {
  const char* model_type;
  const char* architecture;
  bool multilingual;  // has no prefixes, a gated feed-forward layer and an output table
  bool bias_per_layer;
};
constexpr Class kClasses[] = {
    {"t5", kArchitecture, false, false},
    {"mt5", "MT5ForConditionalGeneration", true, false},
    {"umt5", "UMT5ForConditionalGeneration", true, true},
};

const Class* ClassOf(const DirectoryFiles& files) {
  for (const Class& each : kClasses) {
    if (IsModel(files, each.model_type, each.architecture)) return &each;
  }
  return nullptr;
}

// Whether the pieces are bytes: an architecture of T5 with the tokenizer of ByT5.
bool IsOfBytes(const DirectoryFiles& files) { return HasTokenizerClass(files, "ByT5Tokenizer"); }

// The name of the same class in the first checkpoints.
bool IsOldName(const DirectoryFiles& files) {
  return Member(files.config, "architectures") == nlohmann::json::array({"T5WithLMHeadModel"});
}

bool Recognizes(const DirectoryFiles& files) { return ClassOf(files) != nullptr; }

// "relu", "gated-gelu" or "gated-silu"; by the second Hugging Face means gelu_new.
absl::Status ReadFeedForward(const JsonFields& fields, bool multilingual, ModelSpec* spec) {
  std::string projection = multilingual ? "gated-gelu" : "relu";
  RETURN_IF_ERROR(fields.Read("feed_forward_proj", &projection));
  spec->gated = absl::StartsWith(projection, "gated-");
  const std::string name(absl::StripPrefix(projection, "gated-"));
  const nlohmann::json activation = {
      {"feed_forward_proj", projection == "gated-gelu" ? "gelu_new" : name}};
  ASSIGN_OR_RETURN(spec->activation, ReadActivation(JsonFields({{"config.json", &activation}}),
                                                    "feed_forward_proj", Activation::kRelu));
  return absl::OkStatus();
}

absl::Status CheckShape(const ModelSpec& spec) {
  if (static_cast<int64_t>(spec.encoder_heads) * spec.head_width > kMaxWidth) {
    return InvalidArgumentError("config.json: num_heads x d_kv is ", spec.encoder_heads, " x ",
                                spec.head_width, ", want at most ", kMaxWidth);
  }
  const Positions& positions = spec.positions;
  if (positions.buckets % 4 != 0 || positions.max_distance <= positions.buckets / 2) {
    return UnimplementedError("config.json: relative_attention_num_buckets is ", positions.buckets,
                              " and relative_attention_max_distance ", positions.max_distance,
                              ", want a multiple of 4 and more than half of it");
  }
  return absl::OkStatus();
}

absl::Status ReadShape(const JsonFields& fields, const Class& described, ModelSpec* spec) {
  const bool multilingual = described.multilingual;
  spec->d_model = 512;
  spec->encoder_layers = multilingual ? 8 : 6;
  spec->encoder_heads = multilingual ? 6 : 8;
  spec->encoder_ffn = multilingual ? 1024 : 2048;
  spec->head_width = 64;
  spec->source_vocabulary = multilingual ? 250112 : 32128;
  Positions& positions = spec->positions;
  positions = {.kind = Positions::kRelative,
               .buckets = 32,
               .max_distance = 128,
               .per_layer = described.bias_per_layer};
  const struct {
    const char* field;
    int least, most;
    int* value;
  } optional[] = {
      {"d_model", 1, kMaxWidth, &spec->d_model},
      {"num_layers", 1, kMaxLayers, &spec->encoder_layers},
      {"num_heads", 1, kMaxWidth, &spec->encoder_heads},
      {"d_ff", 1, kMaxWidth, &spec->encoder_ffn},
      {"d_kv", 1, kMaxWidth, &spec->head_width},
      {"vocab_size", 1, kMaxVocabulary, &spec->source_vocabulary},
      {"relative_attention_num_buckets", 4, kMaxWidth, &positions.buckets},
      {"relative_attention_max_distance", 1, kMaxWidth, &positions.max_distance},
  };
  for (const auto& [field, least, most, value] : optional) {
    RETURN_IF_ERROR(fields.Read(field, least, most, value));
  }
  RETURN_IF_ERROR(CheckShape(*spec));
  spec->decoder_layers = spec->encoder_layers;
  RETURN_IF_ERROR(fields.Read("num_decoder_layers", 1, kMaxLayers, &spec->decoder_layers));
  spec->decoder_heads = spec->encoder_heads;
  spec->decoder_ffn = spec->encoder_ffn;
  spec->target_vocabulary = spec->source_vocabulary;
  // Relative positions set no limit; this is ours.
  spec->max_positions = 1024;
  return ReadFeedForward(fields, multilingual, spec);
}

absl::StatusOr<ModelConfig> Configure(const DirectoryFiles& files) {
  const ConfigFields fields(files);
  const Class& described = *ClassOf(files);
  ModelConfig config;
  ModelSpec& spec = config.spec;
  spec.architecture = described.architecture;
  if (!IsOldName(files)) {
    RETURN_IF_ERROR(CheckArchitecture(fields.model, spec.architecture.c_str()));
  }
  spec.norm = Norm::kRootMeanSquare;
  spec.norm_epsilon = 1e-6f;
  spec.pre_norm = true;
  spec.final_norm = true;
  spec.biases = false;
  spec.scaled_queries = false;
  RETURN_IF_ERROR(fields.model.Read("layer_norm_epsilon", &spec.norm_epsilon));
  RETURN_IF_ERROR(ReadShape(fields.model, described, &spec));
  spec.tied_output = !described.multilingual;
  // That of an mT5 is always a table of its own, and transformers 5 writes that it is not.
  if (!described.multilingual) {
    RETURN_IF_ERROR(fields.model.Read("tie_word_embeddings", &spec.tied_output));
  }
  // transformers 5 always writes `true` to that field, and the value that it read to this one.
  RETURN_IF_ERROR(fields.model.Read("scale_decoder_outputs", &spec.tied_output));
  if (spec.tied_output) spec.logit_scale = 1.0f / std::sqrt(static_cast<float>(spec.d_model));
  RETURN_IF_ERROR(ReadSpecialTokens(fields.search, {.eos = 1, .pad = 0}, &spec));
  ASSIGN_OR_RETURN(config.generation, ReadGeneration(fields.search, spec));
  return config;
}

// Language pairs with their prefixes: those of config.json's task_specific_params
// (translation_en_to_de: {prefix: ...}), or else those that T5 was trained on.
absl::StatusOr<std::map<std::pair<std::string, std::string>, std::string>> ReadPrefixes(
    const DirectoryFiles& files) {
  std::map<std::pair<std::string, std::string>, std::string> prefixes;
  const nlohmann::json& tasks = Member(files.config, "task_specific_params");
  if (tasks.is_object()) {
    for (const auto& [task, parameters] : tasks.items()) {
      const std::vector<std::string> words = absl::StrSplit(task, '_');
      if (words.size() != 4 || words[0] != "translation" || words[2] != "to") continue;
      std::string prefix;
      if (parameters.is_object()) {
        RETURN_IF_ERROR(JsonFields({{"config.json", &parameters}}).Read("prefix", &prefix));
      }
      prefixes[{words[1], words[3]}] = prefix;
    }
  }
  if (prefixes.empty() && !ClassOf(files)->multilingual && !IsOfBytes(files)) {
    for (const auto& [code, name] :
         {std::pair("de", "German"), {"fr", "French"}, {"ro", "Romanian"}}) {
      prefixes[{"en", code}] = absl::StrCat("translate English to ", name, ": ");
    }
  }
  return prefixes;
}

// The language codes of all pieces of the form `<2de>`.
std::vector<std::string> TargetCodes(const std::vector<std::string>& pieces) {
  std::vector<std::string> codes;
  for (const std::string& piece : pieces) {
    if (piece.size() <= 3 || !absl::StartsWith(piece, "<2") || !absl::EndsWith(piece, ">"))
      continue;
    const std::string code = piece.substr(2, piece.size() - 3);
    if (ParseLanguage(code).has_value()) codes.push_back(code);
  }
  return codes;
}

absl::StatusOr<Languages> LanguagesOf(const DirectoryFiles& files,
                                      const std::vector<std::string>& pieces) {
  const std::vector<std::string> codes = TargetCodes(pieces);
  if (!codes.empty()) return Languages::All({"mul"}, codes, {}, /*target_needed=*/false);
  ASSIGN_OR_RETURN(const auto prefixes, ReadPrefixes(files));
  std::vector<LanguagePair> pairs;
  for (const auto& [pair, prefix] : prefixes) pairs.push_back({pair.first, pair.second});
  if (pairs.empty()) return Languages();
  return Languages::Only(std::move(pairs));
}

absl::Status SetLanguages(const DirectoryFiles& files, const std::vector<std::string>& pieces,
                          int32_t eos, TokenizerParts* parts) {
  ASSIGN_OR_RETURN(parts->languages, LanguagesOf(files, pieces));
  if (!TargetCodes(pieces).empty()) {
    parts->frame = [eos](const LanguagePair& pair) {
      Frame frame{.after = {eos}};
      if (!pair.target.empty()) frame.text_prefix = absl::StrCat("<2", pair.target, "> ");
      return frame;
    };
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const auto prefixes, ReadPrefixes(files));
  parts->frame = [eos, prefixes](const LanguagePair& pair) {
    Frame frame{.after = {eos}};
    const auto it = prefixes.find({pair.source, pair.target});
    if (it != prefixes.end()) frame.text_prefix = it->second;
    return frame;
  };
  return absl::OkStatus();
}

// The second is that of MADLAD-400.
const std::vector<const char*> kPieceFiles = {"spiece.model", "sentencepiece.model"};

absl::StatusOr<Languages> ReadLanguages(const DirectoryFiles& files, const ModelSpec& spec) {
  if (IsOfBytes(files)) return LanguagesOf(files, {});
  ASSIGN_OR_RETURN(const PieceList list, ListPieces(files, spec, kPieceFiles));
  return LanguagesOf(files, list.pieces);
}

// <extra_id_0> and so on, if no file lists them: `extra_ids` of them, by default 100, or 125 of a
// ByT5, where they stand in order.
absl::StatusOr<std::vector<SpecialToken>> ExtraTokens(const DirectoryFiles& files,
                                                      const ModelSpec& spec, int pieces) {
  std::vector<SpecialToken> tokens;
  const bool bytes = IsOfBytes(files);
  int extra = bytes ? 125 : ClassOf(files)->multilingual ? 0 : 100;
  RETURN_IF_ERROR(TokenizerFields(files).Read("extra_ids", 0, kMaxVocabulary, &extra));
  extra = std::min(extra, spec.source_vocabulary - pieces);
  for (int i = 0; i < extra; ++i) {
    tokens.push_back({absl::StrCat("<extra_id_", i, ">"), pieces + (bytes ? i : extra - 1 - i),
                      /*trims_left=*/!bytes, /*trims_right=*/!bytes});
  }
  return tokens;
}

constexpr int32_t kFirstByte = 3;  // of a ByT5, behind the special tokens

absl::StatusOr<DirectoryPieces> OpenPiecesOf(const DirectoryFiles& files, const ModelSpec& spec) {
  if (!IsOfBytes(files)) return OpenPieces(files, spec, kPieceFiles);
  DirectoryPieces pieces;
  pieces.model = PieceModel::OfBytes(kFirstByte);
  pieces.list.pieces = pieces.model->Pieces();
  int32_t id = 0;
  for (const char* token : {"<pad>", "</s>", "<unk>"}) pieces.list.pieces[id++] = token;
  ASSIGN_OR_RETURN(pieces.list.added, ReadAddedTokens(files, spec));
  return pieces;
}

absl::StatusOr<std::unique_ptr<const Tokenizer>> OpenTokenizer(const DirectoryFiles& files,
                                                               const ModelSpec& spec) {
  TokenizerParts parts;
  ASSIGN_OR_RETURN(const DirectoryPieces pieces, OpenPiecesOf(files, spec));
  SetPieces(pieces, &parts);
  const PieceList& list = pieces.list;
  ASSIGN_OR_RETURN(Vocabulary vocabulary, VocabularyOf(list));
  std::vector<SpecialToken> special = list.added;
  if (special.empty() && !list.is_json) {
    ASSIGN_OR_RETURN(special, ExtraTokens(files, spec, static_cast<int>(list.pieces.size())));
  }
  if (!list.is_json) {
    for (const char* token : {"<pad>", "<s>", "</s>", "<unk>"}) {
      const std::optional<int32_t> id = vocabulary.IdOf(token);
      if (id.has_value()) special.push_back({token, *id});
    }
  }
  RETURN_IF_ERROR(AddSpecialTokens(special, &parts, &vocabulary));
  parts.unknown_id = vocabulary.IdOf("<unk>").value_or(2);
  parts.eos_once = !list.is_json;
  RETURN_IF_ERROR(SetLanguages(files, list.pieces, spec.eos_id, &parts));
  RETURN_IF_ERROR(CheckFrame(files, pieces, parts.frame({}), {}));
  parts.source_vocabulary = std::make_shared<const Vocabulary>(std::move(vocabulary));
  parts.target_vocabulary = parts.source_vocabulary;
  return std::make_unique<const Tokenizer>(std::move(parts));
}

// encoder.block.3.layer.0.SelfAttention.q.weight -> model.encoder.layers.3.self_attn.q_proj.weight
// With a bias in every layer, that of a layer is named as the layer is; otherwise as the stack.
std::string CanonicalName(const std::string& name, bool bias_per_layer) {
  if (name == "lm_head.weight") return name;
  if (name == "shared.weight") return "model.shared.weight";
  const bool decoder = absl::StartsWith(name, "decoder.");
  if (!decoder && !absl::StartsWith(name, "encoder.")) return name;
  if (absl::StrContains(name, "EncDecAttention.relative_attention_bias")) return name;
  const std::string ffn = decoder ? ".layer.2." : ".layer.1.";
  constexpr char kBias[] = ".layer.0.SelfAttention.relative_attention_bias.";
  std::string result = absl::StrCat(
      "model.",
      absl::StrReplaceAll(name, {{".block.", ".layers."},
                                 {absl::StrCat(bias_per_layer ? "" : ".block.0", kBias),
                                  ".relative_attention_bias."},
                                 {".final_layer_norm.", ".layer_norm."},
                                 {".layer.0.layer_norm.", ".self_attn_layer_norm."},
                                 {absl::StrCat(ffn, "layer_norm."), ".final_layer_norm."},
                                 {absl::StrCat(ffn, "DenseReluDense.wi_0."), ".fc1."},
                                 {absl::StrCat(ffn, "DenseReluDense.wi_1."), ".fc1_linear."},
                                 {absl::StrCat(ffn, "DenseReluDense.wi."), ".fc1."},
                                 {absl::StrCat(ffn, "DenseReluDense.wo."), ".fc2."},
                                 {".layer.0.SelfAttention.q.", ".self_attn.q_proj."},
                                 {".layer.0.SelfAttention.k.", ".self_attn.k_proj."},
                                 {".layer.0.SelfAttention.v.", ".self_attn.v_proj."},
                                 {".layer.0.SelfAttention.o.", ".self_attn.out_proj."}}));
  if (!decoder) return result;
  return absl::StrReplaceAll(result, {{".layer.1.layer_norm.", ".encoder_attn_layer_norm."},
                                      {".layer.1.EncDecAttention.q.", ".encoder_attn.q_proj."},
                                      {".layer.1.EncDecAttention.k.", ".encoder_attn.k_proj."},
                                      {".layer.1.EncDecAttention.v.", ".encoder_attn.v_proj."},
                                      {".layer.1.EncDecAttention.o.", ".encoder_attn.out_proj."}});
}

absl::StatusOr<Checkpoint> OpenTensors(const DirectoryFiles& files, const ModelSpec& spec) {
  ASSIGN_OR_RETURN(const Checkpoint checkpoint, OpenWeights(files.path, files.lora));
  return checkpoint.Renamed([per_layer = spec.positions.per_layer](const std::string& name) {
    return CanonicalName(name, per_layer);
  });
}

}  // namespace

extern const Adapter adapter;
const Adapter adapter = {
    .family = "T5",
    .recognizes = Recognizes,
    .configure = Configure,
    .open_tokenizer = OpenTokenizer,
    .open_tensors = OpenTensors,
    // Attention to the source has no positions; old files have the bias that it would not use.
    .harmless = {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"},
    .read_languages = ReadLanguages,
    .tokenizer_classes = {"T5Tokenizer", "MT5Tokenizer", "ByT5Tokenizer", "TokenizersBackend"}};

}  // namespace dragoman::t5
