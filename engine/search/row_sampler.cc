// A draw, by example.  Logits log 4, log 2, log 1, log 1 have the masses 4, 2, 1, 1, of 8 in total.
//
//   no filter      uniform 0.80 is the mass 6.4: beyond the first two (6), so it selects the third
//   top_k 2        masses 4, 2 of 6; 0.80 is 4.8: the second
//   top_p 0.6      4 of 8 is not yet 0.6, 4 + 2 is: the first two are kept
//   min_p 0.3      tokens with at least 0.3 of the most likely one's mass, 1.2: the first two
//
// Masses are exp(logit - the largest), so nothing overflows and nothing needs to be normalized.
//
// The example without a filter, in tiles of two that need not be kept: the first has the mass 6,
// and the draw is one of its tokens; the second adds a mass of 2, which makes 8, and takes over the
// draw with a probability of 2/8.

#include "engine/search/row_sampler.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "engine/base/elementary.h"
#include "engine/base/status.h"
#include "engine/math/kernels.h"

namespace dragoman {
namespace {

uint64_t SplitMix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// A number in [0, 1).
double Uniform(uint64_t key, uint64_t counter) {
  return static_cast<double>(RandomBits(key, counter) >> 11) * 0x1p-53;
}

// Which of the logits the mass `left` falls on, from the first one on.  What rounding has left over
// falls on the last one that can be drawn: -inf and NaN cannot.  REQUIRES: one can.
size_t PlaceOf(absl::Span<const float> logits, float max, double left) {
  size_t i = 0;
  for (const size_t chunk : {64, 8}) {
    for (; i + chunk < logits.size(); i += chunk) {
      const double mass = SumExp(logits.subspan(i, chunk), max);
      if (left < mass) break;
      left -= mass;
    }
  }
  for (; i < logits.size(); ++i) {
    if (!(logits[i] > -kInfinity)) continue;
    left -= ExpOf(static_cast<double>(logits[i]) - max);
    if (left < 0.0) return i;
  }
  while (i > 1 && !(logits[i - 1] > -kInfinity)) --i;
  return i - 1;
}

}  // namespace

uint64_t RandomBits(uint64_t key, uint64_t counter) { return SplitMix64(MixKey(key, counter)); }

uint64_t MixKey(uint64_t key, uint64_t value) { return SplitMix64(key ^ SplitMix64(value)); }

uint64_t MixKey(uint64_t key, absl::Span<const int32_t> values) {
  for (const int32_t value : values) key = MixKey(key, static_cast<uint64_t>(value));
  return MixKey(key, values.size());
}

void RowSampler::Start(const SearchOptions& options, int draws, uint64_t key) {
  options_ = &options;
  key_ = key;
  size_ = 0;
  scale_ = 1.0f / options.sampling_temperature;
  max_ = -kInfinity;
  mass_ = 0.0;
  filtered_ = options.sampling_top_k > 0 || options.sampling_top_p < 1.0f ||
              options.sampling_min_p > 0.0f || options.sampling_typical_p < 1.0f ||
              options.sampling_epsilon > 0.0f;
  rejects_ = options.sampling_top_k == 0 && options.sampling_top_p < 1.0f &&
             options.sampling_typical_p >= 1.0f && options.sampling_epsilon <= 0.0f;
  keeps_ = Keeps::kAll;
  if (options.sampling_top_k > 0) keeps_ = Keeps::kTop;
  if (!filtered_ && draws == 1) keeps_ = Keeps::kOne;
  offers_ = 0;
  bound_ = -kInfinity;
  kept_.clear();
  logits_.clear();
  tiles_.clear();
}

void RowSampler::Append(absl::Span<const float> logits, const TileMass& mass) {
  if (keeps_ == Keeps::kOne) {
    Offer(size_, logits, mass);
  } else if (keeps_ == Keeps::kTop) {
    AddTop(logits);
  } else {
    logits_.insert(logits_.end(), logits.begin(), logits.end());
    tiles_.push_back({logits_.size(), mass});
  }
  size_ += logits.size();
}

void RowSampler::Append(absl::Span<const float> logits) {
  const float max = MaxOf(logits);
  Append(logits, std::isfinite(max) ? TileMass{max, SumExp(logits, max)} : TileMass{});
}

void RowSampler::Set(size_t position, float logit) {
  if (!std::isfinite(logit)) return;
  if (keeps_ == Keeps::kOne) return Offer(position, {&logit, 1}, {logit, 1.0});
  if (keeps_ == Keeps::kTop) return kept_.push_back({logit, static_cast<int32_t>(position), logit});
  logits_[position] = logit;
  TileMass& mass = absl::c_upper_bound(tiles_, position, [](size_t place, const Tile& tile) {
                     return place < tile.end;
                   })->mass;
  if (mass.sum == 0.0 || logit > mass.max) {
    if (mass.sum > 0.0) mass.sum *= ExpOf(static_cast<double>(mass.max) - logit);
    mass.max = logit;
  }
  mass.sum += ExpOf(static_cast<double>(logit) - mass.max);
}

// The logits divided by the temperature.
absl::Span<const float> RowSampler::Scaled(absl::Span<const float> logits) {
  if (scale_ == 1.0f) return logits;
  scaled_.resize(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) scaled_[i] = logits[i] * scale_;
  return scaled_;
}

// Lets the logits that begin at that position take over the draw, with a probability that is their
// share of the mass.
void RowSampler::Offer(size_t first, absl::Span<const float> logits, TileMass mass) {
  if (mass.sum <= 0.0) return;
  const absl::Span<const float> scaled = Scaled(logits);
  if (scale_ != 1.0f) mass.sum = SumExp(scaled, mass.max *= scale_);
  if (mass.max > max_) {
    mass_ *= ExpOf(static_cast<double>(max_) - mass.max);
    max_ = mass.max;
  } else if (mass.max < max_) {
    mass.sum *= ExpOf(static_cast<double>(mass.max) - max_);
  }
  mass_ += mass.sum;
  const double falls_on = Uniform(key_, offers_++) * mass_;
  if (falls_on >= mass.sum) return;
  // Given that it is below, it is uniformly distributed there.
  const size_t place = PlaceOf(scaled, max_, falls_on);
  drawn_ = {first + place, logits[place]};
}

// Keeps those that may be among the k best of the row.
void RowSampler::AddTop(absl::Span<const float> logits) {
  const size_t k = static_cast<size_t>(options_->sampling_top_k);
  const bool is_first = kept_.empty();
  if (is_first) bound_ = std::nextafter(BoundOfTop(logits, k), -kInfinity);
  if (above_.size() < logits.size()) above_.resize(logits.size());
  const int above = IndicesAbove(logits, bound_, above_.data());
  for (int i = 0; i < above; ++i) {
    const float logit = logits[above_[i]];
    kept_.push_back({logit, static_cast<int32_t>(size_) + above_[i], logit});
  }
  if (kept_.size() > (is_first ? k : 2 * k)) CutTop();
}

// Keeps the k best of what is kept; of equal ones those of lower positions.
void RowSampler::CutTop() {
  const size_t k = static_cast<size_t>(options_->sampling_top_k);
  if (kept_.size() <= k) return;
  std::nth_element(kept_.begin(), kept_.begin() + (k - 1), kept_.end(), BestFirst);
  kept_.resize(k);
  bound_ = kept_.back().logit;
}

// A lower bound of the k best logits: the k-th largest of the maxima of chunks.  (Each of the k
// chunks with the largest maxima has a logit that large.)
float RowSampler::BoundOfTop(absl::Span<const float> logits, size_t k) {
  const size_t chunk = std::clamp(logits.size() / (2 * k), size_t{8}, kChunk);
  maxima_.clear();
  for (size_t begin = 0; begin < logits.size(); begin += chunk) {
    maxima_.push_back(MaxOf(logits.subspan(begin, chunk)));
  }
  if (k > maxima_.size()) return -kInfinity;
  std::nth_element(maxima_.begin(), maxima_.begin() + (k - 1), maxima_.end(), std::greater<>());
  return maxima_[k - 1];
}

// The masses of all tiles, relative to the largest logit.
void RowSampler::SumTiles() {
  masses_.clear();
  mass_ = 0.0;
  size_t begin = 0;
  for (const Tile& tile : tiles_) {
    double mass = 0.0;
    if (scale_ != 1.0f) {
      mass = SumExp(row_.subspan(begin, tile.end - begin), max_);
    } else if (tile.mass.sum > 0.0) {
      mass = tile.mass.sum * ExpOf(static_cast<double>(tile.mass.max) - max_);
    }
    begin = tile.end;
    masses_.push_back(mass);
    mass_ += mass;
  }
}

bool RowSampler::Prepare() {
  if (keeps_ == Keeps::kOne) return mass_ > 0.0;
  if (keeps_ == Keeps::kTop) {
    CutTop();
    for (Kept& kept : kept_) kept.logit = kept.raw * scale_;
    absl::c_sort(kept_, BestFirst);
    max_ = kept_.empty() ? -kInfinity : kept_.front().logit;
  } else {
    row_ = Scaled(logits_);
    max_ = MaxOf(row_);
  }
  if (!std::isfinite(max_)) return false;
  if (filtered_ && !rejects_) {
    Filter();
  } else {
    SumTiles();
  }
  return true;
}

void RowSampler::Filter() {
  const SearchOptions& options = *options_;
  const float least = options.sampling_min_p > 0.0f
                          ? max_ + static_cast<float>(LogOf(options.sampling_min_p))
                          : -kInfinity;
  if (options.sampling_top_p < 1.0f) {
    KeepMass(options.sampling_top_p);
  } else if (kept_.empty()) {
    Keep(least);
  }
  // The rest keeps a beginning of what is sorted, and never nothing.
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
      return ExpOf(static_cast<double>(logit) - max_) >= options.sampling_epsilon * mass;
    });
  }
}

