// How much work a principal may ask for over time: a token bucket of rows of work that fills at a
// steady rate.  A request is admitted if the bucket is not empty, and takes out what it is expected
// to cost, even if that is more: the next request waits for the debt.  So a quota holds over any
// minute, give or take one request, and no request is too large for it.  No clock: time is an
// argument.

#ifndef DRAGOMAN_ENGINE_DECODE_QUOTA_H_
#define DRAGOMAN_ENGINE_DECODE_QUOTA_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace dragoman {

// Rows of work (JobCost).
struct Quota {
  double per_minute = 0;  // 0: unlimited
  double burst = 0;       // what may be asked for at once after a pause; 0: as much as in a minute

  // How much the bucket holds.
  double Size() const { return burst > 0 ? burst : per_minute; }

  bool operator==(const Quota&) const = default;
};

class QuotaBook {
 public:
  // RESOURCE_EXHAUSTED while the principal's bucket is empty, with the time to wait (RetryAfterOf).
  absl::Status Check(const std::string& principal, const Quota& quota, absl::Time now);
  // Takes this much out of it.
  void Spend(const std::string& principal, const Quota& quota, double work, absl::Time now);
  // Puts this much back: the request will not be served.
  void Return(const std::string& principal, const Quota& quota, double work, absl::Time now);

  // What is in it; negative: a debt.  REQUIRES: the quota is not unlimited.
  double Left(const std::string& principal, const Quota& quota, absl::Time now) const;

  size_t size() const { return buckets_.size(); }

 private:
  struct Bucket {
    double level = 0;
    absl::Time since;
    absl::Time full;  // when it will be full, and can be forgotten
  };
  static double LevelAt(const Bucket& bucket, const Quota& quota, absl::Time now);
  Bucket& Fill(const std::string& principal, const Quota& quota, absl::Time now);

  std::map<std::string, Bucket> buckets_;
  size_t forget_at_ = 1024;  // buckets
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_QUOTA_H_
