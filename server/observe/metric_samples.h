// What History keeps of the metrics: the sums that the page at /status draws, without the labels by
// which it does not tell them apart.  Their number does not grow with the number of models.

#ifndef DRAGOMAN_SERVER_OBSERVE_METRIC_SAMPLES_H_
#define DRAGOMAN_SERVER_OBSERVE_METRIC_SAMPLES_H_

#include <prometheus/metric_family.h>

#include <vector>

#include "server/observe/history.h"

namespace dragoman {

// Names are those of the text format: NAME, or NAME_count, NAME_sum and NAME_bucket{le=...}.  Of
// families with the label "method", only the methods that translate are counted, together.
MetricSamples SamplesOf(const std::vector<prometheus::MetricFamily>& families);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_OBSERVE_METRIC_SAMPLES_H_
