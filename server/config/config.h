// How the server is to run: what the command line and the --config file say, checked.
//
// Both are read into the same message (proto/dragoman/v1/config.proto): each flag sets the field of
// its name, the flags are merged over the file, and the result is resolved once, so that a default,
// a range and an error message are in one place.

#ifndef DRAGOMAN_SERVER_CONFIG_CONFIG_H_
#define DRAGOMAN_SERVER_CONFIG_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "dragoman/v1/config.pb.h"
#include "engine/decode/worker_pool.h"
#include "engine/math/precision.h"
#include "engine/translator.h"
#include "server/auth/principals.h"
#include "server/auth/tls.h"
#include "server/observe/logging.h"

namespace dragoman {

// A sentence that a model must translate so, before it may serve.
struct Golden {
  std::string source;
  std::string target;
  std::string source_language;  // "": the model's own
  std::string target_language;
  bool operator==(const Golden&) const = default;
};

struct ModelSource {
  std::string name;
  std::string directory;
  ShortlistSource shortlist = {};  // without a file: none
  std::vector<Golden> goldens = {};
  bool operator==(const ModelSource&) const = default;
};

// A version of a model that is tried out beside the stable one.
struct Canary {
  std::string model;  // the name of a ModelSource
  std::string directory;
  double percent = 0;  // of the requests that name no label
  bool operator==(const Canary&) const = default;
};

// Of the gRPC port.
struct ConnectionOptions {
  absl::Duration keepalive_time = absl::Minutes(1);      // idle for so long: a ping
  absl::Duration keepalive_timeout = absl::Seconds(20);  // unanswered for so long: hang up
  absl::Duration max_age = absl::InfiniteDuration();
  absl::Duration max_age_grace = absl::Minutes(1);  // of the calls of a connection that is too old
};

// Of the HTTP port.
struct HttpPortOptions {
  int threads = 0;          // 0: as many as there are cores, but at most 4
  int max_connections = 0;  // 0: 1,024, or a quarter of what the limit of open files allows
  absl::Duration header_timeout = absl::Seconds(10);
  absl::Duration body_timeout = absl::Seconds(30);
  absl::Duration write_timeout = absl::Seconds(30);
  absl::Duration idle_timeout = absl::Seconds(75);
  std::vector<std::string> cors_origins;  // "https://example.org" or "*"; empty: none
  std::vector<std::string> compat = {"libretranslate"};  // other APIs to speak (compat/compat.h)
};

struct ServerOptions {
  std::vector<ModelSource> models;  // at least one; names differ
  std::vector<Canary> canaries;     // at most one for each model
  std::string default_model;        // the name of one of them
  std::string pivot;                // a language; "": no translation goes through another
  std::string grpc_address = "127.0.0.1:50051";
  std::string http_address = "127.0.0.1:9464";
  Precision precision = Precision::kAuto;
  Matmul matmul = Matmul::kAuto;
  Precision keys_values = Precision::kAuto;
  WorkerPoolOptions pool;
  Limits limits;
  int max_message_bytes = 1 << 20;
  int max_connections = 0;  // of the gRPC port; 0: 10,000, or what the limit of open files allows
  TlsOptions tls;
  AuthOptions auth;
  ConnectionOptions connections;
  HttpPortOptions http;
  absl::Duration drain_delay = absl::ZeroDuration();  // from SIGTERM to the first refusal
  absl::Duration drain_timeout = absl::Seconds(30);   // from there until calls are cancelled
  LogOptions log;
  // How often models and the config file are looked at; 0: only when asked.
  absl::Duration model_poll = absl::ZeroDuration();
  std::string config_file;  // "": none

  // All of it as it was said.
  v1::ServerConfig config;
};

struct CommandLine {
  std::optional<std::string>
      print;  // the answer to --help, --version or --machine; `options` are not set
  std::optional<std::string> check;  // the value of --check; likewise
  ServerOptions options = {};
};

// INVALID_ARGUMENT for flags, values or a config file that cannot be used; NOT_FOUND if there is no
// such file.
absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv);

// Reads protobuf's text format.  INVALID_ARGUMENT names the line.
absl::StatusOr<v1::ServerConfig> ParseConfig(const std::string& text);

// Fills in the defaults and checks every value.
absl::StatusOr<ServerOptions> Resolve(const v1::ServerConfig& config);

// The settings that differ and that a running server cannot take over: "grpc_address workers".
std::string NamesOfFixedChanges(const v1::ServerConfig& before, const v1::ServerConfig& after);

// "4GiB", "512MiB", "64KiB" or a plain number of bytes.
absl::StatusOr<int64_t> ParseBytes(const std::string& text);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_CONFIG_CONFIG_H_
