#include "server/config/config.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <charconv>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/base/status.h"
#include "server/compat/names.h"
#include "server/config/resolve_models.h"
#include "server/config/settings.h"

namespace dragoman {
namespace {

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (error_.empty()) error_ = absl::StrCat("line ", line + 1, ": ", message);
  }
  const std::string& error() const { return error_; }

 private:
  std::string error_;
};

absl::Status CheckAddress(const char* flag, const std::string& address) {
  const size_t colon = address.rfind(':');
  int port = -1;
  if (colon != std::string::npos && colon > 0) {
    const char* const end = address.data() + address.size();
    const auto [stop, error] = std::from_chars(address.data() + colon + 1, end, port);
    if (error != std::errc() || stop != end) port = -1;
  }
  if (port < 0 || port > 65535) {
    return InvalidArgumentError(flag, " is \"", address,
                                "\", want HOST:PORT with a port of 0 to 65535");
  }
  return absl::OkStatus();
}

// Who may administer must be known: by a token, or because only the owner of this process can open
// a socket of the file system.
absl::Status CheckAdminAddress(const v1::ServerConfig& config) {
  if (!config.has_admin_address() || absl::StartsWith(config.admin_address(), "unix:")) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(CheckAddress("admin-address", config.admin_address()));
  if (!config.auth_tokens().empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "admin-address is HOST:PORT, but no auth-tokens say who may administer; want them, or "
      "unix:PATH");
}

absl::Status ResolveEngine(const v1::ServerConfig& config, ServerOptions* options) {
  ASSIGN_OR_RETURN(options->precision, ParsePrecision(config.precision()));
  ASSIGN_OR_RETURN(options->matmul, ParseMatmul(config.matmul()));
  const absl::StatusOr<Precision> keys_values = ParsePrecision(config.kv_cache_precision());
  if (!keys_values.ok()) {
    return InvalidArgumentError("kv-cache-precision is \"", config.kv_cache_precision(),
                                "\", want auto, float32, bfloat16 or int8");
  }
  options->keys_values = *keys_values;
  options->pool = {.workers = config.workers(),
                   .threads_per_worker = config.threads_per_worker(),
                   .max_waiting_requests = config.max_waiting_requests(),
                   .max_waiting_tokens = config.max_waiting_tokens(),
                   .max_batch_rows = config.max_batch_rows(),
                   .max_encode_tokens = config.max_encode_tokens(),
                   .kv_capacity_bytes = static_cast<size_t>(config.kv_cache_bytes()),
                   .cache_bytes = static_cast<size_t>(config.cache_bytes())};
  constexpr int kMaxThreads = 1024;
  if (const int threads = config.workers() * config.threads_per_worker(); threads > kMaxThreads) {
    return InvalidArgumentError("workers x threads-per-worker is ", threads, ", want at most ",
                                kMaxThreads);
  }
  return absl::OkStatus();
}

absl::Status ResolveLimits(const v1::ServerConfig& config, ServerOptions* options) {
  options->limits = {.max_texts = config.max_texts(),
                     .max_characters = config.max_characters(),
                     .max_source_tokens = config.max_source_tokens(),
                     .max_beam_size = config.max_beam_size(),
                     .max_hypotheses = config.max_hypotheses()};
  options->max_message_bytes = static_cast<int>(config.max_message_bytes());
  options->documents = {.max_bytes = static_cast<size_t>(config.max_document_bytes()),
                        .at_once = config.max_documents()};
  if (const int rows = config.max_batch_rows(); rows > 0 && rows < config.max_beam_size()) {
    return InvalidArgumentError("max-batch-rows is ", rows, ", want at least ",
                                config.max_beam_size(), " (max-beam-size)");
  }
  return absl::OkStatus();
}

