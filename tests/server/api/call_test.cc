#include "server/api/call.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

// Load reports are for balancers of gRPC; making one costs every call.
TEST(Call, OnlyOverGrpcItsEndTellsTheLoad) {
  Gate gate;
  Metrics metrics(1);
  LoadMeter meter(1, 1);
  for (const int second : {1, 2}) {
    meter.Look(absl::FromUnixSeconds(second), {.totals = {.busy_seconds = 1.0 * second}});
  }
  ASSERT_FALSE(meter.report().empty());
  const v1::ServerConfig config;
  const ServerParts parts = {.gate = &gate, .load = &meter, .metrics = &metrics, .config = &config};
  Call over_grpc(&parts, "Translate", {});
  EXPECT_EQ(over_grpc.End(absl::InternalError("")).load, meter.report());
  Call over_http(&parts, "Translate", {.http_method = "POST", .http_route = "/v1/translate"});
  EXPECT_EQ(over_http.End(absl::InternalError("")).load, "");
}

}  // namespace
}  // namespace dragoman
