#include "server/observe/metric_samples.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace dragoman {
namespace {

// The families that are kept, and the label that is, if any; "le" stands for buckets.
const std::map<std::string_view, std::string_view>& KeptFamilies() {
  static const auto& kept = *new std::map<std::string_view, std::string_view>{
      {"dragoman_requests_total", "code"},  {"dragoman_request_duration_seconds", "le"},
      {"dragoman_requests_in_flight", ""},  {"dragoman_rejected_total", "reason"},
      {"dragoman_target_tokens_total", ""}, {"dragoman_source_tokens_total", ""},
      {"dragoman_sentences_total", ""},     {"dragoman_engine_busy_seconds_total", "worker"},
      {"dragoman_batch_rows", "phase"},     {"dragoman_queue_requests", "priority"},
      {"dragoman_kv_cache_bytes", ""},      {"dragoman_cache_lookups_total", "result"},
      {"dragoman_connections", ""},         {"dragoman_http_connections", ""},
      {"process_cpu_seconds_total", ""},    {"process_resident_memory_bytes", ""},
  };
  return kept;
}

using Labels = std::map<std::string, std::string>;

void AddHistogram(const std::string& name, bool buckets, const Labels& labels,
                  const prometheus::ClientMetric::Histogram& histogram, MetricSamples* samples) {
  (*samples)[{name + "_count", labels}] += static_cast<double>(histogram.sample_count);
  (*samples)[{name + "_sum", labels}] += histogram.sample_sum;
  if (!buckets) return;
  for (const auto& bucket : histogram.bucket) {
    const double bound = bucket.upper_bound;
    Labels with_bound = labels;
    with_bound["le"] = std::isinf(bound) ? "+Inf" : absl::StrCat(bound);
    (*samples)[{name + "_bucket", with_bound}] += static_cast<double>(bucket.cumulative_count);
  }
}

void AddFamily(const prometheus::MetricFamily& family, std::string_view kept,
               MetricSamples* samples) {
  for (const prometheus::ClientMetric& metric : family.metric) {
    Labels labels;
    bool counts = true;
    for (const auto& label : metric.label) {
      if (label.name == kept) labels[label.name] = label.value;
      if (label.name == "method") counts = absl::StartsWith(label.value, "Translate");
    }
    if (!counts) continue;
    if (family.type == prometheus::MetricType::Histogram) {
      AddHistogram(family.name, kept == "le", labels, metric.histogram, samples);
    } else {
      const bool counter = family.type == prometheus::MetricType::Counter;
      (*samples)[{family.name, labels}] += counter ? metric.counter.value : metric.gauge.value;
    }
  }
}

}  // namespace

MetricSamples SamplesOf(const std::vector<prometheus::MetricFamily>& families) {
  MetricSamples samples;
  for (const prometheus::MetricFamily& family : families) {
    const auto kept = KeptFamilies().find(family.name);
    if (kept != KeptFamilies().end()) AddFamily(family, kept->second, &samples);
  }
  return samples;
}

}  // namespace dragoman
