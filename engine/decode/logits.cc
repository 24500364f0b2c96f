#include "engine/decode/logits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr float kBanned = -std::numeric_limits<float>::infinity();

// The plain loops over a row go in lanes: that many independent results, which a compiler keeps in
// vector registers, and a fixed order of summation whatever the vector's width.
constexpr size_t kLanes = 64;

// What the processors of Hugging Face call input_ids: the decoder start, then the tokens.
class Sequence {
 public:
  Sequence(int32_t start, absl::Span<const int32_t> tokens) : start_(start), tokens_(tokens) {}

  size_t size() const { return 1 + tokens_.size(); }
  int32_t operator[](size_t i) const { return i == 0 ? start_ : tokens_[i - 1]; }

  // Whether `token` stands at one of the first n places.
  bool Contains(int32_t token, size_t n) const {
    if (n == 0) return false;
    const absl::Span<const int32_t> head = tokens_.first(n - 1);
    return token == start_ || std::find(head.begin(), head.end(), token) != head.end();
  }

 private:
  int32_t start_;
  absl::Span<const int32_t> tokens_;
};

void Ban(int32_t token, absl::Span<float> row) {
  if (token >= 0 && static_cast<size_t>(token) < row.size()) row[token] = kBanned;
}

// The token that the next step has no choice about.
std::optional<int32_t> ForcedToken(const SearchOptions& options, size_t length) {
  if (static_cast<int>(length) + 1 == options.max_length && options.forced_eos_id.has_value()) {
    return options.forced_eos_id;
  }
  return length == 0 ? options.forced_bos_id : std::nullopt;
}

// Makes every token of the sequence less likely, once ("CTRL", Keskar et al. 2019, section 4.1).
void PenalizeRepetition(const Sequence& sequence, float penalty, absl::Span<float> row) {
  for (size_t i = 0; i < sequence.size(); ++i) {
    if (sequence.Contains(sequence[i], i)) continue;
    float& value = row[sequence[i]];
    value = value < 0.0f ? value * penalty : value / penalty;
  }
}

float WithoutPenalty(float value, float penalty) {
  return value < 0.0f ? value / penalty : value * penalty;
}

// Bans every token that would complete an n-gram that the sequence already has.
void BanRepeatedNgrams(const Sequence& sequence, size_t n, absl::Span<float> row) {
  if (sequence.size() < n) return;
  const size_t prefix = n - 1;
  const size_t suffix_begin = sequence.size() - prefix;
  for (size_t begin = 0; begin + prefix < sequence.size(); ++begin) {
    size_t same = 0;
    while (same < prefix && sequence[begin + same] == sequence[suffix_begin + same]) ++same;
    if (same == prefix) Ban(sequence[begin + prefix], row);
  }
}

// Bans the last token of every bad word whose other tokens end the sequence.
void BanBadWords(const Sequence& sequence, const std::vector<std::vector<int32_t>>& bad_words,
                 absl::Span<float> row) {
  for (const std::vector<int32_t>& word : bad_words) {
    const size_t prefix = word.size() - 1;
    // Like Hugging Face, which wants one token more than the prefix has.
    if (word.size() > sequence.size()) continue;
    const size_t suffix_begin = sequence.size() - prefix;
    size_t same = 0;
    while (same < prefix && word[same] == sequence[suffix_begin + same]) ++same;
    if (same == prefix) Ban(word.back(), row);
  }
}

// Where exp(x) vanishes beside 1 for certain, but is a normal number still.  NaN goes there too.
constexpr float kExpFloor = -87.0f;
inline float Clamped(float x) { return x > kExpFloor ? x : kExpFloor; }

// exp(x) within two units in the last place.  2^n * 2^f with n + f = x / ln 2 and |f| <= 1/2,
// without branches, so that a loop over it becomes vector code.
// REQUIRES: kExpFloor <= x <= 0.
inline float ExpOfClamped(float x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;  // exact in few bits, so that n * kLn2High is exact
  constexpr float kLn2Low = -2.12194440e-4f;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float shifted = x * kLog2E + kRound;
  const float n = shifted - kRound;
  const float f = (x - n * kLn2High) - n * kLn2Low;
  // Minimax polynomial of exp(f) on [-ln 2 / 2, ln 2 / 2] (Cephes, expf).
  float p = 1.9875691500e-4f;
  p = p * f + 1.3981999507e-3f;
  p = p * f + 8.3334519073e-3f;
  p = p * f + 4.1665795894e-2f;
  p = p * f + 1.6666665459e-1f;
  p = p * f + 5.0000001201e-1f;
  p = p * f * f + f + 1.0f;
  // The low bits of `shifted` hold n; n + 127 moved into the exponent's place is 2^n.
  const uint32_t power = (std::bit_cast<uint32_t>(shifted) + 127u) << 23;
  return p * std::bit_cast<float>(power);
}

