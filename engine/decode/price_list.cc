#include "engine/decode/price_list.h"

namespace dragoman {

// A token stands for up to kMostBytes bytes, and hardly ever for less than one.
CostRange PriceList::RangeOf(const std::string& model, const RoughSize& size) {
  constexpr double kMostBytes = 16;
  absl::MutexLock lock(&mutex_);
  const Prices& prices = models_[model];
  const double bytes = static_cast<double>(size.bytes);
  const auto range = [&](double tokens, double ends) {
    const double rows = size.rows * (prices.length_ratio * tokens + ends);
    return CostRange::Cost{
        .work = tokens + rows,
        .seconds = prices.times.encode.Of(tokens, 0) + prices.times.step.Of(rows, 0)};
  };
  const double least = bytes / kMostBytes + 1;
  return {.least_tokens = least,
          .least = range(least, 1),
          .most = range(bytes + size.texts, 2.0 * size.texts),
          .least_steps = static_cast<int>(prices.length_ratio * least / size.texts),
          .most_short = Flow::kShortRows * prices.times.step.unit()};
}

void PriceList::Price(Job* job) {
  double length_ratio = 0;
  WorkTimes* times = nullptr;
  {
    absl::MutexLock lock(&mutex_);
    Prices& prices = models_[job->model->name()];
    length_ratio = prices.length_ratio;
    times = &prices.times;
  }
  dragoman::Price(length_ratio, times, job);
}

void PriceList::Learn(const Job& job, int steps) {
  // Roughly the mean of the last few hundred sentences, weighted by their length.
  constexpr double kMemory = 5000;  // source tokens
  absl::MutexLock lock(&mutex_);
  double& ratio = models_[job.model->name()].length_ratio;
  const double tokens = job.cost.source_tokens;
  ratio += (steps - ratio * tokens) / (kMemory + tokens);
}

}  // namespace dragoman
