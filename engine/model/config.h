// What a model is (its shape and its special tokens) and how it wants to be searched: what
// config.json and generation_config.json of a checkpoint say, under the field's own names.

#ifndef DRAGOMAN_ENGINE_MODEL_CONFIG_H_
#define DRAGOMAN_ENGINE_MODEL_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/math/activation.h"

namespace dragoman {

// The shape of an encoder-decoder Transformer ("Attention Is All You Need", section 3).
struct ModelConfig {
  std::string architecture;  // "MarianMTModel"

  int d_model = 0;  // width of every layer's input and output
  int encoder_layers = 0;
  int decoder_layers = 0;
  int encoder_heads = 0;  // d_model is a multiple of both
  int decoder_heads = 0;
  int encoder_ffn = 0;  // inner width of the feed-forward layers
  int decoder_ffn = 0;
  Activation activation = Activation::kRelu;  // of the feed-forward layers
  bool scale_embedding = false;               // embeddings are multiplied by sqrt(d_model)

  int source_vocabulary = 0;
  int target_vocabulary = 0;
  int max_positions = 0;  // the most tokens that a sentence may have on either side

  int32_t decoder_start_id = 0;  // what stands before the first generated token
  int32_t eos_id = 0;
  int32_t pad_id = 0;

  // Set when the model loads: whether the decoder keeps keys and values in bfloat16, at half the
  // size of float32.
  bool bfloat16_keys_values = false;
  // Likewise: whether the output projection is made for rows with candidates.
  bool selective_output = false;
};

// When a beam search stops (HF_SEMANTICS: early_stopping false, true, "never").
enum class EarlyStopping {
  kHeuristic,  // when the best open hypothesis, as long as it is, cannot enter the finished ones
  kFull,       // as soon as beam_size hypotheses are finished
  kNever,      // when no open hypothesis can enter the finished ones at any length
};

// The search that generation_config.json asks for where a request does not say otherwise.
struct GenerationConfig {
  int num_beams = 1;
  int max_length = 0;  // tokens including the decoder start, as Hugging Face counts; 0: not given
  int min_length = 0;  // likewise
  float length_penalty = 1.0f;
  EarlyStopping early_stopping = EarlyStopping::kHeuristic;
  int no_repeat_ngram_size = 0;  // 0: off
  float repetition_penalty = 1.0f;
  bool renormalize_logits = false;
  std::optional<int32_t> forced_bos_id;
  std::optional<int32_t> forced_eos_id;
  std::vector<std::vector<int32_t>> bad_words_ids;  // no entry is empty; a lone [eos] is dropped
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_CONFIG_H_
