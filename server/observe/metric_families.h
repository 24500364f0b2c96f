// The metrics that are not counted here but read from other parts of the process when Prometheus
// asks: the workers, the cache, the ports and the process itself.

#ifndef DRAGOMAN_SERVER_OBSERVE_METRIC_FAMILIES_H_
#define DRAGOMAN_SERVER_OBSERVE_METRIC_FAMILIES_H_

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

#include "engine/decode/worker_pool.h"
#include "server/base/shared_budget.h"
#include "server/observe/listener_stats.h"
#include "server/observe/tracer.h"
#include "store/database.h"

namespace dragoman {

std::vector<prometheus::MetricFamily> PoolFamilies(const WorkerPoolStats& stats);

std::vector<prometheus::MetricFamily> CacheFamilies(const CacheStats& stats);

// The gauge NAME of the connections of the port called `port`, and the counters NAME_accepted_total
// and NAME_refused_total.
std::vector<prometheus::MetricFamily> ConnectionFamilies(const std::string& name,
                                                         const std::string& port,
                                                         const ListenerStats& stats);

std::vector<prometheus::MetricFamily> BudgetFamilies(const std::vector<BudgetStats>& budgets);

std::vector<prometheus::MetricFamily> TraceFamilies(const TracerStats& stats);
std::vector<prometheus::MetricFamily> StoreFamilies(const DatabaseStats& stats);

std::vector<prometheus::MetricFamily> ProcessFamilies();

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_OBSERVE_METRIC_FAMILIES_H_
