#include "server/observe/metric_families.h"

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "engine/base/machine.h"
#include "server/observe/logging.h"
#include "server/observe/process_stats.h"

namespace dragoman {
namespace {

prometheus::MetricFamily GaugeNow(const char* name, const char* help, double value,
                                  prometheus::MetricType type = prometheus::MetricType::Gauge) {
  prometheus::ClientMetric metric;
  metric.gauge.value = value;
  metric.counter.value = value;
  return {name, help, type, {std::move(metric)}};
}

// A counter with a value for each value of a label.
prometheus::MetricFamily CounterBy(const char* name, const char* help, const char* label,
                                   std::initializer_list<std::pair<const char*, int64_t>> counts) {
  prometheus::MetricFamily family = {name, help, prometheus::MetricType::Counter, {}};
  for (const auto& [value, count] : counts) {
    prometheus::ClientMetric& metric = family.metric.emplace_back();
    metric.label = {{label, value}};
    metric.counter.value = static_cast<double>(count);
  }
  return family;
}

// A gauge with a value for each priority of requests.
prometheus::MetricFamily GaugeOfQueues(const char* name, const char* help,
                                       const WorkerPoolStats& stats,
                                       absl::FunctionRef<double(const QueueStats&)> value) {
  prometheus::MetricFamily family = {name, help, prometheus::MetricType::Gauge, {}};
  for (const auto& [priority, label] :
       {std::pair(Priority::kInteractive, "interactive"), std::pair(Priority::kBatch, "batch")}) {
    prometheus::ClientMetric& metric = family.metric.emplace_back();
    metric.label = {{"priority", label}};
    metric.gauge.value = value(stats.queues[priority]);
  }
  return family;
}

}  // namespace

std::vector<prometheus::MetricFamily> PoolFamilies(const WorkerPoolStats& stats) {
  return {
      GaugeOfQueues("dragoman_queue_requests", "Requests with a sentence that waits for a batch.",
                    stats, [](const QueueStats& queue) { return queue.requests; }),
      GaugeOfQueues("dragoman_queue_tokens",
                    "Source tokens of the sentences that wait for a batch.", stats,
                    [](const QueueStats& queue) { return queue.tokens; }),
      GaugeNow("dragoman_queue_requests_limit",
               "Requests of one priority that may wait; more are refused.",
               stats.max_waiting_requests),
      GaugeNow("dragoman_queue_tokens_limit",
               "Source tokens of one priority that may wait; more are refused.",
               stats.max_waiting_tokens),
      GaugeOfQueues(
          "dragoman_queue_oldest_age_seconds", "How long the oldest waiting request has waited.",
          stats, [](const QueueStats& queue) { return absl::ToDoubleSeconds(queue.oldest_wait); }),
      GaugeNow("dragoman_kv_cache_bytes", "KV memory reserved by the sentences in the batches.",
               static_cast<double>(stats.kv_reserved_bytes)),
      GaugeNow("dragoman_kv_cache_capacity_bytes", "KV memory that sentences may reserve.",
               static_cast<double>(stats.kv_capacity_bytes)),
      GaugeNow("dragoman_kv_cache_resident_bytes",
               "KV memory that is resident: taken from the system and not yet returned.",
               static_cast<double>(stats.kv_resident_bytes)),
  };
}

std::vector<prometheus::MetricFamily> CacheFamilies(const CacheStats& stats) {
  return {
      CounterBy("dragoman_cache_lookups_total",
                "Sentences looked up in the cache: found (hit), being translated for another "
                "request (shared), or left to the workers (miss).",
                "result", {{"hit", stats.hits}, {"shared", stats.shared}, {"miss", stats.misses}}),
      GaugeNow("dragoman_cache_evictions_total",
               "Translations evicted from the cache to make room for others.",
               static_cast<double>(stats.evictions), prometheus::MetricType::Counter),
      GaugeNow("dragoman_cache_entries", "Translations in the cache.",
               static_cast<double>(stats.entries)),
      GaugeNow("dragoman_cache_bytes", "Memory of the translations in the cache.",
               static_cast<double>(stats.bytes)),
      GaugeNow("dragoman_cache_capacity_bytes", "Memory that the cache may take; 0: no cache.",
               static_cast<double>(stats.capacity_bytes))};
}

std::vector<prometheus::MetricFamily> ConnectionFamilies(const std::string& name,
                                                         const std::string& port,
                                                         const ListenerStats& stats) {
  std::vector<prometheus::MetricFamily> families;
  families.push_back(GaugeNow((name + "_limit").c_str(),
                              "Connections that may be open; more are closed at once.",
                              stats.limit));
  families.push_back(
      GaugeNow(name.c_str(), ("Connections of the " + port + " port.").c_str(), stats.open));
  families.push_back(GaugeNow((name + "_accepted_total").c_str(),
                              ("Connections of the " + port + " port that were served.").c_str(),
                              static_cast<double>(stats.accepted),
                              prometheus::MetricType::Counter));
  prometheus::MetricFamily refused = GaugeNow(
      (name + "_refused_total").c_str(),
      "Connections closed at once, because the limit was reached or there was no descriptor.",
      static_cast<double>(stats.over_limit), prometheus::MetricType::Counter);
  refused.metric.front().label = {{"reason", "limit"}};
  refused.metric.push_back(refused.metric.front());
  refused.metric.back().label = {{"reason", "descriptors"}};
  refused.metric.back().counter.value = static_cast<double>(stats.no_descriptors);
  families.push_back(std::move(refused));
  return families;
}

std::vector<prometheus::MetricFamily> BudgetFamilies(const std::vector<BudgetStats>& budgets) {
  prometheus::MetricFamily used = {"dragoman_budget_used",
                                   "What is in use of a budget: bytes, or places for documents.",
                                   prometheus::MetricType::Gauge,
                                   {}};
  prometheus::MetricFamily limit = {
      "dragoman_budget_limit", "The most of it.", prometheus::MetricType::Gauge, {}};
  prometheus::MetricFamily refusals = {"dragoman_budget_refusals_total",
                                       "Requests that were refused because it was in use.",
                                       prometheus::MetricType::Counter,
                                       {}};
  for (const BudgetStats& budget : budgets) {
    const auto add = [&](auto value, prometheus::MetricFamily* family) {
      prometheus::ClientMetric& metric = family->metric.emplace_back();
      metric.label = {{"budget", budget.name}};
      metric.gauge.value = metric.counter.value = static_cast<double>(value);
    };
    add(budget.used, &used);
    add(budget.limit, &limit);
    add(budget.refusals, &refusals);
  }
  return {used, limit, refusals};
}

std::vector<prometheus::MetricFamily> TraceFamilies(const TracerStats& stats) {
  return {GaugeNow("dragoman_trace_spans_sent_total", "Spans that the collector took.",
                   static_cast<double>(stats.sent), prometheus::MetricType::Counter),
          CounterBy("dragoman_trace_spans_dropped_total",
                    "Spans that were dropped: too many waited (queue_full), the collector did not "
                    "take them (refused) or was not there (unreachable).",
                    "reason",
                    {{"queue_full", stats.queue_full},
                     {"refused", stats.refused},
                     {"unreachable", stats.unreachable}})};
}

std::vector<prometheus::MetricFamily> StoreFamilies(const DatabaseStats& database) {
  return {GaugeNow("dragoman_store_up", "1: the last attempt to reach the store succeeded.",
                   database.up ? 1 : 0),
          GaugeNow("dragoman_store_connections", "Open connections to the store.",
                   static_cast<double>(database.open)),
          GaugeNow("dragoman_store_transactions_total", "Transactions of the store.",
                   static_cast<double>(database.transactions), prometheus::MetricType::Counter),
          GaugeNow("dragoman_store_failures_total",
                   "Transactions of the store that failed, because it could not be reached, took "
                   "too long or is damaged.",
                   static_cast<double>(database.failed), prometheus::MetricType::Counter),
          GaugeNow("dragoman_store_seconds_total",
                   "Time that transactions of the store took, with the wait for a connection.",
                   database.seconds, prometheus::MetricType::Counter)};
}

std::vector<prometheus::MetricFamily> ProcessFamilies() {
  const ProcessStats stats = ReadProcessStats();
  return {
      GaugeNow("process_cpu_seconds_total", "User and system CPU time.", stats.cpu_seconds,
               prometheus::MetricType::Counter),
      GaugeNow("dragoman_cpu_throttled_seconds_total",
               "Time for which the CPU quota of the control group throttled the process.",
               CpuThrottledSeconds(), prometheus::MetricType::Counter),
      GaugeNow("process_resident_memory_bytes", "Resident memory.", stats.resident_bytes),
      GaugeNow("dragoman_memory_limit_bytes",
               "Memory that the process may use: of the machine, or of its control group.",
               static_cast<double>(AvailableMemory())),
      GaugeNow("dragoman_log_lines_dropped_total",
               "Log lines that were dropped because the reader of the log stalled or went away.",
               static_cast<double>(LogLinesDropped()), prometheus::MetricType::Counter),
      GaugeNow("process_virtual_memory_bytes", "Virtual memory.", stats.virtual_bytes),
      GaugeNow("process_open_fds", "Open file descriptors.", stats.open_fds),
      GaugeNow("process_max_fds", "File descriptors that may be open.", stats.max_fds),
      GaugeNow("process_threads", "Threads.", stats.threads),
      GaugeNow("process_start_time_seconds", "When the process started, since the Unix epoch.",
               stats.start_time_seconds),
  };
}

}  // namespace dragoman
