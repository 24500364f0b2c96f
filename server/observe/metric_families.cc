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

using prometheus::MetricFamily;

void Add(std::vector<prometheus::ClientMetric::Label> labels, double value, MetricFamily* family) {
  prometheus::ClientMetric& metric = family->metric.emplace_back();
  metric.label = std::move(labels);
  metric.gauge.value = metric.counter.value = value;
}

MetricFamily GaugeNow(const std::string& name, const std::string& help, double value) {
  MetricFamily family = {name, help, prometheus::MetricType::Gauge};
  Add({}, value, &family);
  return family;
}

MetricFamily CounterNow(const std::string& name, const std::string& help, double value) {
  MetricFamily family = {name, help, prometheus::MetricType::Counter};
  Add({}, value, &family);
  return family;
}

// A counter with a value for each value of a label.
MetricFamily CounterBy(const std::string& name, const std::string& help, const char* label,
                       std::initializer_list<std::pair<const char*, int64_t>> counts) {
  MetricFamily family = {name, help, prometheus::MetricType::Counter};
  for (const auto& [value, count] : counts) {
    Add({{label, value}}, count, &family);
  }
  return family;
}

// A gauge with a value for each priority of requests.
MetricFamily GaugeOfQueues(const char* name, const char* help, const WorkerPoolStats& stats,
                           absl::FunctionRef<double(const QueueStats&)> value) {
  MetricFamily family = {name, help, prometheus::MetricType::Gauge};
  for (const auto& [priority, label] :
       {std::pair(Priority::kInteractive, "interactive"), std::pair(Priority::kBatch, "batch")}) {
    Add({{"priority", label}}, value(stats.queues[priority]), &family);
  }
  return family;
}

}  // namespace

std::vector<MetricFamily> PoolFamilies(const WorkerPoolStats& stats) {
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
               stats.kv_reserved_bytes),
      GaugeNow("dragoman_kv_cache_capacity_bytes", "KV memory that sentences may reserve.",
               stats.kv_capacity_bytes),
      GaugeNow("dragoman_kv_cache_resident_bytes",
               "KV memory that is resident: taken from the system and not yet returned.",
               stats.kv_resident_bytes),
  };
}

std::vector<MetricFamily> CacheFamilies(const CacheStats& stats) {
  return {
      CounterBy("dragoman_cache_lookups_total",
                "Sentences looked up in the cache: found (hit), being translated for another "
                "request (shared), or left to the workers (miss).",
                "result", {{"hit", stats.hits}, {"shared", stats.shared}, {"miss", stats.misses}}),
      CounterNow("dragoman_cache_evictions_total",
                 "Translations evicted from the cache to make room for others.", stats.evictions),
      GaugeNow("dragoman_cache_entries", "Translations in the cache.", stats.entries),
      GaugeNow("dragoman_cache_bytes", "Memory of the translations in the cache.", stats.bytes),
      GaugeNow("dragoman_cache_capacity_bytes", "Memory that the cache may take; 0: no cache.",
               stats.capacity_bytes)};
}

std::vector<MetricFamily> ConnectionFamilies(const std::string& name, const std::string& port,
                                             const ListenerStats& stats) {
  const std::string connections = "Connections of the " + port + " port";
  return {GaugeNow(name + "_limit", "Connections that may be open; more are closed at once.",
                   stats.limit),
          GaugeNow(name, connections + ".", stats.open),
          CounterNow(name + "_accepted_total", connections + " that were served.", stats.accepted),
          CounterBy(
              name + "_refused_total",
              "Connections closed, because the limit was reached, there was no descriptor, or the "
              "client had too many calls or sent too much of messages.",
              "reason",
              {{"limit", stats.over_limit},
               {"descriptors", stats.no_descriptors},
               {"calls", stats.aborted}})};
}

std::vector<MetricFamily> BudgetFamilies(const std::vector<BudgetStats>& budgets) {
  using prometheus::MetricType;
  MetricFamily used = {"dragoman_budget_used",
                       "What is in use of a budget: bytes, or places for documents.",
                       MetricType::Gauge};
  MetricFamily limit = {"dragoman_budget_limit", "The most of it.", MetricType::Gauge};
  MetricFamily refusals = {"dragoman_budget_refusals_total",
                           "Requests that were refused because it was in use.",
                           MetricType::Counter};
  for (const BudgetStats& budget : budgets) {
    Add({{"budget", budget.name}}, budget.used, &used);
    Add({{"budget", budget.name}}, budget.limit, &limit);
    Add({{"budget", budget.name}}, budget.refusals, &refusals);
  }
  return {used, limit, refusals};
}

std::vector<MetricFamily> TraceFamilies(const TracerStats& stats) {
  return {
      CounterNow("dragoman_trace_spans_sent_total", "Spans that the collector took.", stats.sent),
      CounterBy("dragoman_trace_spans_dropped_total",
                "Spans that were dropped: too many waited (queue_full), the collector did not "
                "take them (refused) or was not there (unreachable).",
                "reason",
                {{"queue_full", stats.queue_full},
                 {"refused", stats.refused},
                 {"unreachable", stats.unreachable}})};
}

std::vector<MetricFamily> StoreFamilies(const DatabaseStats& database) {
  return {GaugeNow("dragoman_store_up", "1: the last attempt to reach the store succeeded.",
                   database.up ? 1 : 0),
          GaugeNow("dragoman_store_connections", "Open connections to the store.", database.open),
          CounterNow("dragoman_store_transactions_total", "Transactions of the store.",
                     database.transactions),
          CounterNow("dragoman_store_failures_total",
                     "Transactions of the store that failed, because it could not be reached, took "
                     "too long or is damaged.",
                     database.failed),
          CounterNow("dragoman_store_seconds_total",
                     "Time that transactions of the store took, with the wait for a connection.",
                     database.seconds)};
}

std::vector<MetricFamily> ProcessFamilies() {
  const ProcessStats stats = ReadProcessStats();
  return {
      CounterNow("process_cpu_seconds_total", "User and system CPU time.", stats.cpu_seconds),
      CounterNow("dragoman_cpu_throttled_seconds_total",
                 "Time for which the CPU quota of the control group throttled the process.",
                 CpuThrottledSeconds()),
      GaugeNow("process_resident_memory_bytes", "Resident memory.", stats.resident_bytes),
      CounterNow("dragoman_log_lines_dropped_total",
                 "Log lines that were dropped because the reader of the log stalled or went away.",
                 LogLinesDropped()),
      GaugeNow("process_virtual_memory_bytes", "Virtual memory.", stats.virtual_bytes),
      GaugeNow("process_open_fds", "Open file descriptors.", stats.open_fds),
      GaugeNow("process_max_fds", "File descriptors that may be open.", stats.max_fds),
      GaugeNow("process_threads", "Threads.", stats.threads),
      GaugeNow("process_start_time_seconds", "When the process started, since the Unix epoch.",
               stats.start_time_seconds),
  };
}

}  // namespace dragoman