absl::Status ResolveSecurity(const v1::ServerConfig& config, ServerOptions* options) {
  options->tls = {config.tls_cert(), config.tls_key(), config.tls_client_ca()};
  RETURN_IF_ERROR(Validate(options->tls));
  AuthOptions& auth = options->auth;
  auth.tokens = config.auth_tokens();
  auth.max_requests_per_principal = config.max_requests_per_principal();
  auth.quota = {.per_minute = static_cast<double>(config.quota_per_minute()),
                .burst = static_cast<double>(config.quota_burst())};
  if (auth.quota.burst > 0 && auth.quota.per_minute == 0) {
    return absl::InvalidArgumentError("quota-burst is given, but no quota-per-minute");
  }
  const bool knows_callers = !auth.tokens.empty() || !options->tls.client_ca.empty();
  for (const auto& [flag, given] :
       {std::pair("max-requests-per-principal", auth.max_requests_per_principal > 0),
        {"quota-per-minute", auth.quota.per_minute > 0}}) {
    if (!given || knows_callers) continue;
    return InvalidArgumentError(
        flag, " is given, but neither auth-tokens nor tls-client-ca identifies callers");
  }
  return absl::OkStatus();
}

absl::Status CheckDefaults(const v1::ServerConfig& config) {
  for (const auto& [flag, defaults] : {std::pair("default-glossary", &config.default_glossaries()),
                                       {"default-memory", &config.default_memories()}}) {
    if (absl::c_any_of(*defaults, [](const v1::DefaultIds& each) { return each.ids().empty(); })) {
      return InvalidArgumentError(flag, " is given without an id");
    }
  }
  return absl::OkStatus();
}

// Gives each part of the process its limit, a share of the memory unless a setting says it.
absl::Status DivideMemory(const v1::ServerConfig& config, ServerOptions* options) {
  constexpr size_t kMostAnswers = 128 << 20;
  constexpr int64_t kMostStored = 256 << 20, kMostIndexed = 512 << 20, kOnDisk = int64_t{4} << 30;
  if (config.memory_limit() > 0) options->memory = static_cast<size_t>(config.memory_limit());
  const size_t memory = options->memory;
  size_t& keys_values = options->pool.kv_capacity_bytes;
  // What is left by those large parts that have a setting is shared.
  const size_t set = keys_values + options->pool.cache_bytes + options->model_memory;
  const size_t rest = memory - std::min(memory, set);
  const auto sixteenth = static_cast<int64_t>(rest / 16);
  if (keys_values == 0) keys_values = rest / 4;
  options->documents.memory = rest / 8;
  // One caller's half has room for the largest message, and for its bytes while they arrive.
  const auto message = static_cast<size_t>(options->max_message_bytes);
  options->requests_memory = std::max(rest / 16, 2 * (message + MemoryOfMessage(message)));
  options->answers.all = std::min(kMostAnswers, rest / 16);
  options->answers.holder = options->answers.all / 4;
  options->index_bytes =
      config.index_bytes() > 0 ? config.index_bytes() : std::min(kMostIndexed, sixteenth);
  const bool in_memory = config.store() == "memory";
  options->store_bytes = config.store_bytes();
  if (options->store_bytes == 0) {
    options->store_bytes = in_memory ? std::min(kMostStored, sixteenth) : kOnDisk;
  }
  if (in_memory) options->waiting_documents = std::min(kMostStored, options->store_bytes);
  const std::pair<const char*, size_t> parts[] = {
      {"kv-cache-bytes", keys_values},
      {"cache-bytes", options->pool.cache_bytes},
      {"model-memory", options->model_memory},
      {"index-bytes", static_cast<size_t>(options->index_bytes)},
      {"store-bytes", in_memory ? static_cast<size_t>(options->store_bytes) : 0},
      {"waiting documents", in_memory ? static_cast<size_t>(options->waiting_documents) : 0},
      {"documents", options->documents.memory},
      {"requests", options->requests_memory},
      {"answers", options->answers.all}};
  size_t sum = 0;
  std::string all;
  for (const auto& [part, bytes] : parts) {
    sum += bytes;
    if (bytes > 0) absl::StrAppend(&all, all.empty() ? "" : ", ", part, " ", bytes);
  }
  if (sum <= memory) return absl::OkStatus();
  return InvalidArgumentError("memory-limit is ", memory,
                              " bytes, but its parts together may take ", sum, " (", all,
                              "): want a higher limit, or less for one of them");
}

