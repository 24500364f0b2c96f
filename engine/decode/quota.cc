// A bucket, by example. 6,000 rows a minute, burst 6,000: it fills by 100 rows a second.
//
//   12:00:00   full: 6,000.  A document that costs 9,000 is admitted: -3,000
//   12:00:10   -2,000.  The next request is refused: retry in 20 s
//   12:00:31   100.  A request is admitted

#include "engine/decode/quota.h"

#include <algorithm>
#include <utility>

#include "engine/base/limit.h"
#include "engine/base/status.h"
#include "engine/decode/work_text.h"

namespace dragoman {
namespace {

// How long it takes to earn this much.
absl::Duration TimeFor(double work, const Quota& quota) {
  return absl::Minutes(work / quota.per_minute);
}

}  // namespace

absl::Status QuotaBook::Check(const std::string& principal, const Quota& quota, absl::Time now) {
  if (quota.per_minute <= 0) return absl::OkStatus();
  const Bucket& bucket = Fill(principal, quota, now);
  if (bucket.level > 0) return absl::OkStatus();
  absl::Status used_up = OverLimit(ResourceExhaustedError("your quota for a minute is used up: ",
                                                          DescribeWork(quota.per_minute)),
                                   "quota_per_minute");
  return RetryAfter(std::move(used_up),
                    std::max(absl::Milliseconds(1), TimeFor(1 - bucket.level, quota)));
}

void QuotaBook::Spend(const std::string& principal, const Quota& quota, double work,
                      absl::Time now) {
  if (quota.per_minute <= 0) return;
  Bucket& bucket = Fill(principal, quota, now);
  bucket.level -= work;
  bucket.full = now + TimeFor(quota.Size() - bucket.level, quota);
}

void QuotaBook::Return(const std::string& principal, const Quota& quota, double work,
                       absl::Time now) {
  Spend(principal, quota, -work, now);
}

double QuotaBook::Left(const std::string& principal, const Quota& quota, absl::Time now) const {
  const auto found = buckets_.find(principal);
  return found == buckets_.end() ? quota.Size() : LevelAt(found->second, quota, now);
}

double QuotaBook::LevelAt(const Bucket& bucket, const Quota& quota, absl::Time now) {
  const double minutes = absl::FDivDuration(now - bucket.since, absl::Minutes(1));
  return std::min(quota.Size(), bucket.level + std::max(0.0, minutes) * quota.per_minute);
}

QuotaBook::Bucket& QuotaBook::Fill(const std::string& principal, const Quota& quota,
                                   absl::Time now) {
  if (buckets_.size() >= forget_at_) {
    std::erase_if(buckets_, [now](const auto& entry) { return entry.second.full <= now; });
    forget_at_ = std::max<size_t>(1024, 2 * buckets_.size());
  }
  const auto [found, fresh] = buckets_.try_emplace(principal);
  Bucket& bucket = found->second;
  if (fresh) bucket = {.level = quota.Size(), .since = now, .full = now};
  bucket.level = LevelAt(bucket, quota, now);
  bucket.since = std::max(bucket.since, now);
  return bucket;
}

}  // namespace dragoman
