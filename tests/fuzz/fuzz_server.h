// A server with small models and limits, so that no request of a fuzzer takes long.

#ifndef DRAGOMAN_TESTS_FUZZ_FUZZ_SERVER_H_
#define DRAGOMAN_TESTS_FUZZ_FUZZ_SERVER_H_

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "absl/status/statusor.h"
#include "server/observe/logging.h"
#include "server/server.h"

namespace dragoman {

inline ServerOptions FuzzServerOptions() {
  ServerOptions options;
  options.models = {{"en-de", "tests/golden/models/marian-trained", {}},
                    {"many", "tests/golden/models/m2m100-trained", {}}};
  options.default_model = "en-de";
  options.config.set_grpc_address("127.0.0.1:0");
  options.config.set_http_address("127.0.0.1:0");
  options.precision = Precision::kFloat32;
  options.pool.workers = 1;
  options.pool.max_batch_rows = 16;
  options.pool.kv_capacity_bytes = size_t{64} << 20;
  options.limits = {.max_texts = 8,
                    .max_characters = 256,
                    .max_source_tokens = 32,
                    .max_beam_size = 4,
                    .max_hypotheses = 4};
  options.max_message_bytes = 4096;
  return options;
}

// Starts a server that serves until the process ends.  It is never destroyed.
inline Server* StartForever(const ServerOptions& options) {
  InitLogging({.level = "off"});
  absl::StatusOr<std::unique_ptr<Server>> started = Server::Start(options);
  if (!started.ok()) {
    std::fprintf(stderr, "%s\n", started.status().ToString().c_str());
    std::abort();
  }
  return started->release();
}

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_FUZZ_FUZZ_SERVER_H_