// Keeps the finite logits that reach the bound, sorted; ties go to the lower position.
void RowSampler::Keep(float at_least) {
  kept_.clear();
  if (above_.size() < row_.size()) above_.resize(row_.size());
  const int above = IndicesAbove(row_, std::nextafter(at_least, -kInfinity), above_.data());
  for (int i = 0; i < above; ++i) {
    kept_.push_back({row_[above_[i]], above_[i], logits_[above_[i]]});
  }
  absl::c_sort(kept_, BestFirst);
}

// Keeps the fewest of the best that have the share p of the mass: of what is kept already, or of
// the whole row if nothing is.
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
    sum += ExpOf(static_cast<double>(kept_[count++].logit) - max_);
  }
  kept_.resize(std::max<size_t>(1, count));
}

// Of the tokens kept so far, keeps the smallest number that have the share p of the mass, taking
// first those whose surprise is closest to the expected one ("Locally Typical Sampling", Meister et
// al. 2023).
void RowSampler::KeepTypical(double p) {
  const double all = MassOfKept();
  const auto surprise = [&](const Kept& kept) {
    return LogOf(all) + max_ - static_cast<double>(kept.logit);
  };
  double expected = 0.0;
  for (const Kept& kept : kept_) expected += ExpOf(-surprise(kept)) * surprise(kept);
  absl::c_stable_sort(kept_, [&](const Kept& a, const Kept& b) {
    return std::abs(surprise(a) - expected) < std::abs(surprise(b) - expected);
  });
  double sum = 0.0;
  size_t count = 0;
  while (count < kept_.size() && sum < p) sum += ExpOf(-surprise(kept_[count++]));
  kept_.resize(std::max<size_t>(1, count));
  absl::c_sort(kept_, BestFirst);
}

