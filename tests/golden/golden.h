// The results of Hugging Face transformers (tests/golden/README.md) for tests: inputs, settings as
// our WholeSearch, and the hypotheses that a search must find.
//
// The files are part of the tree; throws if one cannot be read.

#ifndef DRAGOMAN_TESTS_GOLDEN_GOLDEN_H_
#define DRAGOMAN_TESTS_GOLDEN_GOLDEN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/search/whole_search.h"

namespace dragoman::golden {

struct Input {
  std::string text;
  std::vector<int32_t> ids;
  // Absent for en-de.
  std::vector<int32_t> decoder_input_ids;  // for teacher forcing; the first is the decoder start
  std::string encoder_npy;                 // path of the encoder's output [ids, d_model]
  std::string logits_npy;                  // path of the logits [decoder_input_ids, vocabulary]
};

struct Expected {
  std::vector<int32_t> tokens;  // generated, without decoder start and eos
  bool ends_in_eos = false;
  std::optional<float> score;         // absent for greedy search
  std::optional<float> raw_log_prob;  // sum of log-softmax of unprocessed logits, incl. eos
  std::string text;
};

struct Setting {
  std::string name;
  WholeSearch options;
  std::vector<std::vector<Expected>> outputs;  // one per input, best hypothesis first
};

struct Golden {
  std::string model_directory;
  std::vector<Input> inputs;
  std::vector<Setting> settings;
};

// The names of the goldens, and which of them have encoder outputs and logits.
inline constexpr const char* kMarianGoldens[] = {"marian-trained", "marian-rand",
                                                 "marian-rand-fp16", "marian-padheavy-renorm"};
inline constexpr const char* kFamilyGoldens[] = {"m2m100-trained", "nllb-trained",
                                                 "mbart50-trained", "t5v11-trained"};
inline constexpr char kEnDe[] = "en-de";  // a real model, 200 sentences

Golden LoadGolden(const std::string& name);

// The tolerance for float32 logits.
float LogitsTolerance(const std::string& name);

// The result of comparing the hypotheses of a search with the expected ones.
enum class Agreement {
  kSame,       // tokens, ends and scores
  kTied,       // other tokens, but scores that differ only by rounding
  kDifferent,  // anything else
};

struct Comparison {
  Agreement agreement = Agreement::kSame;
  std::string difference;  // what differs, for people; "" if nothing does
};

// Greedy search, whose goldens have no score, is compared by raw log-probability, unless a token
// was forced or the logits were renormalized.
Comparison Compare(const WholeSearch& options, const std::vector<Expected>& expected,
                   const std::vector<Hypothesis>& found);

// Reads a two-dimensional array of float32 or float64 in C order, as numpy.save writes it.
std::vector<std::vector<float>> ReadNpy(const std::string& path);

}  // namespace dragoman::golden

#endif  // DRAGOMAN_TESTS_GOLDEN_GOLDEN_H_
