#include "server/config/flags.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "server/compat/names.h"
#include "server/config/config.h"

namespace dragoman {
namespace {

// A flag whose value sets a field of the config.
template <typename T>
CLI::Option* Add(CLI::App* app, const char* name, const char* type, const char* default_value,
                 const char* help, std::function<void(const T&)> set) {
  return app->add_option_function<T>(name, std::move(set), help)
      ->type_name(type)
      ->default_str(default_value);
}

void AddModel(const std::string& value, Flags* flags) {
  const size_t equals = value.find('=');
  if (equals == std::string::npos) {
    flags->error.Update(
        absl::InvalidArgumentError("--model: \"" + value + "\" is not of the form NAME=DIR"));
    return;
  }
  v1::ModelSource* model = flags->config.add_models();
  model->set_name(value.substr(0, equals));
  model->set_directory(value.substr(equals + 1));
}

void AddShortlist(const std::string& value, Flags* flags) {
  const size_t equals = value.find('=');
  const absl::StatusOr<ShortlistSource> source =
      ParseShortlistSource(equals == std::string::npos ? "" : value.substr(equals + 1));
  if (!source.ok()) {
    flags->error.Update(absl::InvalidArgumentError("--shortlist: \"" + value +
                                                   "\" is not of the form NAME=FILE[:FIRST,BEST]"));
    return;
  }
  v1::ModelShortlist* shortlist = flags->config.add_shortlists();
  shortlist->set_model(value.substr(0, equals));
  shortlist->set_file(source->file);
  if (source->first.has_value()) shortlist->set_first(*source->first);
  if (source->best.has_value()) shortlist->set_best(*source->best);
}

void AddCanary(const std::string& value, Flags* flags) {
  const size_t equals = value.find('='), colon = value.rfind(':');
  double percent = 0;
  if (equals == std::string::npos || colon == std::string::npos || colon < equals ||
      !absl::SimpleAtod(value.substr(colon + 1), &percent)) {
    flags->error.Update(absl::InvalidArgumentError("--canary: \"" + value +
                                                   "\" is not of the form NAME=DIR:PERCENT"));
    return;
  }
  v1::ModelCanary* const canary = flags->config.add_canaries();
  canary->set_model(value.substr(0, equals));
  canary->set_directory(value.substr(equals + 1, colon - equals - 1));
  canary->set_percent(percent);
}

// The value of a size flag; an error is stored in `flags`.
int64_t Bytes(const char* flag, const std::string& value, Flags* flags) {
  const absl::StatusOr<int64_t> bytes = ParseBytes(value);
  if (!bytes.ok()) {
    flags->error.Update(absl::InvalidArgumentError(std::string(flag) + ": " +
                                                   std::string(bytes.status().message())));
  }
  return bytes.value_or(0);
}

// Parses a number, or auto.
void SetMaxBatchRows(const std::string& value, Flags* flags) {
  int rows = 0;
  if (value != "auto" && (!absl::SimpleAtoi(value, &rows) || rows < 1)) {
    flags->error.Update(absl::InvalidArgumentError("--max-batch-rows: \"" + value +
                                                   "\" is neither auto nor 1 or more"));
  }
  flags->config.set_max_batch_rows(rows);
}

// Adds a flag whose value is a duration; an error is stored in `flags`.
void AddDuration(CLI::App* app, const char* name, const char* default_value, const char* help,
                 Flags* flags, google::protobuf::Duration* (v1::ServerConfig::*field)()) {
  Add<std::string>(
      app, name, "DURATION", default_value, help, [name, flags, field](const std::string& value) {
        absl::Duration rest;
        if (!absl::ParseDuration(value, &rest) || rest == absl::InfiniteDuration()) {
          flags->error.Update(
              absl::InvalidArgumentError(std::string(name) + ": \"" + value +
                                         "\" is not a duration, want for example 30s or 2m"));
          return;
        }
        google::protobuf::Duration* const duration = (flags->config.*field)();
        duration->set_seconds(absl::IDivDuration(rest, absl::Seconds(1), &rest));
        duration->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
      });
}

// Adds a flag that may be repeated; `add` gets the value of each.  A variable of the environment
// has them in one, separated by semicolons.
void AddRepeated(CLI::App* app, const char* name, const char* type, const char* help,
                 const std::function<void(const std::string&)>& add) {
  app->add_option_function<std::vector<std::string>>(
         name,
         [add](const std::vector<std::string>& values) {
           for (const std::string& value : values) {
             for (const absl::string_view one : absl::StrSplit(value, ';', absl::SkipEmpty())) {
               add(std::string(one));
             }
           }
         },
         help)
      ->type_name(type)
      ->allow_extra_args(false);
}

void AddModelFlags(CLI::App* app, Flags* flags) {
  v1::ServerConfig* const config = &flags->config;
  AddRepeated(app, "--model", "NAME=DIR",
              "A model directory and its name in requests; repeat the flag to serve several",
              [flags](const std::string& v) { AddModel(v, flags); });
  app->add_option_function<std::string>(
         "--models", [=](const std::string& v) { config->set_models_directory(v); },
         "A directory of model directories, such as ende and zhen, which are served as en-de and "
         "zh-en; other pairs go through English, or --pivot")
      ->type_name("DIR");
  Add<std::string>(app, "--default-model", "NAME", "the first --model",
                   "Translates requests that name no model",
                   [=](const std::string& v) { config->set_default_model(v); });
  Add<std::string>(app, "--pivot", "LANGUAGE", "none",
                   "The language to translate through if no model has the requested pair",
                   [=](const std::string& v) { config->set_pivot(v); });
  AddRepeated(app, "--canary", "NAME=DIR:PERCENT",
              "Another version of a model, and the share of its requests that it translates",
              [flags](const std::string& v) { AddCanary(v, flags); });
  Add<int>(app, "--model-poll-seconds", "SECONDS", "0: only on SIGHUP",
           "How often to check model directories and --config for changes",
           [=](int v) { config->set_model_poll_seconds(v); });
}

void AddServerFlags(CLI::App* app, Flags* flags) {
  v1::ServerConfig* const config = &flags->config;
  app->add_option("--config", flags->config_file,
                  "Reads these settings from a file (text format of dragoman.v1.ServerConfig); "
                  "flags take precedence")
      ->type_name("FILE");
  Add<std::string>(app, "--grpc-address", "HOST:PORT", "127.0.0.1:50051",
                   "Where to listen for gRPC; port 0 chooses a free one",
                   [=](const std::string& v) { config->set_grpc_address(v); });
  Add<std::string>(app, "--http-address", "HOST:PORT", "127.0.0.1:9464",
                   "Where to serve JSON over HTTP, /metrics, /healthz and /readyz",
                   [=](const std::string& v) { config->set_http_address(v); });
  Add<std::string>(app, "--metrics-address", "HOST:PORT", "that of HTTP",
                   "Where to serve /metrics, and the probes once more, in plain text",
                   [=](const std::string& v) { config->set_metrics_address(v); });
  AddDuration(
      app, "--drain-delay", "0s",
      "How long to keep serving after SIGTERM, while health checks already report not ready", flags,
      &v1::ServerConfig::mutable_drain_delay);
  AddDuration(app, "--drain-timeout", "30s", "How long calls in flight may continue after SIGTERM",
              flags, &v1::ServerConfig::mutable_drain_timeout);
  Add<std::string>(app, "--log-level", "{trace,debug,info,warn,error,off}", "info",
                   "Which events are logged",
                   [=](const std::string& v) { config->set_log_level(v); });
  Add<std::string>(app, "--log-format", "{text,json}", "text", "text, or json: one object per line",
                   [=](const std::string& v) { config->set_log_format(v); });
  Add<bool>(app, "--log-peers", "{true,false}", "true",
            "Whether the lines of calls that failed have the address of the caller",
            [=](bool v) { config->set_log_peers(v); });
}

void AddEngineFlags(CLI::App* app, Flags* flags) {
  v1::ServerConfig* const config = &flags->config;
  Add<std::string>(app, "--precision", "{auto,float32,bfloat16,int8}", "auto",
                   "auto (int8), float32, bfloat16 or int8",
                   [=](const std::string& v) { config->set_precision(v); });
  Add<std::string>(
      app, "--matmul", "{auto,onednn,native}", "auto",
      "What multiplies matrices: onednn, native (our own kernels), or auto: our own, but oneDNN in "
      "bfloat16, and in int8 with AMX from the number of rows where it is measured to be faster",
      [=](const std::string& v) { config->set_matmul(v); });
  Add<std::string>(app, "--kv-cache-precision", "{auto,float32,bfloat16,int8}", "auto",
                   "Keys and values: float32, bfloat16, int8, or auto (bfloat16 unless "
                   "--precision is float32)",
                   [=](const std::string& v) { config->set_kv_cache_precision(v); });
  Add<int>(app, "--workers", "WORKERS", "available cores / --threads-per-worker",
           "The number of workers, each with its own batch",
           [=](int v) { config->set_workers(v); });
  Add<int>(app, "--threads-per-worker", "THREADS", "1",
           "Threads that share every step of a worker; 1 unless single requests must be quick",
           [=](int v) { config->set_threads_per_worker(v); });
  AddRepeated(app, "--shortlist", "NAME=FILE[:FIRST,BEST]",
              "A vocabulary shortlist of a model: a lexical table, as text or in its binary format",
              [flags](const std::string& v) { AddShortlist(v, flags); });
  Add<std::string>(app, "--max-batch-rows", "HYPOTHESES", "auto",
                   "Live hypotheses that one worker decodes in one turn; auto: 128",
                   [=](const std::string& v) { SetMaxBatchRows(v, flags); });
  Add<int>(app, "--max-encode-tokens", "TOKENS", "twice --max-batch-rows",
           "Source tokens that a worker encodes between two steps; longer sentences take several",
           [=](int v) { config->set_max_encode_tokens(v); });
  Add<std::string>(app, "--kv-cache-bytes", "SIZE", "a quarter of the memory",
                   "Memory for keys and values, all workers together: 512MiB, 4GiB",
                   [=](const std::string& v) {
                     config->set_kv_cache_bytes(Bytes("--kv-cache-bytes", v, flags));
                   });
  Add<std::string>(
      app, "--cache-bytes", "SIZE", "0: none", "Memory for remembered translations: 64MiB, 1GiB",
      [=](const std::string& v) { config->set_cache_bytes(Bytes("--cache-bytes", v, flags)); });
  Add<int>(app, "--max-waiting-requests", "REQUESTS", "256",
           "Requests of each priority that may wait; more get RESOURCE_EXHAUSTED",
           [=](int v) { config->set_max_waiting_requests(v); });
  Add<int>(app, "--max-waiting-tokens", "TOKENS", "65536",
           "Source tokens of each priority that may wait",
           [=](int v) { config->set_max_waiting_tokens(v); });
}

void AddLimitFlags(CLI::App* app, Flags* flags) {
  v1::ServerConfig* const config = &flags->config;
  Add<int>(app, "--max-texts", "TEXTS", "128", "Texts in one request",
           [=](int v) { config->set_max_texts(v); });
  Add<int>(app, "--max-characters", "CHARACTERS", "30000",
           "Code points in one request, all texts together",
           [=](int v) { config->set_max_characters(v); });
  Add<int>(app, "--max-source-tokens", "TOKENS", "512",
           "Tokens of a sentence, or the model's own limit if that is lower",
           [=](int v) { config->set_max_source_tokens(v); });
  Add<int>(app, "--max-beam-size", "HYPOTHESES", "16", "Beam size that a request may ask for",
           [=](int v) { config->set_max_beam_size(v); });
  Add<int>(app, "--max-hypotheses", "HYPOTHESES", "8",
           "Translations of one text that a request may ask for",
           [=](int v) { config->set_max_hypotheses(v); });
  Add<std::string>(app, "--max-message-bytes", "SIZE", "1MiB", "The largest message to accept",
                   [=](const std::string& v) {
                     config->set_max_message_bytes(Bytes("--max-message-bytes", v, flags));
                   });
  Add<std::string>(app, "--max-document-bytes", "SIZE", "32MiB", "The largest file to translate",
                   [=](const std::string& v) {
                     config->set_max_document_bytes(Bytes("--max-document-bytes", v, flags));
                   });
  Add<int>(app, "--max-documents", "FILES", "8",
           "Files that are translated at a time; more get RESOURCE_EXHAUSTED; 0: none are",
           [=](int v) { config->set_max_documents(v); });
}

void AddSecurityFlags(CLI::App* app, Flags* flags) {
  v1::ServerConfig* const config = &flags->config;
  Add<std::string>(
      app, "--tls-cert", "FILE", "plain text",
      "Serves gRPC and HTTP over TLS with this PEM certificate chain; read again when it changes",
      [=](const std::string& v) { config->set_tls_cert(v); });
  Add<std::string>(app, "--tls-key", "FILE", "none", "The private key of --tls-cert",
                   [=](const std::string& v) { config->set_tls_key(v); });
  Add<std::string>(app, "--tls-client-ca", "FILE", "none",
                   "Accepts only clients with a certificate from one of these authorities",
                   [=](const std::string& v) { config->set_tls_client_ca(v); });
  Add<std::string>(
      app, "--auth-tokens", "FILE", "none",
      "Accepts only calls with a bearer token from this file (lines `principal token`); "
      "read again when it changes",
      [=](const std::string& v) { config->set_auth_tokens(v); });
  Add<int>(app, "--max-requests-per-principal", "REQUESTS", "any number",
           "Calls that one principal may have in flight; more get RESOURCE_EXHAUSTED",
           [=](int v) { config->set_max_requests_per_principal(v); });
  Add<int>(app, "--metrics-principals", "PRINCIPALS", "100",
           "How many principals /metrics names, each with its calls; 0: none",
           [=](int v) { config->set_metrics_principals(v); });
  Add<int64_t>(
      app, "--quota-per-minute", "ROWS", "any number",
      "Work that one principal may ask for in a minute: source tokens + hypotheses x steps; "
      "more is RESOURCE_EXHAUSTED",
      [=](int64_t v) { config->set_quota_per_minute(v); });
  Add<int64_t>(app, "--quota-burst", "ROWS", "--quota-per-minute",
               "The part of it that may be asked for at once after a pause",
               [=](int64_t v) { config->set_quota_burst(v); });
}

void AddConnectionFlags(CLI::App* app, Flags* flags) {
  Add<int>(app, "--max-connections", "CONNECTIONS", "10000, or what the limit of open files allows",
           "The most connections of the gRPC port; further ones are closed at once",
           [flags](int v) { flags->config.set_max_connections(v); });
  AddDuration(app, "--keepalive-time", "1m", "Pings a client that has been silent for this long",
              flags, &v1::ServerConfig::mutable_keepalive_time);
  AddDuration(app, "--keepalive-timeout", "20s",
              "Disconnects a client that does not answer the ping for this long", flags,
              &v1::ServerConfig::mutable_keepalive_timeout);
  AddDuration(app, "--max-connection-age", "any age",
              "Asks a client to reconnect after this long, which spreads clients over new servers",
              flags, &v1::ServerConfig::mutable_max_connection_age);
  AddDuration(app, "--max-connection-age-grace", "1m",
              "How long calls may continue on a connection that is too old", flags,
              &v1::ServerConfig::mutable_max_connection_age_grace);
}

void AddHttpFlags(CLI::App* app, Flags* flags) {
  v1::ServerConfig* const config = &flags->config;
  Add<int>(app, "--http-threads", "THREADS", "the cores, at most 4", "Threads of the HTTP port",
           [=](int v) { config->set_http_threads(v); });
  Add<int>(app, "--max-http-connections", "CONNECTIONS",
           "1024, or a quarter of what the limit of open files allows",
           "The most connections of the HTTP port; further ones are closed at once",
           [=](int v) { config->set_max_http_connections(v); });
  AddDuration(app, "--http-header-timeout", "10s",
              "How long a client may take for the headers of an HTTP request", flags,
              &v1::ServerConfig::mutable_http_header_timeout);
  AddDuration(app, "--http-body-timeout", "30s", "How long it may take for the body", flags,
              &v1::ServerConfig::mutable_http_body_timeout);
  AddDuration(app, "--http-write-timeout", "30s",
              "How long it may take to read an answer, or a part of a stream", flags,
              &v1::ServerConfig::mutable_http_write_timeout);
  AddDuration(app, "--http-idle-timeout", "75s", "How long it may pause between two requests",
              flags, &v1::ServerConfig::mutable_http_idle_timeout);
  Add<std::string>(app, "--compat", "NAMES", AllCompatNames().c_str(),
                   "Other APIs that the HTTP port speaks, or none",
                   [=](const std::string& v) { config->set_compat(v); });
  AddRepeated(
      app, "--cors-origin", "ORIGIN",
      "An origin whose pages may call the HTTP API from a browser, or *; repeat it for several",
      [config](const std::string& v) { config->add_cors_origins(v); });
}

// Lets the environment set each flag: --log-level by DRAGOMAN_LOG_LEVEL.
void AddVariables(CLI::App* app) {
  for (CLI::Option* const option : app->get_options()) {
    if (option->get_lnames().empty() || option->get_name() == "--help") continue;
    const std::string name = absl::AsciiStrToUpper(option->get_lnames().front());
    option->envname("DRAGOMAN_" + absl::StrReplaceAll(name, {{"-", "_"}}));
  }
}

}  // namespace

void AddFlags(CLI::App* app, Flags* flags) {
  AddModelFlags(app, flags);
  AddServerFlags(app, flags);
  AddEngineFlags(app, flags);
  AddLimitFlags(app, flags);
  AddSecurityFlags(app, flags);
  AddConnectionFlags(app, flags);
  AddHttpFlags(app, flags);
  AddVariables(app);
  app->add_option("--check", flags->check,
                  "Reports on a model directory, without serving it: what it is, what is missing "
                  "or unused, estimated memory and speed")
      ->type_name("DIR");
  app->add_flag("--without-weights", flags->without_weights,
                "With --check: whether the files beside the weights, which are not there yet, "
                "describe a model that can be served");
  app->add_flag("--check-config", flags->check_config,
                "Reports what these settings would serve and what is wrong with them, without "
                "serving; the exit code is 0 only if nothing is");
}

}  // namespace dragoman