double RowSampler::MassOfKept() const {
  double mass = 0.0;
  for (const Kept& kept : kept_) mass += ExpOf(static_cast<double>(kept.logit) - max_);
  return mass;
}

RowSampler::Drawn RowSampler::Draw(int draw) {
  if (keeps_ == Keeps::kOne) return drawn_;
  if (rejects_) {
    constexpr int kTries = 16;
    for (int i = 0; i < kTries; ++i) {
      const Drawn drawn = DrawFromAll(Uniform(MixKey(key_, draw), i));
      if (IsInNucleus(drawn.position)) return drawn;
    }
    if (kept_.empty()) Filter();  // it is small: sort
    return DrawFromKept(Uniform(key_, draw));
  }
  return filtered_ ? DrawFromKept(Uniform(key_, draw)) : DrawFromAll(Uniform(key_, draw));
}

RowSampler::Drawn RowSampler::DrawFromKept(double uniform) const {
  double left = uniform * MassOfKept();
  for (const Kept& kept : kept_) {
    left -= ExpOf(static_cast<double>(kept.logit) - max_);
    if (left < 0.0) return {static_cast<size_t>(kept.position), kept.raw};
  }
  return {static_cast<size_t>(kept_.back().position), kept_.back().raw};
}

RowSampler::Drawn RowSampler::DrawFromAll(double uniform) const {
  double left = uniform * mass_;
  size_t tile = 0, last = 0;
  for (; tile < masses_.size() && left >= masses_[tile]; ++tile) {
    left -= masses_[tile];
    if (masses_[tile] > 0.0) last = tile;
  }
  if (tile == masses_.size()) tile = last;  // rounding has left something over
  const size_t begin = tile == 0 ? 0 : tiles_[tile - 1].end;
  const size_t position =
      begin + PlaceOf(row_.subspan(begin, tiles_[tile].end - begin), max_, left);
  return {position, logits_[position]};
}

// Whether top-p and min-p keep it: whether those that come before it have less than the share.
bool RowSampler::IsInNucleus(size_t position) {
  const float logit = row_[position];
  if (options_->sampling_min_p > 0.0f &&
      logit < max_ + static_cast<float>(LogOf(options_->sampling_min_p))) {
    return false;
  }
  if (above_.size() < row_.size()) above_.resize(row_.size());
  const int above = IndicesAbove(row_, logit, above_.data());
  better_.resize(above);
  for (int i = 0; i < above; ++i) better_[i] = row_[above_[i]];
  const auto equal = std::count(row_.begin(), row_.begin() + position, logit);
  const double before =
      SumExp(better_, max_) + static_cast<double>(equal) * ExpOf(static_cast<double>(logit) - max_);
  return (above == 0 && equal == 0) || before < options_->sampling_top_p * mass_;
}

}  // namespace dragoman
