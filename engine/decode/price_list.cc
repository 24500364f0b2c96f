#include "engine/decode/price_list.h"

namespace dragoman {

Pricing PriceList::Known(const std::string& model) const {
  absl::MutexLock lock(&mutex_);
  const auto found = models_.find(model);
  return found == models_.end() ? pricing_ : found->second;
}

// A token stands for up to kMostBytes bytes, and hardly ever for less than one.
CostRange PriceList::RangeOf(const std::string& model, const RoughSize& size) const {
  constexpr double kMostBytes = 16;
  const double steps_per_token = Known(model).length_ratio;
  const double bytes = static_cast<double>(size.bytes);
  const auto work = [&](double tokens, double ends) {
    return tokens + size.rows * (steps_per_token * tokens + ends);
  };
  const double least = bytes / kMostBytes + 1;
  return {.least_tokens = least,
          .least_work = work(least, 1),
          .most_work = work(bytes + size.texts, 2.0 * size.texts),
          .least_steps = static_cast<int>(steps_per_token * least / size.texts)};
}

void PriceList::Price(Job* job) {
  Pricing pricing;
  {
    absl::MutexLock lock(&mutex_);
    pricing = Of(job->model->name());
  }
  dragoman::Price(pricing, job);
}

void PriceList::Learn(const Job& job, int steps) {
  // Roughly the mean of the last few hundred sentences, weighted by their length.
  constexpr double kMemory = 5000;  // source tokens
  absl::MutexLock lock(&mutex_);
  double& ratio = Of(job.model->name()).length_ratio;
  const double tokens = job.cost.source_tokens;
  ratio += (steps - ratio * tokens) / (kMemory + tokens);
}

Pricing& PriceList::Of(const std::string& model) {
  return models_.emplace(model, pricing_).first->second;
}

}  // namespace dragoman
