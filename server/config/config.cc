#include "server/config/config.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/base/status.h"
#include "server/compat/names.h"
#include "server/config/resolve_models.h"

namespace dragoman {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (error_.empty()) error_ = absl::StrCat("line ", line + 1, ": ", message);
  }
  const std::string& error() const { return error_; }

 private:
  std::string error_;
};

// Sets *option to the field's value, if it is present and within the range.
#define DRAGOMAN_RESOLVE_NUMBER(field, flag, minimum, maximum, option)                        \
  do {                                                                                        \
    if (config.has_##field()) {                                                               \
      if (config.field() < (minimum) || config.field() > (maximum)) {                         \
        return absl::InvalidArgumentError(                                                    \
            absl::StrCat(flag, " is ", config.field(), ", want ", minimum, " to ", maximum)); \
      }                                                                                       \
      (option) = config.field();                                                              \
    }                                                                                         \
  } while (false)

absl::Status CheckAddress(const char* flag, const std::string& address) {
  const size_t colon = address.rfind(':');
  int port = -1;
  if (colon != std::string::npos && colon > 0) {
    const char* const end = address.data() + address.size();
    const auto [stop, error] = std::from_chars(address.data() + colon + 1, end, port);
    if (error != std::errc() || stop != end) port = -1;
  }
  if (port < 0 || port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " is \"", address, "\", want HOST:PORT with a port of 0 to 65535"));
  }
  return absl::OkStatus();
}

absl::Status ResolveEngine(const v1::ServerConfig& config, ServerOptions* options) {
  if (config.has_precision()) {
    ASSIGN_OR_RETURN(options->precision, ParsePrecision(config.precision()));
  }
  if (config.has_matmul()) {
    ASSIGN_OR_RETURN(options->matmul, ParseMatmul(config.matmul()));
  }
  if (config.has_kv_cache_precision()) {
    const std::string& name = config.kv_cache_precision();
    const absl::StatusOr<Precision> precision = ParsePrecision(name);
    if (!precision.ok()) {
      return absl::InvalidArgumentError("kv-cache-precision is \"" + name +
                                        "\", want auto, float32, bfloat16 or int8");
    }
    options->keys_values = *precision;
  }
  WorkerPoolOptions& pool = options->pool;
  constexpr int kMaxThreads = 1024;
  DRAGOMAN_RESOLVE_NUMBER(workers, "workers", 0, kMaxThreads, pool.workers);
  DRAGOMAN_RESOLVE_NUMBER(threads_per_worker, "threads-per-worker", 1, ThreadTeam::kMaxSize,
                          pool.threads_per_worker);
  if (const int threads = pool.workers * pool.threads_per_worker; threads > kMaxThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("workers x threads-per-worker is ", threads, ", want at most ", kMaxThreads));
  }
  DRAGOMAN_RESOLVE_NUMBER(max_batch_rows, "max-batch-rows", 0, 65536, pool.max_batch_rows);
  DRAGOMAN_RESOLVE_NUMBER(max_encode_tokens, "max-encode-tokens", 0, 1 << 20,
                          pool.max_encode_tokens);
  DRAGOMAN_RESOLVE_NUMBER(kv_cache_bytes, "kv-cache-bytes", 0, int64_t{1} << 50,
                          pool.kv_capacity_bytes);
  DRAGOMAN_RESOLVE_NUMBER(cache_bytes, "cache-bytes", 0, int64_t{1} << 50, pool.cache_bytes);
  DRAGOMAN_RESOLVE_NUMBER(max_waiting_requests, "max-waiting-requests", 1, kMaxInt,
                          pool.max_waiting_requests);
  DRAGOMAN_RESOLVE_NUMBER(max_waiting_tokens, "max-waiting-tokens", 1, kMaxInt,
                          pool.max_waiting_tokens);
  return absl::OkStatus();
}

absl::Status ResolveLimits(const v1::ServerConfig& config, ServerOptions* options) {
  Limits& limits = options->limits;
  DRAGOMAN_RESOLVE_NUMBER(max_texts, "max-texts", 1, 1 << 20, limits.max_texts);
  DRAGOMAN_RESOLVE_NUMBER(max_characters, "max-characters", 1, 1 << 28, limits.max_characters);
  DRAGOMAN_RESOLVE_NUMBER(max_source_tokens, "max-source-tokens", 1, 1 << 20,
                          limits.max_source_tokens);
  DRAGOMAN_RESOLVE_NUMBER(max_beam_size, "max-beam-size", 1, 256, limits.max_beam_size);
  DRAGOMAN_RESOLVE_NUMBER(max_hypotheses, "max-hypotheses", 1, 256, limits.max_hypotheses);
  DRAGOMAN_RESOLVE_NUMBER(max_message_bytes, "max-message-bytes", 1024, kMaxInt,
                          options->max_message_bytes);
  DRAGOMAN_RESOLVE_NUMBER(max_document_bytes, "max-document-bytes", 1024, kMaxInt,
                          options->documents.max_bytes);
  DRAGOMAN_RESOLVE_NUMBER(max_documents, "max-documents", 0, 1024, options->documents.at_once);
  if (const int rows = options->pool.max_batch_rows; rows > 0 && rows < limits.max_beam_size) {
    return absl::InvalidArgumentError(absl::StrCat("max-batch-rows is ", rows, ", want at least ",
                                                   limits.max_beam_size, " (max-beam-size)"));
  }
  return absl::OkStatus();
}

