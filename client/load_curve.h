// How a server's answers change as its load grows: the reports of one `dragoman load --sweep` as a
// picture, as CSV and as JSON.

#ifndef DRAGOMAN_CLIENT_LOAD_CURVE_H_
#define DRAGOMAN_CLIENT_LOAD_CURVE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/json.h"
#include "client/load_generator.h"

namespace dragoman {

struct LoadPoint {
  double rate = 0.0;  // offered requests per second
  LoadReport report;
};

// The rates of a sweep: "20,50,100", or "20:100:5" for five rates from 20 to 100.  INVALID_ARGUMENT
// unless they are positive and ascending.
absl::StatusOr<std::vector<double>> ParseRates(const std::string& text);

// A header, and a row for each point.
std::string ToCsv(const std::vector<LoadPoint>& points);

Json ToJson(const std::vector<LoadPoint>& points);

// Two charts over the offered load: good answers per second, and p50 and p99 on a logarithmic axis.
// REQUIRES: points is not empty and its rates ascend.
std::string ToSvg(const std::vector<LoadPoint>& points, absl::Duration objective);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_LOAD_CURVE_H_
