// Config files, as --config reads them: any text gives either a usable configuration or an error
// that says where it is wrong.

#include <string>

#include "server/config/config.h"
#include "server/config/settings.h"
#include "tests/fuzz/fuzzer.h"

FUZZER(config) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<dragoman::v1::ServerConfig> config = dragoman::ParseConfig(text);
  if (!config.ok()) {
    FUZZ_CHECK(!config.status().message().empty());
  } else if (const auto options = dragoman::Resolve(*config); options.ok()) {
    FUZZ_CHECK(!options->models.empty());
    FUZZ_CHECK(!options->default_model.empty());
    FUZZ_CHECK(options->pool.max_batch_rows == 0 ||  // 0: the default
               options->limits.max_beam_size <= options->pool.max_batch_rows);
    FUZZ_CHECK(dragoman::ToDuration(options->config.drain_timeout()) >= absl::ZeroDuration());
    FUZZ_CHECK(options->pool.workers * options->pool.threads_per_worker <= 1024);
  } else {
    FUZZ_CHECK(!options.status().message().empty());
  }
  const absl::StatusOr<int64_t> bytes = dragoman::ParseBytes(text);
  FUZZ_CHECK(!bytes.ok() || *bytes >= 0);
}
