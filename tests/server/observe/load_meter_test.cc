#include "server/observe/load_meter.h"

#include <gtest/gtest.h>

#include "xds/data/orca/v3/orca_load_report.pb.h"

namespace dragoman {
namespace {

using xds::data::orca::v3::OrcaLoadReport;

constexpr absl::Time kFirstLook = absl::FromUnixSeconds(1'000);

OrcaLoadReport ReportOf(const LoadMeter& meter) {
  OrcaLoadReport report;
  EXPECT_TRUE(report.ParseFromString(meter.report()));
  return report;
}

// A meter of two workers on four cores after a minute with these sums for each second.
OrcaLoadReport AfterAMinuteOf(const LoadTotals& each, absl::Duration oldest_wait = {}) {
  LoadMeter meter(2, 4);
  for (int i = 0; i <= 60; ++i) {
    meter.Look(kFirstLook + absl::Seconds(i), {.totals = {.busy_seconds = i * each.busy_seconds,
                                                          .cpu_seconds = i * each.cpu_seconds,
                                                          .rows = i * each.rows,
                                                          .calls = i * each.calls,
                                                          .errors = i * each.errors},
                                               .memory = 0.25,
                                               .oldest_wait = oldest_wait});
  }
  return ReportOf(meter);
}

TEST(LoadMeter, HasNoReportBeforeItCanCompare) {
  LoadMeter meter(2, 4);
  EXPECT_EQ(meter.report(), "");
  meter.Look(kFirstLook, {.totals = {.busy_seconds = 100}});
  EXPECT_EQ(meter.report(), "");
}

TEST(LoadMeter, ReportsSharesAndRates) {
  const OrcaLoadReport report =
      AfterAMinuteOf({.busy_seconds = 1, .cpu_seconds = 3, .rows = 1000, .calls = 20, .errors = 4});
  EXPECT_NEAR(report.application_utilization(), 0.5, 1e-4);
  EXPECT_NEAR(report.cpu_utilization(), 0.75, 1e-4);
  EXPECT_NEAR(report.mem_utilization(), 0.25, 1e-4);
  EXPECT_NEAR(report.rps_fractional(), 1000, 1);
  EXPECT_NEAR(report.eps(), 200, 1);  // a fifth
}

TEST(LoadMeter, TheLongerRequestsWaitTheHigherIsTheLoadOfBusyServers) {
  EXPECT_NEAR(AfterAMinuteOf({.busy_seconds = 2}).application_utilization(), 1, 1e-4);
  EXPECT_NEAR(
      AfterAMinuteOf({.busy_seconds = 2}, absl::Milliseconds(300)).application_utilization(), 1.3,
      1e-4);
}

TEST(LoadMeter, ASecondOfWorkIsNotYetALoad) {
  LoadMeter meter(2, 4);
  meter.Look(kFirstLook, {});
  meter.Look(kFirstLook + absl::Seconds(1), {.totals = {.busy_seconds = 2}});
  EXPECT_LT(ReportOf(meter).application_utilization(), 0.2);
}

}  // namespace
}  // namespace dragoman
