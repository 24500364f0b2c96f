// What the sentences of each model cost.  That depends on how long translations are, which is
// learned from finished ones.
//
// Thread-safe.

#ifndef DRAGOMAN_ENGINE_DECODE_PRICE_LIST_H_
#define DRAGOMAN_ENGINE_DECODE_PRICE_LIST_H_

#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "engine/decode/job.h"
#include "engine/decode/scheduler.h"

namespace dragoman {

class PriceList {
 public:
  // `pricing` is what every model begins with.
  explicit PriceList(const Pricing& pricing) : pricing_(pricing) {}

  // Computes the job's cost.
  void Price(Job* job);

  // What a request of that size costs at the least and at the most.
  CostRange RangeOf(const std::string& model, const RoughSize& size) const;

  // A job ended successfully after this many steps.
  void Learn(const Job& job, int steps);

 private:
  Pricing Known(const std::string& model) const;
  Pricing& Of(const std::string& model) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Pricing pricing_;
  mutable absl::Mutex mutex_;
  std::map<std::string, Pricing> models_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_PRICE_LIST_H_