float Max(absl::Span<const float> row) {
  float lanes[kLanes];
  std::fill(lanes, lanes + kLanes, kBanned);
  size_t i = 0;
  for (; i + kLanes <= row.size(); i += kLanes) {
    const float* x = row.data() + i;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = x[lane] > lanes[lane] ? x[lane] : lanes[lane];  // passes over NaN
    }
  }
  float max = kBanned;
  for (float x : lanes) max = x > max ? x : max;
  for (; i < row.size(); ++i) max = row[i] > max ? row[i] : max;
  return max;
}

// The k largest values of the row that are above -inf, as candidates whose log_prob is the value.
void AppendTop(absl::Span<const float> row, int parent, int k, std::vector<Candidate>* out) {
  const size_t first = out->size();
  float threshold = kBanned;  // the least value taken, once there are k
  const auto insert = [&](int32_t token, float value) {
    if (out->size() - first == static_cast<size_t>(k)) out->pop_back();
    const auto place = std::upper_bound(out->begin() + first, out->end(), value,
                                        [](float v, const Candidate& c) { return v > c.log_prob; });
    out->insert(place, Candidate{parent, token, value});
    if (out->size() - first == static_cast<size_t>(k)) threshold = out->back().log_prob;
  };
  size_t i = 0;
  for (; i + kLanes <= row.size(); i += kLanes) {
    const float* x = row.data() + i;
    int above = 0;
    for (size_t lane = 0; lane < kLanes; ++lane) above |= x[lane] > threshold;
    if (above == 0) continue;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      if (x[lane] > threshold) insert(static_cast<int32_t>(i + lane), x[lane]);
    }
  }
  for (; i < row.size(); ++i) {
    if (row[i] > threshold) insert(static_cast<int32_t>(i), row[i]);
  }
}

}  // namespace

float LogSumExp(absl::Span<const float> row) {
  // Sums of few terms in float, of many in double.
  constexpr size_t kBlock = 2048;
  const float max = Max(row);
  if (!std::isfinite(max)) return max;
  double sum = 0.0;
  size_t i = 0;
  while (i + kLanes <= row.size()) {
    const size_t end = std::min(i + kBlock, row.size() / kLanes * kLanes);
    float lanes[kLanes] = {};
    for (; i < end; i += kLanes) {
      const float* x = row.data() + i;
      float below_max[kLanes];
      for (size_t lane = 0; lane < kLanes; ++lane) below_max[lane] = Clamped(x[lane] - max);
      for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += ExpOfClamped(below_max[lane]);
    }
    for (float x : lanes) sum += x;
  }
  for (; i < row.size(); ++i) sum += ExpOfClamped(Clamped(row[i] - max));
  return static_cast<float>(max + std::log(sum));
}

void RankContinuations(const SearchOptions& options, absl::Span<const int32_t> tokens, int parent,
                       int k, absl::Span<float> logits, std::vector<Candidate>* out) {
  DRAGOMAN_CHECK(k >= 1);
  if (const std::optional<int32_t> forced = ForcedToken(options, tokens.size())) {
    out->push_back({parent, *forced, 0.0f});
    return;
  }
  const Sequence sequence(options.decoder_start_id, tokens);
  const bool greedy = options.beam_size == 1;
  const bool penalize = options.repetition_penalty != 1.0f;
  // A row less log_sum is its log-probabilities.  Renormalization makes up for a shift of the whole
  // row, so the first of two log-softmaxes is needed by the penalty of beam search alone.
  float log_sum = 0.0f;
  if (!options.renormalize_logits || (penalize && !greedy)) log_sum = LogSumExp(logits);
  if (penalize) {
    if (!greedy) {
      for (float& value : logits) value -= log_sum;
      log_sum = 0.0f;
    }
    PenalizeRepetition(sequence, options.repetition_penalty, logits);
  }
  if (options.no_repeat_ngram_size > 0) {
    BanRepeatedNgrams(sequence, options.no_repeat_ngram_size, logits);
  }
  BanBadWords(sequence, options.bad_words_ids, logits);
  if (static_cast<int>(tokens.size()) < options.min_length) Ban(options.eos_id, logits);
  if (options.renormalize_logits) log_sum = LogSumExp(logits);
  if (!std::isfinite(log_sum)) return;  // nothing but -inf and NaN, or a +inf

  const size_t first = out->size();
  AppendTop(logits, parent, k, out);
  const bool report_raw = greedy && penalize && !options.renormalize_logits;
  for (size_t i = first; i < out->size(); ++i) {
    Candidate& candidate = (*out)[i];
    if (report_raw && sequence.Contains(candidate.token, sequence.size())) {
      candidate.log_prob = WithoutPenalty(candidate.log_prob, options.repetition_penalty);
    }
    candidate.log_prob -= log_sum;
  }
}

}  // namespace dragoman
