#include "client/load_curve.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

// One chart of the picture: its position, and the ranges of its axes.
struct Chart {
  double left = 70, width = 520;
  double top = 0, height = 200;
  double x_max = 1;
  double y_min = 0, y_max = 1;  // of log10 of the value if `logarithmic`
  bool logarithmic = false;

  double X(double value) const { return left + width * value / x_max; }
  double Y(double value) const {
    const double y = logarithmic ? std::log10(std::max(value, 1e-9)) : value;
    return top + height * (1 - std::clamp((y - y_min) / (y_max - y_min), 0.0, 1.0));
  }
};

// A round number that fits four to nine times on the axis.
double TickOf(double most) {
  const double power = std::pow(10, std::floor(std::log10(most)));
  for (const double step : {0.1, 0.2, 0.25, 0.5}) {
    if (most / (step * power) < 10) return step * power;
  }
  return power;
}

void AddText(double x, double y, const char* anchor, const std::string& text, std::string* svg) {
  absl::StrAppendFormat(svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y,
                        anchor, text);
}

void AddLine(double x1, double y1, double x2, double y2, const char* style, std::string* svg) {
  absl::StrAppendFormat(svg, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1,
                        x2, y2, style);
}

constexpr char kGrid[] = "stroke=\"#ccc\"";

void AddAxes(const Chart& chart, const std::string& title, std::string* svg) {
  AddText(chart.left, chart.top - 10, "start", title, svg);
  const double bottom = chart.top + chart.height;
  const double x_tick = TickOf(chart.x_max);
  for (double x = 0; x <= chart.x_max * 1.0001; x += x_tick) {
    AddLine(chart.X(x), chart.top, chart.X(x), bottom, kGrid, svg);
    AddText(chart.X(x), bottom + 16, "middle", absl::StrFormat("%g", x), svg);
  }
  const double y_tick = chart.logarithmic ? 1 : TickOf(chart.y_max);
  for (double y = chart.y_min; y <= chart.y_max * 1.0001 + 1e-9; y += y_tick) {
    const double value = chart.logarithmic ? std::pow(10, y) : y;
    AddLine(chart.left, chart.Y(value), chart.left + chart.width, chart.Y(value), kGrid, svg);
    AddText(chart.left - 6, chart.Y(value) + 4, "end", absl::StrFormat("%g", value), svg);
  }
}

void AddCurve(const Chart& chart, const std::vector<std::pair<double, double>>& points,
              const char* color, const std::string& name, std::string* svg) {
  absl::StrAppend(svg, "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"", color,
                  "\" points=\"");
  for (const auto& [x, y] : points) {
    absl::StrAppendFormat(svg, "%.1f,%.1f ", chart.X(x), chart.Y(y));
  }
  absl::StrAppend(svg, "\"/>\n");
  for (const auto& [x, y] : points) {
    absl::StrAppendFormat(svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                          chart.X(x), chart.Y(y), color);
  }
  absl::StrAppendFormat(svg, "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">%s</text>\n",
                        chart.left + chart.width + 8, chart.Y(points.back().second) + 4, color,
                        name);
}

}  // namespace

absl::StatusOr<std::vector<double>> ParseRates(const std::string& text) {
  std::vector<double> rates;
  const std::vector<std::string> range = absl::StrSplit(text, ':');
  double first = 0, last = 0;
  int count = 0;
  if (range.size() == 3 && absl::SimpleAtod(range[0], &first) &&
      absl::SimpleAtod(range[1], &last) && absl::SimpleAtoi(range[2], &count) && count >= 2 &&
      count <= 1000) {
    for (int i = 0; i < count; ++i) rates.push_back(first + (last - first) * i / (count - 1));
  } else if (range.size() == 1) {
    for (const absl::string_view rate : absl::StrSplit(text, ',')) {
      rates.emplace_back();
      if (!absl::SimpleAtod(rate, &rates.back())) rates.back() = 0;
    }
  }
  bool valid = !rates.empty() && rates.front() > 0 && std::isfinite(rates.back());
  for (size_t i = 1; i < rates.size(); ++i) valid = valid && rates[i] > rates[i - 1];
  if (valid) return rates;
  return InvalidArgumentError(
      "\"", text, "\" is not a sweep; want ascending rates, as 20,50,100 or as FIRST:LAST:COUNT");
}

std::string ToCsv(const std::vector<LoadPoint>& points) {
  std::string csv =
      "offered_per_second,requests,seconds,ok,good_per_second,texts_per_second,p50_ms,p90_ms,"
      "p99_ms,document_p50_ms,document_p99_ms\n";
  for (const auto& [rate, report] : points) {
    const auto ok = report.codes.find("OK");
    const auto ms = [](const Latencies& latencies, double p) {
      return 1e3 * Percentile(latencies, p);
    };
    absl::StrAppendFormat(&csv, "%g,%d,%.3f,%d,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f\n", rate,
                          report.requests, report.seconds,
                          ok == report.codes.end() ? 0 : ok->second, report.PerSecond(report.good),
                          report.PerSecond(report.texts), ms(report.latencies, 0.5),
                          ms(report.latencies, 0.9), ms(report.latencies, 0.99),
                          ms(report.document_latencies, 0.5), ms(report.document_latencies, 0.99));
  }
  return csv;
}

Json ToJson(const std::vector<LoadPoint>& points) {
  Json curve = Json::array();
  for (const auto& [rate, report] : points) {
    Json point = {{"offered_per_second", rate}};
    point.update(ToJson(report));
    curve.push_back(std::move(point));
  }
  return curve;
}

std::string ToSvg(const std::vector<LoadPoint>& points, absl::Duration objective) {
  std::vector<std::pair<double, double>> good, p50, p99;
  double most_good = 0, least_ms = 1e9, most_ms = 0;
  for (const auto& [rate, report] : points) {
    good.emplace_back(rate, report.PerSecond(report.good));
    most_good = std::max(most_good, good.back().second);
    if (report.latencies.empty()) continue;
    p50.emplace_back(rate, 1e3 * Percentile(report.latencies, 0.5));
    p99.emplace_back(rate, 1e3 * Percentile(report.latencies, 0.99));
    least_ms = std::min(least_ms, p50.back().second);
    most_ms = std::max(most_ms, p99.back().second);
  }
  Chart above{.top = 40, .x_max = points.back().rate};
  above.y_max = std::max(most_good, 1e-3) * 1.05;
  Chart below{.top = 310, .x_max = points.back().rate, .logarithmic = true};
  if (!p50.empty()) {
    below.y_min = std::floor(std::log10(std::max(least_ms, 1e-3)));
    below.y_max = std::max(std::ceil(std::log10(std::max(most_ms, 1e-3))), below.y_min + 1);
  }

  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"680\" height=\"560\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  AddAxes(above,
          absl::StrCat("Answers per second within ", absl::FormatDuration(objective),
                       ", over requests per second offered"),
          &svg);
  const double reach = std::min(above.x_max, above.y_max);
  AddLine(above.X(0), above.Y(0), above.X(reach), above.Y(reach),
          "stroke=\"#999\" stroke-dasharray=\"4\"", &svg);
  AddCurve(above, good, "#1a7f37", "good", &svg);
  AddAxes(below, "Latency in milliseconds, from the time a request was due", &svg);
  if (!p50.empty()) {
    AddCurve(below, p50, "#0969da", "p50", &svg);
    AddCurve(below, p99, "#cf222e", "p99", &svg);
  }
  return svg + "</svg>\n";
}

}  // namespace dragoman