// Sets *option to the field's value, if it is present and within the range.
absl::Status ResolveDuration(const char* flag, bool given, const google::protobuf::Duration& value,
                             absl::Duration minimum, absl::Duration* option) {
  if (!given) return absl::OkStatus();
  *option = absl::Seconds(value.seconds()) + absl::Nanoseconds(value.nanos());
  if (*option < minimum || *option > absl::Hours(24)) {
    return absl::InvalidArgumentError(absl::StrCat(flag, " is ", absl::FormatDuration(*option),
                                                   ", want ", absl::FormatDuration(minimum),
                                                   " to 24h"));
  }
  return absl::OkStatus();
}

absl::Status ResolveSecurity(const v1::ServerConfig& config, ServerOptions* options) {
  options->tls = {config.tls_cert(), config.tls_key(), config.tls_client_ca()};
  RETURN_IF_ERROR(Validate(options->tls));
  AuthOptions& auth = options->auth;
  auth.tokens = config.auth_tokens();
  DRAGOMAN_RESOLVE_NUMBER(max_requests_per_principal, "max-requests-per-principal", 0, kMaxInt,
                          auth.max_requests_per_principal);
  DRAGOMAN_RESOLVE_NUMBER(metrics_principals, "metrics-principals", 0, 10'000,
                          options->metrics_principals);
  constexpr int64_t kMostWork = int64_t{1} << 50;
  DRAGOMAN_RESOLVE_NUMBER(quota_per_minute, "quota-per-minute", 0, kMostWork,
                          auth.quota.per_minute);
  DRAGOMAN_RESOLVE_NUMBER(quota_burst, "quota-burst", 0, kMostWork, auth.quota.burst);
  if (auth.quota.burst > 0 && auth.quota.per_minute == 0) {
    return absl::InvalidArgumentError("quota-burst is given, but no quota-per-minute");
  }
  const bool knows_callers = !auth.tokens.empty() || !options->tls.client_ca.empty();
  for (const auto& [flag, given] :
       {std::pair("max-requests-per-principal", auth.max_requests_per_principal > 0),
        {"quota-per-minute", auth.quota.per_minute > 0}}) {
    if (!given || knows_callers) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        flag, " is given, but neither auth-tokens nor tls-client-ca identifies callers"));
  }
  return absl::OkStatus();
}

absl::Status ResolveConnections(const v1::ServerConfig& config, ConnectionOptions* options) {
  RETURN_IF_ERROR(ResolveDuration("keepalive-time", config.has_keepalive_time(),
                                  config.keepalive_time(), absl::Seconds(1),
                                  &options->keepalive_time));
  RETURN_IF_ERROR(ResolveDuration("keepalive-timeout", config.has_keepalive_timeout(),
                                  config.keepalive_timeout(), absl::Seconds(1),
                                  &options->keepalive_timeout));
  RETURN_IF_ERROR(ResolveDuration("max-connection-age", config.has_max_connection_age(),
                                  config.max_connection_age(), absl::Seconds(1),
                                  &options->max_age));
  return ResolveDuration("max-connection-age-grace", config.has_max_connection_age_grace(),
                         config.max_connection_age_grace(), absl::ZeroDuration(),
                         &options->max_age_grace);
}

// "https://example.org", without a path, as browsers send it.
bool IsOrigin(const std::string& origin) {
  const size_t scheme = origin.find("://");
  return origin == "*" || (scheme != origin.npos && scheme > 0 && origin.size() > scheme + 3 &&
                           origin.find_first_of("/ ,\r\n", scheme + 3) == origin.npos);
}

