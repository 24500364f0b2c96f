// A draw, by example.  Logits log 4, log 2, log 1, log 1 have the masses 4, 2, 1, 1, of 8 in total.
//
//   no filter      uniform 0.80 is the mass 6.4: beyond the first two (6), so it selects the third
//   top_k 2        masses 4, 2 of 6; 0.80 is 4.8: the second
//   top_p 0.6      4 of 8 is not yet 0.6, 4 + 2 is: the first two are kept
//   min_p 0.3      tokens with at least 0.3 of the most likely one's mass, 1.2: the first two
//
// Masses are exp(logit - the largest), so nothing overflows and nothing needs to be normalized.

#include "engine/search/row_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/status.h"
#include "engine/math/kernels.h"

namespace dragoman {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

uint64_t SplitMix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

uint64_t RandomBits(uint64_t key, uint64_t counter) { return SplitMix64(MixKey(key, counter)); }

uint64_t MixKey(uint64_t key, uint64_t value) { return SplitMix64(key ^ SplitMix64(value)); }

uint64_t MixKey(uint64_t key, absl::Span<const int32_t> values) {
  for (const int32_t value : values) key = MixKey(key, static_cast<uint64_t>(value));
  return MixKey(key, values.size());
}

void RowSampler::Clear() {
  logits_.clear();
  tiles_.clear();
}

void RowSampler::Append(absl::Span<const float> logits, const TileMass& mass) {
  logits_.insert(logits_.end(), logits.begin(), logits.end());
  tiles_.push_back({logits_.size(), mass});
}

void RowSampler::Append(absl::Span<const float> logits) {
  const float max = MaxOf(logits);
  Append(logits, std::isfinite(max) ? TileMass{max, SumExp(logits, max)} : TileMass{});
}

void RowSampler::Set(size_t position, float logit) {
  logits_[position] = logit;
  if (!std::isfinite(logit)) return;
  TileMass& mass =
      std::upper_bound(tiles_.begin(), tiles_.end(), position, [](size_t place, const Tile& tile) {
        return place < tile.end;
      })->mass;
  if (mass.sum == 0.0 || logit > mass.max) {
    if (mass.sum > 0.0) mass.sum *= std::exp(static_cast<double>(mass.max) - logit);
    mass.max = logit;
  }
  mass.sum += std::exp(static_cast<double>(logit) - mass.max);
}

// Computes the masses of all tiles, relative to the largest logit.
void RowSampler::SumTiles(bool scaled) {
  masses_.clear();
  mass_ = 0.0;
  size_t begin = 0;
  for (const Tile& tile : tiles_) {
    double mass = 0.0;
    if (scaled) {
      mass = SumExp(row_.subspan(begin, tile.end - begin), max_);
    } else if (tile.mass.sum > 0.0) {
      mass = tile.mass.sum * std::exp(static_cast<double>(tile.mass.max) - max_);
    }
    begin = tile.end;
    masses_.push_back(mass);
    mass_ += mass;
  }
}

bool RowSampler::Prepare(const SearchOptions& options) {
  row_ = logits_;
  if (options.sampling_temperature != 1.0f) {
    const float scale = 1.0f / options.sampling_temperature;
    scaled_.resize(logits_.size());
    for (size_t i = 0; i < logits_.size(); ++i) scaled_[i] = logits_[i] * scale;
    row_ = scaled_;
  }
  max_ = MaxOf(row_);
  if (!std::isfinite(max_)) return false;
  const bool by_rank = options.sampling_top_k > 0 || options.sampling_top_p < 1.0f;
  filtered_ = by_rank || options.sampling_min_p > 0.0f || options.sampling_typical_p < 1.0f ||
              options.sampling_epsilon > 0.0f;
  if (!filtered_) {
    SumTiles(options.sampling_temperature != 1.0f);
    return true;
  }
  const float least =
      options.sampling_min_p > 0.0f ? max_ + std::log(options.sampling_min_p) : -kInfinity;
  kept_.clear();
  if (options.sampling_top_k > 0) {
    KeepTop(options.sampling_top_k);
  } else if (options.sampling_top_p >= 1.0f) {
    Keep(least);
  }
  if (options.sampling_top_p < 1.0f) KeepMass(options.sampling_top_p);
  // The remaining filters keep a non-empty prefix of the sorted tokens.
  const auto keep_while = [this](auto likely) {
    size_t count = 1;
    while (count < kept_.size() && likely(kept_[count].logit)) ++count;
    kept_.resize(count);
  };
  keep_while([&](float logit) { return logit >= least; });
  if (options.sampling_typical_p < 1.0f) KeepTypical(options.sampling_typical_p);
  if (options.sampling_epsilon > 0.0f) {
    const double mass = MassOfKept();
    keep_while([&](float logit) {
      return std::exp(static_cast<double>(logit) - max_) >= options.sampling_epsilon * mass;
    });
  }
  mass_ = MassOfKept();
  return true;
}

// A bound that the k best logits reach: the k-th largest of the chunks' maxima.
float RowSampler::BoundOfTop(size_t k) {
  maxima_.clear();
  for (size_t begin = 0; begin < row_.size(); begin += kChunk) {
    maxima_.push_back(MaxOf(row_.subspan(begin, kChunk)));
  }
  if (k > maxima_.size()) return -kInfinity;
  std::nth_element(maxima_.begin(), maxima_.begin() + (k - 1), maxima_.end(), std::greater<>());
  return maxima_[k - 1];
}

// Keeps the finite logits that reach the bound, sorted; ties go to the lower position.
void RowSampler::Keep(float at_least) {
  kept_.clear();
  if (above_.size() < row_.size()) above_.resize(row_.size());
  const int above = IndicesAbove(row_, std::nextafter(at_least, -kInfinity), above_.data());
  for (int i = 0; i < above; ++i) kept_.push_back({row_[above_[i]], above_[i]});
  std::sort(kept_.begin(), kept_.end(), BestFirst);
}

void RowSampler::KeepTop(size_t k) {
  Keep(BoundOfTop(k));
  if (kept_.size() > k) kept_.resize(k);
}

// Keeps the smallest number of the best that have the share p of the mass: of the tokens kept so
// far, or of the whole row if there are none.
void RowSampler::KeepMass(double p) {
  const bool of_kept = !kept_.empty();
  double all = 0.0;
  if (of_kept) {
    all = MassOfKept();
  } else {
    for (size_t begin = 0; begin < row_.size(); begin += kChunk) {
      all += SumExp(row_.subspan(begin, kChunk), max_);
    }
    // Tokens below a bound are sorted only if those above it do not have enough mass.
    for (const float below : {4.0f, 8.0f, 16.0f, kInfinity}) {
      Keep(max_ - below);
      if (below == kInfinity || MassOfKept() > p * all * (1.0 + 1e-6)) break;
    }
  }
  double sum = 0.0;
  size_t count = 0;
  while (count < kept_.size() && sum < p * all) {
    sum += std::exp(static_cast<double>(kept_[count++].logit) - max_);
  }
  kept_.resize(std::max<size_t>(1, count));
}

// Of the tokens kept so far, keeps the smallest number that have the share p of the mass, taking
// first those whose surprise is closest to the expected one ("Locally Typical Sampling", Meister et
// al. 2023).
void RowSampler::KeepTypical(double p) {
  const double all = MassOfKept();
  const auto surprise = [&](const Kept& kept) {
    return std::log(all) + max_ - static_cast<double>(kept.logit);
  };
  double expected = 0.0;
  for (const Kept& kept : kept_) expected += std::exp(-surprise(kept)) * surprise(kept);
  std::stable_sort(kept_.begin(), kept_.end(), [&](const Kept& a, const Kept& b) {
    return std::abs(surprise(a) - expected) < std::abs(surprise(b) - expected);
  });
  double sum = 0.0;
  size_t count = 0;
  while (count < kept_.size() && sum < p) sum += std::exp(-surprise(kept_[count++]));
  kept_.resize(std::max<size_t>(1, count));
  std::sort(kept_.begin(), kept_.end(), BestFirst);
}

double RowSampler::MassOfKept() const {
  double mass = 0.0;
  for (const Kept& kept : kept_) mass += std::exp(static_cast<double>(kept.logit) - max_);
  return mass;
}

size_t RowSampler::Draw(double uniform) const {
  double left = uniform * mass_;
  if (filtered_) {
    for (const Kept& kept : kept_) {
      left -= std::exp(static_cast<double>(kept.logit) - max_);
      if (left < 0.0) return kept.position;
    }
    return kept_.back().position;
  }
  size_t tile = 0;
  while (tile + 1 < masses_.size() && left >= masses_[tile]) left -= masses_[tile++];
  size_t begin = tile == 0 ? 0 : tiles_[tile - 1].end;
  for (; begin + kChunk < tiles_[tile].end; begin += kChunk) {
    const double mass = SumExp(row_.subspan(begin, kChunk), max_);
    if (left < mass) break;
    left -= mass;
  }
  // A remainder from rounding goes to the last token that can be drawn.
  size_t last = 0;
  for (size_t i = begin; i < row_.size(); ++i) {
    if (!(row_[i] > -kInfinity)) continue;
    last = i;
    left -= std::exp(static_cast<double>(row_[i]) - max_);
    if (left < 0.0) return i;
  }
  if (row_[last] > -kInfinity) return last;
  return std::max_element(row_.begin(), row_.end()) - row_.begin();
}

}  // namespace dragoman
