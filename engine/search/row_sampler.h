// Draws tokens from one row of logits, filtered as in Hugging Face's generate(do_sample=True):
// temperature, top-k, top-p, min-p, typical-p and the epsilon cut-off, in this order, each applied
// to what the one before it has left.
//
// A row comes in tiles, and most rows need not be kept:
//
//   no filter, one draw   a tile takes over the draw with a probability that is its share of the
//                         mass so far, while it is in the cache ("Random Sampling with a
//                         Reservoir", Vitter 1985); the mass is known, because the row is summed up
//                         for its log-probabilities anyway
//   top-k                 the k best so far are kept, and the rest of the filters see them alone
//   top-p (and min-p)     the row is kept, and tokens are drawn from all of it until one is in the
//                         nucleus: few tries, and nothing is sorted
//   anything else         the row is kept; a filter first finds a bound that the tokens it keeps
//                         must reach, so that few are left to sort

#ifndef DRAGOMAN_ENGINE_SEARCH_ROW_SAMPLER_H_
#define DRAGOMAN_ENGINE_SEARCH_ROW_SAMPLER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "engine/options/options.h"

namespace dragoman {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

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
  // Begins with a row, of which `draws` tokens will be drawn, with replacement.  What is drawn is a
  // function of the key and the row.  REQUIRES: the options outlive the row.
  void Start(const SearchOptions& options, int draws, uint64_t key);

  // Appends the logits of the next positions of the row, and their mass; -inf for tokens that must
  // not be drawn.
  void Append(absl::Span<const float> logits, const TileMass& mass);
  void Append(absl::Span<const float> logits);
  size_t size() const { return size_; }
  // REQUIRES: position < size(), the logit there is -inf, and the whole row has been appended.
  void Set(size_t position, float logit);

  // Applies temperature and filters.  False if there is nothing to draw: no logit is finite, or one
  // is +inf.
  bool Prepare();

  struct Drawn {
    size_t position = 0;
    float logit = 0.0f;  // before the temperature
  };
  // Draw number `draw`, below `draws`.  REQUIRES: Prepare was true.
  Drawn Draw(int draw);

 private:
  // How much of a row is kept until its end.
  enum class Keeps { kOne, kTop, kAll };

  struct Kept {
    float logit = 0.0f;  // by the scale, once prepared
    int32_t position = 0;
    float raw = 0.0f;  // the logit as it came
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

  absl::Span<const float> Scaled(absl::Span<const float> logits);
  void Offer(size_t first, absl::Span<const float> logits, TileMass mass);
  void AddTop(absl::Span<const float> logits);
  void CutTop();
  float BoundOfTop(absl::Span<const float> logits, size_t k);
  void SumTiles();
  void Filter();
  void Keep(float at_least);
  void KeepMass(double p);
  void KeepTypical(double p);
  double MassOfKept() const;

  Drawn DrawFromKept(double uniform) const;
  Drawn DrawFromAll(double uniform) const;
  bool IsInNucleus(size_t position);

  const SearchOptions* options_ = nullptr;
  uint64_t key_ = 0;
  Keeps keeps_ = Keeps::kAll;
  size_t size_ = 0;
  float scale_ = 1.0f;         // 1 / temperature
  std::vector<float> scaled_;  // logits by it
  float max_ = 0.0f;           // of all that can be drawn, by the scale
  double mass_ = 0.0;          // of all that were not filtered, relative to exp(max_)

  Drawn drawn_;          // kOne: of what has come so far
  uint64_t offers_ = 0;  // kOne: how many tiles have come

  float bound_ = 0.0f;      // kTop: what the next logits must be above
  std::vector<Kept> kept_;  // best first, if filtered

  std::vector<float> logits_;    // kAll: the row
  absl::Span<const float> row_;  // kAll: the row by the scale
  bool filtered_ = false;
  bool rejects_ = false;  // draws until a token is in the nucleus
  std::vector<Tile> tiles_;
  std::vector<double> masses_;  // of each tile, if not filtered

  std::vector<float> maxima_, better_;  // scratch
  std::vector<int32_t> above_;          // scratch
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_ROW_SAMPLER_H_
