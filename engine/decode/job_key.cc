#include "engine/decode/job_key.h"

#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

namespace dragoman {
namespace {

// Appends values unambiguously: no other sequence of values gives the same bytes.
class KeyWriter {
 public:
  explicit KeyWriter(std::string* key) : key_(*key) {}

  template <typename T>
  void Add(const T& value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    key_.append(bytes, sizeof(T));
  }
  template <typename T>
  void Add(const std::optional<T>& value) {
    Add(value.has_value());
    if (value.has_value()) Add(*value);
  }
  void Add(const std::string& text) {
    Add(text.size());
    key_ += text;
  }
  template <typename T>
  void Add(const std::vector<T>& values) {
    Add(values.size());
    for (const T& value : values) Add(value);
  }
  template <typename... T>
  void AddAll(const T&... values) {
    (Add(values), ...);
  }

 private:
  std::string& key_;
};

// The structured binding names all members, in order: the compiler stops whoever adds one here, to
// decide whether results depend on it.
void AddOptions(const SearchOptions& options, KeyWriter* key) {
  const auto& [beam_size, num_hypotheses, length_penalty, word_penalty, length_normalization,
               early_stopping, patience, coverage_penalty, shrinking_beam, min_length,
               min_length_ratio, max_length, max_length_ratio, no_repeat_ngram_size,
               repetition_penalty, renormalize_logits, disable_unk, replace_unknowns,
               repetition_guard, start_id, forced_bos_id, forced_eos_id, beam_groups,
               diversity_penalty, return_alternatives, min_alternative_probability, mbr_candidates,
               sampling, sampling_temperature, sampling_top_k, sampling_top_p, sampling_min_p,
               sampling_typical_p, sampling_epsilon, sampling_seed] = options;
  key->AddAll(beam_size, num_hypotheses, length_penalty, word_penalty, length_normalization,
              early_stopping, patience, coverage_penalty, shrinking_beam, min_length,
              min_length_ratio, max_length, max_length_ratio, no_repeat_ngram_size,
              repetition_penalty, renormalize_logits, disable_unk, replace_unknowns,
              repetition_guard, start_id, forced_bos_id, forced_eos_id, beam_groups,
              diversity_penalty, return_alternatives, min_alternative_probability, mbr_candidates,
              sampling, sampling_temperature, sampling_top_k, sampling_top_p, sampling_min_p,
              sampling_typical_p, sampling_epsilon, sampling_seed);
}

void AddRules(const SearchRules& rules, KeyWriter* key) {
  // The index of pieces belongs to the model.
  const auto& [eos_id, decoder_start_id, unknown_id, bad_words_ids, banned_phrases, pieces] = rules;
  key->AddAll(eos_id, decoder_start_id, unknown_id, bad_words_ids, banned_phrases);
}

}  // namespace

std::string KeyOf(const Job& job) {
  // The shortlist follows from the source, the phrases and the model's shortlist file, which is
  // part of its version.  The coverage is a function that the batch sets.
  const auto& [options, rules, source, prefix, score_prefix, phrases, attention, coverage,
               random_key] = static_cast<const SearchTask&>(job);
  std::string bytes;
  bytes.reserve(256 + 4 * source.size());
  KeyWriter key(&bytes);
  key.AddAll(job.model->version(), job.model->isa(), source, prefix, score_prefix, phrases,
             attention);
  AddOptions(options, &key);
  AddRules(*rules, &key);
  key.Add(options.sampling ? random_key : 0);
  return bytes;
}

}  // namespace dragoman
