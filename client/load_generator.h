// Puts a server under load and measures its answers.
//
// In a closed loop, a fixed number of callers each send their next request when the last one is
// answered: this finds the throughput.  In an open loop, requests arrive at a given rate, whether
// or not the server keeps up, like those of many independent users (a Poisson process).  Latency is
// then measured from the time at which a request was due, so that a stall counts for all requests
// that had to wait for its end (this avoids what Gil Tene calls coordinated omission).
//
// Real traffic is mixed: some requests are whole documents, and some callers give up.  Both happen
// at random, with a seed.

#ifndef DRAGOMAN_CLIENT_LOAD_GENERATOR_H_
#define DRAGOMAN_CLIENT_LOAD_GENERATOR_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "client/translation_client.h"

namespace dragoman {

struct LoadOptions {
  int concurrency = 8;  // callers of the closed loop
  double rate = 0.0;    // requests per second of the open loop; 0: closed loop
  // Stops sending after this time or this many requests, whichever comes first.
  absl::Duration duration = absl::InfiniteDuration();
  int64_t requests = INT64_MAX;
  int texts_per_request = 1;
  double document_share = 0.0;  // fraction of requests that are documents
  int document_texts = 50;      // texts per document
  double batch_share = 0.0;     // fraction of requests with PRIORITY_BATCH
  double cancel_share = 0.0;    // fraction of requests that are cancelled
  absl::Duration cancel_after = absl::Milliseconds(20);
  absl::Duration objective = absl::Seconds(1);  // an answer within it is good
  uint64_t seed = 1;                            // of arrivals, documents and cancellations
};

// Seconds, sorted.
using Latencies = std::vector<double>;

// The latency that a fraction `p` of them did not exceed (nearest rank); 0 if there are none.
double Percentile(const Latencies& latencies, double p);
// Those that are reported.
inline constexpr std::pair<const char*, double> kPercentiles[] = {
    {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1.0}};

struct LoadReport {
  double seconds = 0.0;  // from the first request to the last answer
  int64_t requests = 0;  // sent, and answered in some way
  int64_t texts = 0;     // translated
  int64_t source_tokens = 0;
  int64_t good = 0;                      // OK answers within the objective
  std::map<std::string, int64_t> codes;  // answers by gRPC status code: {"OK", 120}
  Latencies latencies;                   // of OK answers, except documents and batch work
  Latencies document_latencies;          // of documents that are not batch work
  Latencies batch_latencies;             // of batch work

  double PerSecond(int64_t count) const { return seconds > 0 ? count / seconds : 0.0; }
};

// Sends copies of `request` with the texts in turn, starting over after the last one.  REQUIRES:
// texts is not empty; concurrency and the numbers of texts are positive; fractions are between 0
// and 1.
LoadReport RunLoad(TranslationClient* client, const v1::TranslateRequest& request,
                   const std::vector<std::string>& texts, const LoadOptions& options);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_LOAD_GENERATOR_H_
