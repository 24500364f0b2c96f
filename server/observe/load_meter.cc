#include "server/observe/load_meter.h"

#include <algorithm>
#include <cmath>

#include "xds/data/orca/v3/orca_load_report.pb.h"

namespace dragoman {
namespace {

// After this long a change counts for two thirds.
constexpr double kSmoothSeconds = 5;

}  // namespace

void LoadMeter::Look(absl::Time now, const LoadSample& sample) {
  absl::MutexLock lock(&mutex_);
  const double seconds = absl::ToDoubleSeconds(now - looked_);
  if (seconds <= 0) return;
  const LoadTotals before = totals_;
  const bool first = looked_ == absl::InfinitePast();
  looked_ = now;
  totals_ = sample.totals;
  if (first) return;
  const double weight = 1 - std::exp(-seconds / kSmoothSeconds);
  const auto smooth = [&](double more, double most, double* rate) {
    *rate += weight * (std::max(0.0, more) / seconds / most - *rate);
  };
  smooth(totals_.busy_seconds - before.busy_seconds, workers_, &busy_);
  smooth(totals_.cpu_seconds - before.cpu_seconds, cores_, &cpu_);
  smooth(static_cast<double>(totals_.rows - before.rows), 1, &rows_);
  smooth(static_cast<double>(totals_.calls - before.calls), 1, &calls_);
  smooth(static_cast<double>(totals_.errors - before.errors), 1, &errors_);
  xds::data::orca::v3::OrcaLoadReport report;
  report.set_cpu_utilization(std::min(cpu_, 1.0));
  report.set_mem_utilization(std::clamp(sample.memory, 0.0, 1.0));
  report.set_rps_fractional(rows_);
  report.set_eps(calls_ > 0 ? errors_ / calls_ * rows_ : 0);
  report.set_application_utilization(std::min(busy_, 1.0) +
                                     absl::ToDoubleSeconds(sample.oldest_wait));
  report_ = report.SerializeAsString();
}

std::string LoadMeter::report() const {
  absl::MutexLock lock(&mutex_);
  return report_;
}

}  // namespace dragoman