absl::Status ResolveHttp(const v1::ServerConfig& config, HttpPortOptions* options) {
  DRAGOMAN_RESOLVE_NUMBER(http_threads, "http-threads", 0, 256, options->threads);
  DRAGOMAN_RESOLVE_NUMBER(max_http_connections, "max-http-connections", 0, kMaxInt,
                          options->max_connections);
  const absl::Duration least = absl::Milliseconds(100);
  RETURN_IF_ERROR(ResolveDuration("http-header-timeout", config.has_http_header_timeout(),
                                  config.http_header_timeout(), least, &options->header_timeout));
  RETURN_IF_ERROR(ResolveDuration("http-body-timeout", config.has_http_body_timeout(),
                                  config.http_body_timeout(), least, &options->body_timeout));
  RETURN_IF_ERROR(ResolveDuration("http-write-timeout", config.has_http_write_timeout(),
                                  config.http_write_timeout(), least, &options->write_timeout));
  RETURN_IF_ERROR(ResolveDuration("http-idle-timeout", config.has_http_idle_timeout(),
                                  config.http_idle_timeout(), least, &options->idle_timeout));
  for (const std::string& origin : config.cors_origins()) {
    if (!IsOrigin(origin)) {
      return absl::InvalidArgumentError("cors-origin is \"" + origin +
                                        "\", want for example https://example.org, or *");
    }
    options->cors_origins.push_back(origin);
  }
  if (!config.has_compat()) return absl::OkStatus();
  options->compat.clear();
  if (config.compat() == "none") return absl::OkStatus();
  for (const absl::string_view name : absl::StrSplit(config.compat(), ',')) {
    if (!KnowsCompat(std::string(name))) {
      return absl::InvalidArgumentError(absl::StrCat(
          "compat: there is no \"", name, "\", want some of ", AllCompatNames(), ", or none"));
    }
    options->compat.emplace_back(name);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> ParseBytes(const std::string& text) {
  int64_t number = -1;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit(stop, end - stop);
  for (const auto& [name, shift] : {std::pair<std::string_view, int>{"", 0},
                                    {"KiB", 10},
                                    {"MiB", 20},
                                    {"GiB", 30},
                                    {"TiB", 40}}) {
    if (unit != name || error != std::errc() || number < 0) continue;
    if (number > std::numeric_limits<int64_t>::max() >> shift) break;
    return number << shift;
  }
  return absl::InvalidArgumentError("\"" + text +
                                    "\" is not a size, want for example 512MiB or 4GiB");
}

absl::StatusOr<v1::ServerConfig> ParseConfig(const std::string& text) {
  FirstError errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  v1::ServerConfig config;
  if (!parser.ParseFromString(text, &config)) return absl::InvalidArgumentError(errors.error());
  return config;
}

absl::StatusOr<ServerOptions> Resolve(const v1::ServerConfig& config) {
  ServerOptions options;
  RETURN_IF_ERROR(ResolveModels(config, &options));
  int poll_seconds = 0;
  DRAGOMAN_RESOLVE_NUMBER(model_poll_seconds, "model-poll-seconds", 0, 86400, poll_seconds);
  options.model_poll = absl::Seconds(poll_seconds);
  if (config.has_grpc_address()) options.grpc_address = config.grpc_address();
  if (config.has_http_address()) options.http_address = config.http_address();
  RETURN_IF_ERROR(CheckAddress("grpc-address", options.grpc_address));
  RETURN_IF_ERROR(CheckAddress("http-address", options.http_address));
  options.metrics_address = config.metrics_address();
  if (config.has_metrics_address()) {
    RETURN_IF_ERROR(CheckAddress("metrics-address", options.metrics_address));
  }
  RETURN_IF_ERROR(ResolveEngine(config, &options));
  RETURN_IF_ERROR(ResolveLimits(config, &options));
  RETURN_IF_ERROR(ResolveSecurity(config, &options));
  DRAGOMAN_RESOLVE_NUMBER(max_connections, "max-connections", 0, kMaxInt, options.max_connections);
  RETURN_IF_ERROR(ResolveConnections(config, &options.connections));
  RETURN_IF_ERROR(ResolveHttp(config, &options.http));
  RETURN_IF_ERROR(ResolveDuration("drain-delay", config.has_drain_delay(), config.drain_delay(),
                                  absl::ZeroDuration(), &options.drain_delay));
  RETURN_IF_ERROR(ResolveDuration("drain-timeout", config.has_drain_timeout(),
                                  config.drain_timeout(), absl::ZeroDuration(),
                                  &options.drain_timeout));
  if (config.has_log_level()) options.log.level = config.log_level();
  if (config.has_log_format()) options.log.format = config.log_format();
  RETURN_IF_ERROR(Validate(options.log));
  if (config.has_log_peers()) options.log_peers = config.log_peers();
  options.config = config;
  return options;
}

std::string NamesOfFixedChanges(const v1::ServerConfig& before, const v1::ServerConfig& after) {
  static constexpr const char* kTakenOver[] = {"models",    "models_directory", "default_model",
                                               "pivot",     "shortlists",       "canaries",
                                               "log_level", "log_format"};
  std::vector<std::string> names;
  const google::protobuf::Descriptor& fields = *v1::ServerConfig::descriptor();
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::FieldDescriptor* const field = fields.field(i);
    if (std::find(std::begin(kTakenOver), std::end(kTakenOver), field->name()) !=
        std::end(kTakenOver)) {
      continue;
    }
    google::protobuf::util::MessageDifferencer differencer;
    if (!differencer.CompareWithFields(before, after, {field}, {field})) {
      names.push_back(field->name());
    }
  }
  return absl::StrJoin(names, " ");
}

}  // namespace dragoman
