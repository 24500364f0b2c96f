// A small real model and jobs for it.

#ifndef DRAGOMAN_TESTS_DECODE_TEST_JOBS_H_
#define DRAGOMAN_TESTS_DECODE_TEST_JOBS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/decode/job.h"
#include "engine/model/model.h"
#include "tests/search/whole_search.h"

namespace dragoman {

// tests/golden/models/marian-trained in float32, loaded once.
std::shared_ptr<const Model> TrainedModel();

// English sentences of different lengths, from that model's toy grammar and from outside of it.
const std::vector<std::string>& TestSentences();

// The search of the model's own configuration, with `beam_size` and `max_length`.
WholeSearch TestSearch(int beam_size, int max_length);

// A priced job that nobody cancels.  If `request` is null, it gets a request of its own without a
// deadline.
JobPtr MakeJob(const std::string& text, const WholeSearch& options,
               std::function<void(JobResult)> on_done,
               std::shared_ptr<RequestState> request = nullptr);

// A job with this cost but without a model or a text, for code that only looks at costs.
JobPtr CostOnly(
    const JobCost& cost, std::shared_ptr<RequestState> request,
    std::function<void(JobResult)> on_done = [](JobResult) {});

// Everything that a caller sees of a result, to the last bit: equal strings mean equal bytes.
std::string Bytes(const std::vector<Hypothesis>& hypotheses);

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_DECODE_TEST_JOBS_H_
