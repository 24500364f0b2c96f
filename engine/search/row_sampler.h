// Draws tokens from one row of logits, filtered as in Hugging Face's generate(do_sample=True):
// temperature, top-k, top-p, min-p, typical-p and the epsilon cut-off, in this order, each applied
// to what the one before it has left.
//
// Without a filter nothing is sorted: a number between 0 and the total mass is drawn, and tokens
// are examined only in the tile that it falls into, 64 at a time at first.  The mass of a tile is
// known, because summing up the row for its log-probabilities computes it.  A filter first finds a
// bound that the tokens it keeps must reach, so that few are left to sort.

#ifndef DRAGOMAN_ENGINE_SEARCH_ROW_SAMPLER_H_
#define DRAGOMAN_ENGINE_SEARCH_ROW_SAMPLER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "engine/options/options.h"

namespace dragoman {

// A 64-bit number that looks random: always the same for the same key and counter, and independent
// of everything else (SplitMix64; Steele et al. 2014).
uint64_t RandomBits(uint64_t key, uint64_t counter);

// Mixes another number, or several, into a key.
uint64_t MixKey(uint64_t key, uint64_t value);
uint64_t MixKey(uint64_t key, absl::Span<const int32_t> values);

// The sum of the exponentials of some logits: sum x exp(max).
struct TileMass {
  float max = 0.0f;  // at least every logit; finite unless sum is 0
  double sum = 0.0;
};

// Keeps its memory from one row to the next.
class RowSampler {
 public:
  void Clear();

  // Appends the logits of the next positions of the row, and their mass; -inf for tokens that must
  // not be drawn.
  void Append(absl::Span<const float> logits, const TileMass& mass);
  void Append(absl::Span<const float> logits);
  size_t size() const { return logits_.size(); }
  // REQUIRES: position < size(), and its logit is -inf.
  void Set(size_t position, float logit);
  float logit(size_t position) const { return logits_[position]; }  // before the temperature

  // Applies temperature and filters.  False if nothing can be drawn: no logit is finite, or one is
  // +inf.
  bool Prepare(const SearchOptions& options);

  // The position that `uniform` in [0, 1) selects.  REQUIRES: Prepare returned true.
  size_t Draw(double uniform) const;

 private:
  struct Kept {
    float logit = 0.0f;
    int32_t position = 0;
  };

  static bool BestFirst(const Kept& a, const Kept& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.position < b.position;
  }

  static constexpr size_t kChunk = 64;

  // A part of the row, up to that position.
  struct Tile {
    size_t end = 0;
    TileMass mass;
  };

  void SumTiles(bool scaled);

  float BoundOfTop(size_t k);
  void Keep(float at_least);
  void KeepTop(size_t k);
  void KeepMass(double p);
  void KeepTypical(double p);
  double MassOfKept() const;

  std::vector<float> logits_;
  std::vector<float> scaled_;    // by the temperature, if that is not 1
  absl::Span<const float> row_;  // scaled_ or logits_
  float max_ = 0.0f;
  bool filtered_ = false;
  std::vector<Tile> tiles_;
  std::vector<Kept> kept_;      // best first, if filtered
  std::vector<double> masses_;  // of each tile, otherwise
  double mass_ = 0.0;           // total that can be drawn, relative to exp(max_)
  std::vector<float> maxima_;   // scratch
  std::vector<int32_t> above_;  // scratch
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_ROW_SAMPLER_H_
