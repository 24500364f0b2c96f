// Puts a server under load and measures how it answers.
//
// In a closed loop a fixed number of callers each send their next request when the last one is
// answered: this finds the throughput.  In an open loop requests arrive at a rate, whether or not
// the server keeps up, as those of many strangers do (a Poisson process); a latency then counts
// from the time at which a request was due, so that a stall is seen by all who had to wait for its
// end (this avoids what Gil Tene calls coordinated omission).
//
// Real traffic is mixed: some requests are whole documents, and some callers give up.  Both happen
// at random, with a seed.

#ifndef DRAGOMAN_CLIENT_LOAD_GENERATOR_H_
#define DRAGOMAN_CLIENT_LOAD_GENERATOR_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/translation_client.h"

namespace dragoman {

struct LoadOptions {
  int concurrency = 8;  // callers of the closed loop
  double rate = 0.0;    // requests per second of the open loop; 0: closed loop
  // Nothing more is sent after that time or that many requests, whichever comes first.
  absl::Duration duration = absl::InfiniteDuration();
  int64_t requests = INT64_MAX;
  int texts_per_request = 1;
  double document_share = 0.0;  // of the requests that are documents
  int document_texts = 50;      // texts of each
  double batch_share = 0.0;     // of the requests that have PRIORITY_BATCH
  double cancel_share = 0.0;    // of the requests that are given up
  absl::Duration cancel_after = absl::Milliseconds(20);
  absl::Duration objective = absl::Seconds(1);  // an answer within it is a good one
  uint64_t seed = 1;  // of the arrivals, and of who sends documents and who gives up
};

// Seconds, sorted.
using Latencies = std::vector<double>;

// The latency that a share `p` of them did not exceed (nearest rank); 0 without any.
double Percentile(const Latencies& latencies, double p);

struct LoadReport {
  double seconds = 0.0;  // from the first request to the last answer
  int64_t requests = 0;  // sent, and answered in one way or another
  int64_t texts = 0;     // translated
  int64_t source_tokens = 0;
  int64_t good = 0;                      // answers that are OK, within the objective
  std::map<std::string, int64_t> codes;  // answers by gRPC status code: {"OK", 120}
  Latencies latencies;           // of the OK answers, but for those to documents and batch work
  Latencies document_latencies;  // of documents that are not batch work
  Latencies batch_latencies;     // of the requests that were drawn as batch work

  double PerSecond(int64_t count) const { return seconds > 0 ? count / seconds : 0.0; }
};

// Takes the texts in turn, from the first one again after the last, into copies of `request`.
// REQUIRES: texts is not empty; concurrency and the numbers of texts are positive; shares are
// between 0 and 1.
LoadReport RunLoad(TranslationClient* client, const v1::TranslateRequest& request,
                   const std::vector<std::string>& texts, const LoadOptions& options);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_LOAD_GENERATOR_H_
