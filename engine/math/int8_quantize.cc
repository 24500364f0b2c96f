#include "engine/math/int8_quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/math/int8_quantize.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every instruction set
// Highway's headers come after foreach_target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void QuantizeRow(const float* x, int n, int padded, uint8_t* values, float* scale, float* low) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  auto maxima = hn::Set(d, x[0]), minima = maxima;
  int i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    maxima = hn::Max(maxima, v), minima = hn::Min(minima, v);
  }
  float max = hn::GetLane(hn::MaxOfLanes(d, maxima));
  float min = hn::GetLane(hn::MinOfLanes(d, minima));
  for (; i < n; ++i) max = std::max(max, x[i]), min = std::min(min, x[i]);
  if (!(max - min <= std::numeric_limits<float>::max())) {
    *scale = *low = std::numeric_limits<float>::quiet_NaN();  // infinite: no scale fits
    std::fill_n(values, padded, uint8_t{0});
    return;
  }
  min += 0.0f;  // instruction sets differ in whether -0 or 0 is the less; now it is 0
  *low = min;
  *scale = (max - min) / 255.0f;
  const float inverse = max > min ? 255.0f / (max - min) : 0.0f;
  const auto inverses = hn::Set(d, inverse), lows = hn::Set(d, min);
  for (i = 0; i + lanes <= n; i += lanes) {
    const auto rounded = hn::NearestInt(hn::Mul(hn::Sub(hn::LoadU(d, x + i), lows), inverses));
    hn::StoreU(hn::DemoteTo(d8, rounded), d8, values + i);
  }
  for (; i < n; ++i) values[i] = static_cast<uint8_t>(std::lrint((x[i] - min) * inverse));
  for (; i < padded; ++i) values[i] = 0;
}

// As QuantizeWeights.
float QuantizeOutput(const float* weights, int n, float step, int8_t* values) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<int8_t, decltype(d)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  bool finite = true;
  auto maxima = hn::Zero(d);
  int i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, weights + i);
    finite = finite && hn::AllTrue(d, hn::IsFinite(v));
    maxima = hn::Max(maxima, hn::Abs(v));
  }
  float max = hn::GetLane(hn::MaxOfLanes(d, maxima));
  for (; i < n; ++i) {
    finite = finite && std::isfinite(weights[i]);
    max = std::max(max, std::abs(weights[i]));
  }
  if (!finite) return std::numeric_limits<float>::quiet_NaN();
  const bool has_step = step > 0.0f;
  const float inverse = max > 0.0f ? 127.0f / max : 0.0f;
  const auto largest = hn::Set(d, 127.0f);
  for (i = 0; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, weights + i);
    const auto scaled = has_step ? hn::Div(v, hn::Set(d, step)) : hn::Mul(v, hn::Set(d, inverse));
    const auto rounded = hn::NearestInt(hn::Clamp(scaled, hn::Neg(largest), largest));
    hn::StoreU(hn::DemoteTo(d8, rounded), d8, values + i);
  }
  for (; i < n; ++i) {
    const float scaled = has_step ? weights[i] / step : weights[i] * inverse;
    values[i] = static_cast<int8_t>(std::lrint(std::clamp(scaled, -127.0f, 127.0f)));
  }
  return has_step ? step : max / 127.0f;
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman {

HWY_EXPORT(QuantizeRow);
HWY_EXPORT(QuantizeOutput);

void QuantizedRows::Resize(int rows, int its_inputs) {
  inputs = its_inputs;
  values.Resize(rows, (inputs + 3) / 4 * 4);
  if (static_cast<int>(scales.size()) < rows) {
    scales.resize(rows);
    lows.resize(rows);
  }
}

void QuantizeRows(MatrixView<const float> x, int first, int end, QuantizedRows* rows) {
  DRAGOMAN_CHECK(rows->inputs == x.cols() && rows->values.rows() == x.rows());
  for (int r = first; r < end; ++r) {
    HWY_DYNAMIC_DISPATCH(QuantizeRow)
    (x.Row(r).data(), x.cols(), rows->values.cols(), rows->values.Row(r).data(), &rows->scales[r],
     &rows->lows[r]);
  }
}

float QuantizeWeights(absl::Span<const float> weights, float step, int8_t* values) {
  return HWY_DYNAMIC_DISPATCH(QuantizeOutput)(weights.data(), static_cast<int>(weights.size()),
                                              step, values);
}

}  // namespace dragoman
#endif  // HWY_ONCE
