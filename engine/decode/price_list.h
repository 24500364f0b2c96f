// What the sentences of each model cost.  That depends on how long translations are and on how fast
// the machine is, which are learned from earlier sentences.
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
  // Computes the job's cost, which refers to this object.
  void Price(Job* job);

  // What a request of that size costs at the least and at the most.
  CostRange RangeOf(const std::string& model, const RoughSize& size);

  // A job ended successfully after this many steps.
  void Learn(const Job& job, int steps);

 private:
  struct Prices {
    double length_ratio = 1.25;  // expected steps per source token
    WorkTimes times;
  };

  absl::Mutex mutex_;
  std::map<std::string, Prices> models_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_PRICE_LIST_H_
