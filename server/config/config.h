// The configuration of the server: the command line, the environment and the --config file,
// checked.
//
// All are read into the same message (proto/dragoman/v1/config.proto): each flag, or else the
// variable of its name, sets the field of the same name, these are merged over the file, and the
// result is resolved once.  Names, defaults and ranges are in the table of settings.h.

#ifndef DRAGOMAN_SERVER_CONFIG_CONFIG_H_
#define DRAGOMAN_SERVER_CONFIG_CONFIG_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "dragoman/v1/config.pb.h"
#include "engine/base/machine.h"
#include "engine/decode/worker_pool.h"
#include "engine/request/translator.h"
#include "server/auth/principals.h"
#include "server/auth/tls_options.h"
#include "server/compat/names.h"
#include "server/config/settings.h"
#include "server/observe/logging.h"
#include "server/observe/tracer.h"

namespace dragoman {

// A sentence and the translation that a model must produce before it may serve.
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
  std::string lora = {};  // the directory of an adapter; "": none
  bool found = false;     // in the directory of models: if it cannot be loaded, the others serve
  bool operator==(const ModelSource&) const = default;
};

// A version of a model that is tried out beside the stable one.
struct Canary {
  std::string model;  // the name of a ModelSource
  std::string directory;
  double percent = 0;  // of the requests that name no label
  bool operator==(const Canary&) const = default;
};

// For the gRPC port.
struct ConnectionOptions {
  absl::Duration keepalive_time =
      absl::Minutes(1);  // ping a connection that has been idle for this long
  absl::Duration keepalive_timeout =
      absl::Seconds(20);  // close it if the ping is not answered in this time
  absl::Duration max_age = absl::InfiniteDuration();
  absl::Duration max_age_grace = absl::Minutes(1);  // for calls on a connection that is too old
};

// How many bytes of finished answers may wait for clients to read them (api/answer_budget.h).
struct AnswerLimits {
  size_t all = 128 << 20;
  size_t holder = 32 << 20;    // of one holder; twice over several connections
  size_t little = 64 << 10;    // that each of them may have whatever the others have
  size_t bulk_call = 4 << 20;  // of one TranslateBulk
};

// The memory that a call with a message of so many bytes may take: for itself and, for each byte,
// the message, its fields, and the sentences and tokens of its texts (docs/limits.md).
inline constexpr size_t kMemoryPerByte = 16;
constexpr size_t MemoryOfMessage(size_t bytes) {
  return (size_t{8} << 10) + kMemoryPerByte * bytes;
}

// The files that may be translated (api/document_desk.h).
struct DocumentLimits {
  size_t max_bytes = 32 << 20;  // of one
  int at_once = 16;             // 0: none; of one caller, a half
  // Of files and results on disk: while some are translated, others arrive.
  size_t disk() const { return static_cast<size_t>(std::max(2 * at_once, 8)) * max_bytes; }
  size_t memory = 1 << 30;  // that all of them may take while they are read and written
  // Who sends one over gRPC may be silent for so long; over HTTP it is the time limit for bodies.
  absl::Duration patience = absl::Minutes(1);
};

struct ServerOptions {
  std::vector<ModelSource> models;    // at least one; names differ
  std::vector<Canary> canaries;       // at most one per model
  size_t memory = AvailableMemory();  // that the process may take
  size_t model_memory = 0;            // 0: all models are loaded at the start and stay
  std::string packed_cache;           // a directory, or "beside"; "": none
  std::vector<std::string> pinned;    // models that are found and stay in model_memory
  std::string default_model;          // the name of one of them
  std::string pivot;  // a language; "": no translation goes through a third language
  Precision precision = Precision::kAuto;
  Matmul matmul = Matmul::kAuto;
  Precision keys_values = Precision::kAuto;
  WorkerPoolOptions pool;
  Limits limits;
  AnswerLimits answers;
  DocumentLimits documents;
  int max_message_bytes = 1 << 20;
  size_t requests_memory = 256 << 20;  // that all calls may take (MemoryOfMessage)
  TlsOptions tls;
  AuthOptions auth;
  int64_t store_bytes = 256 << 20;
  int64_t waiting_documents = 256 << 20;  // bytes of those that are fetched later
  int64_t index_bytes = 512 << 20;
  ConnectionOptions connections;
  // Other APIs to speak (compat/compat.h).
  std::vector<std::string> compat = {kCompatNames.begin(), kCompatNames.end()};
  LogOptions log;
  TracerOptions traces;
  // How often models and the config file are checked for changes; 0: only on request.
  absl::Duration model_poll = absl::ZeroDuration();
  std::string config_file;  // "": none

  // The settings that are used as they are: checked, and with the defaults of those that were not
  // given.
  v1::ServerConfig config = WithDefaults(v1::ServerConfig());
  // What was given.
  v1::ServerConfig given;
};

// What the command line wants instead of a server: the values of these flags.
struct Errand {
  std::string check;             // `options` are not set
  bool without_weights = false;  // with it: they are not there yet
  bool check_config = false;     // `options` are to be checked
  std::string plan;
  std::string import_glossaries, import_memories;  // of `options` only the store is set
  bool imports() const { return !import_glossaries.empty() || !import_memories.empty(); }
};

struct CommandLine {
  // The output of --help, --version or --machine; `options` are not set.
  std::optional<std::string> print;
  Errand errand = {};
  ServerOptions options = {};
};

// INVALID_ARGUMENT for flags, values or a config file that cannot be used; NOT_FOUND if the file
// does not exist.
absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv);

// Reads protobuf's text format.  INVALID_ARGUMENT names the line.
absl::StatusOr<v1::ServerConfig> ParseConfig(const std::string& text);

// Fills in the defaults and checks every value.
absl::StatusOr<ServerOptions> Resolve(const v1::ServerConfig& config);

// The settings that differ and that a running server cannot change: "grpc_address workers".
std::string NamesOfFixedChanges(const v1::ServerConfig& before, const v1::ServerConfig& after);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_CONFIG_CONFIG_H_
