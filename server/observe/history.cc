#include "server/observe/history.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/base/json.h"

namespace dragoman {
namespace {

double Seconds(absl::Time time) { return absl::ToDoubleSeconds(time - absl::UnixEpoch()); }

// Most values are whole numbers, which are shorter without a point.
nlohmann::ordered_json Number(double value) {
  constexpr double kExact = 1LL << 53;
  if (std::abs(value) < kExact && value == std::floor(value)) return static_cast<int64_t>(value);
  return value;
}

// The moments from `first` to before `last` of a ring.
nlohmann::ordered_json InOrder(const std::vector<double>& ring, size_t first, size_t last) {
  auto values = nlohmann::ordered_json::array();
  for (size_t i = first; i < last; ++i) values.push_back(Number(ring[i % ring.size()]));
  return values;
}

}  // namespace

bool History::Due(absl::Time now) const {
  absl::MutexLock lock(&mutex_);
  return now >= last_ + interval_ || now < last_;  // the clock was set back
}

void History::Add(absl::Time now, const MetricSamples& samples) {
  absl::MutexLock lock(&mutex_);
  const size_t place = added_ % moments_;
  last_ = now;
  times_[place] = Seconds(now);
  for (auto& [key, column] : columns_) column[place] = 0;
  for (const auto& [key, value] : samples) {
    if (value == 0) continue;
    columns_.try_emplace(key, moments_, 0.0).first->second[place] = value;
  }
  ++added_;
}

std::string History::Json(absl::Time now) const {
  absl::MutexLock lock(&mutex_);
  const size_t first = added_ - std::min(added_, moments_);
  nlohmann::ordered_json json = {{"now", Number(Seconds(now))},
                                 {"times", InOrder(times_, first, added_)},
                                 {"series", nlohmann::ordered_json::array()}};
  for (const auto& [key, column] : columns_) {
    json["series"].push_back(
        {{"name", key.name}, {"labels", key.labels}, {"values", InOrder(column, first, added_)}});
  }
  return WriteJson(json);
}

}  // namespace dragoman