void ResolveConnections(const v1::ServerConfig& config, ConnectionOptions* options) {
  options->keepalive_time = ToDuration(config.keepalive_time());
  options->keepalive_timeout = ToDuration(config.keepalive_timeout());
  if (config.has_max_connection_age()) options->max_age = ToDuration(config.max_connection_age());
  options->max_age_grace = ToDuration(config.max_connection_age_grace());
}

// "https://example.org", without a path, as browsers send it.
bool IsOrigin(const std::string& origin) {
  const size_t scheme = origin.find("://");
  return origin == "*" || (scheme != origin.npos && scheme > 0 && origin.size() > scheme + 3 &&
                           origin.find_first_of("/ ,\r\n", scheme + 3) == origin.npos);
}

absl::Status ResolveHttp(const v1::ServerConfig& config, ServerOptions* options) {
  for (const std::string& origin : config.cors_origins()) {
    if (IsOrigin(origin)) continue;
    return InvalidArgumentError("cors-origin is \"", origin,
                                "\", want for example https://example.org, or *");
  }
  options->compat.clear();
  if (config.compat() == "none") return absl::OkStatus();
  for (const absl::string_view name : absl::StrSplit(config.compat(), ',')) {
    if (!absl::c_linear_search(kCompatNames, name)) {
      return InvalidArgumentError("compat: there is no \"", name, "\", want some of ",
                                  absl::StrJoin(kCompatNames, ","), ", or none");
    }
    options->compat.emplace_back(name);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::ServerConfig> ParseConfig(const std::string& text) {
  FirstError errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  v1::ServerConfig config;
  if (!parser.ParseFromString(text, &config)) return absl::InvalidArgumentError(errors.error());
  return config;
}

absl::StatusOr<ServerOptions> Resolve(const v1::ServerConfig& given) {
  RETURN_IF_ERROR(CheckRanges(given));
  ServerOptions options;
  RETURN_IF_ERROR(ResolveModels(given, &options));
  options.given = given;
  options.config = WithDefaults(given);
  const v1::ServerConfig& config = options.config;
  options.model_poll = absl::Seconds(config.model_poll_seconds());
  RETURN_IF_ERROR(CheckAddress("grpc-address", config.grpc_address()));
  RETURN_IF_ERROR(CheckAddress("http-address", config.http_address()));
  if (config.has_metrics_address()) {
    RETURN_IF_ERROR(CheckAddress("metrics-address", config.metrics_address()));
  }
  RETURN_IF_ERROR(CheckAdminAddress(config));
  RETURN_IF_ERROR(ResolveEngine(config, &options));
  RETURN_IF_ERROR(ResolveLimits(config, &options));
  RETURN_IF_ERROR(ResolveSecurity(config, &options));
  RETURN_IF_ERROR(CheckDefaults(config));
  RETURN_IF_ERROR(DivideMemory(config, &options));
  ResolveConnections(config, &options.connections);
  RETURN_IF_ERROR(ResolveHttp(config, &options));
  options.log = {.level = config.log_level(), .format = config.log_format()};
  RETURN_IF_ERROR(Validate(options.log));
  options.traces.one_in = config.otlp_one_in();
  const std::string& collector = config.otlp_endpoint();
  if (!collector.empty() && !absl::StartsWith(collector, "http://") &&
      !absl::StartsWith(collector, "https://")) {
    return InvalidArgumentError("otlp-endpoint is \"", collector,
                                "\", want for example http://localhost:4318");
  }
  return options;
}

std::string NamesOfFixedChanges(const v1::ServerConfig& before, const v1::ServerConfig& after) {
  std::vector<std::string> names;
  for (const Setting& setting : Settings()) {
    if (setting.changes == Changes::kOnReload) continue;
    google::protobuf::util::MessageDifferencer differencer;
    if (!differencer.CompareWithFields(before, after, {setting.Field()}, {setting.Field()})) {
      names.push_back(setting.field);
    }
  }
  return absl::StrJoin(names, " ");
}

}  // namespace dragoman
