#include "server/config/settings.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "engine/base/status.h"
#include "engine/base/thread_team.h"

namespace dragoman {
namespace {

using enum SettingKind;
using enum Changes;
using google::protobuf::FieldDescriptor;

constexpr int64_t kMaxInt = std::numeric_limits<int>::max();
constexpr int64_t kMaxWork = int64_t{1} << 50;
constexpr int64_t kDay = 24 * 60 * 60 * 1000;

constexpr Setting kSettings[] = {
    {"models", kList, kOnReload, "NAME=DIR[,lora=DIR]", "",
     "A model directory and its name in requests, with a LoRA adapter; repeat the flag to serve "
     "several",
     0, 0, nullptr, "model"},
    {"models_directory", kText, kOnReload, "DIR", "",
     "A directory of model directories, such as ende and zhen, which are served as en-de and "
     "zh-en; other pairs go through English, or --pivot",
     0, 0, nullptr, "models"},
    {"model_memory", kSize, kAtStart, "SIZE", "",
     "Memory for models: those of --models are loaded when they are first asked for, and the ones "
     "that were used least recently make room",
     0, kMaxWork, "0: all are loaded at the start and stay"},
    {"pinned_models", kList, kOnReload, "NAME", "",
     "A model of --models that is loaded at the start and stays in --model-memory", 0, 0, nullptr,
     "pin"},
    {"packed_cache", kText, kAtStart, "DIR", "",
     "Where packed int8 weights are kept from one load to the next, and shared by processes: a "
     "directory, beside (in .dragoman in that of each model), or none",
     0, 0, "with --model-memory dragoman in $XDG_CACHE_HOME or ~/.cache; else none"},
    {"default_model", kText, kOnReload, "NAME", "", "Translates requests that name no model", 0, 0,
     "the first --model"},
    {"pivot", kText, kOnReload, "LANGUAGE", "",
     "The language to translate through if no model has the requested pair", 0, 0, "none"},
    {"canaries", kList, kOnReload, "NAME=DIR:PERCENT", "",
     "Another version of a model, and the share of its requests that it translates", 0, 0, nullptr,
     "canary"},
    {"model_poll_seconds", kNumber, kAtStart, "SECONDS", "",
     "How often to check model directories and --config for changes", 0, 86400,
     "0: only on SIGHUP"},

    {"grpc_address", kText, kAtStart, "HOST:PORT", "127.0.0.1:50051",
     "Where to listen for gRPC; port 0 chooses a free one"},
    {"http_address", kText, kAtStart, "HOST:PORT", "127.0.0.1:9464",
     "Where to serve JSON over HTTP, /metrics, /healthz and /readyz"},
    {"metrics_address", kText, kAtStart, "HOST:PORT", "",
     "Where to serve /metrics, and the probes once more, in plain text", 0, 0, "that of HTTP"},
    {"admin_address", kText, kAtStart, "ADDRESS", "",
     "Where operators call AdminService: unix:PATH, for the owner of the process, or HOST:PORT, "
     "for principals of --auth-tokens with the right to it",
     0, 0, "none"},
    {"drain_delay", kDuration, kAtStart, "DURATION", "0s",
     "How long to keep serving after SIGTERM, while health checks already report not ready", 0,
     kDay},
    {"drain_timeout", kDuration, kAtStart, "DURATION", "30s",
     "How long calls in flight may continue after SIGTERM", 0, kDay},
    {"log_level", kText, kOnReload, "{trace,debug,info,warn,error,off}", "info",
     "Which events are logged"},
    {"log_format", kText, kOnReload, "{text,json}", "text", "text, or json: one object per line"},
    {"log_peers", kSwitch, kAtStart, "{true,false}", "true",
     "Whether the lines of calls that failed have the address of the caller"},
    {"otlp_endpoint", kText, kAtStart, "URL", "",
     "The OpenTelemetry collector to send traces to, as OTLP over HTTP: http://localhost:4318", 0,
     0, "none"},
    {"otlp_one_in", kNumber, kAtStart, "CALLS", "100",
     "Of the calls without a traceparent, one in so many is traced; 0: none", 0, kMaxInt},
    {"otlp_headers", kText, kAtStart, "FILE", "",
     "A file with headers for the collector, such as its token: lines `name: value`", 0, 0, "none"},
    {"debug_services", kSwitch, kAtStart, "{true,false}", "false",
     "Whether gRPC's channelz tells everybody who can call about connections and calls, and "
     "reflection about the methods even with --auth-tokens"},

    {"small", kSwitch, kAtStart, "{true,false}", "false",
     "For machines with little memory: one worker, and small defaults of other settings"},
    {"precision", kText, kAtStart, "{auto,float32,bfloat16,int8}", "auto",
     "auto (int8), float32, bfloat16 or int8"},
    {"matmul", kText, kAtStart, "{auto,onednn,native}", "auto",
     "What multiplies matrices: onednn, native (our own kernels), or auto: our own, but oneDNN in "
     "bfloat16, and in int8 with AMX from the number of rows where it is measured to be faster"},
    {"kv_cache_precision", kText, kAtStart, "{auto,float32,bfloat16,int8}", "auto",
     "Keys and values: float32, bfloat16, int8, or auto (bfloat16 unless --precision is float32)"},
    {"workers", kNumber, kAtStart, "WORKERS", "", "The number of workers, each with its own batch",
     0, 1024, "available cores / --threads-per-worker"},
    {"threads_per_worker", kNumber, kAtStart, "THREADS", "1",
     "Threads that share every step of a worker; 1 unless single requests must be quick", 1,
     ThreadTeam::kMaxSize},
    {"shortlists", kList, kOnReload, "NAME=FILE[:FIRST,BEST]", "",
     "A vocabulary shortlist of a model: a lexical table, as text or in its binary format", 0, 0,
     nullptr, "shortlist"},
    {"max_batch_rows", kRows, kAtStart, "HYPOTHESES", "auto",
     "Live hypotheses that one worker decodes in one turn; auto: 128", 0, 65536},
    {"max_encode_tokens", kNumber, kAtStart, "TOKENS", "",
     "Source tokens that a worker encodes between two steps; longer sentences take several", 0,
     1 << 20, "twice --max-batch-rows"},
    {"memory_limit", kSize, kAtStart, "SIZE", "",
     "Memory that the process may take, of which each of its parts gets a limit (docs/limits.md)",
     0, kMaxWork, "that of the control group or the machine"},
    {"kv_cache_bytes", kSize, kAtStart, "SIZE", "",
     "Memory for keys and values, all workers together: 512MiB, 4GiB", 0, kMaxWork,
     "a quarter of --memory-limit"},
    {"cache_bytes", kSize, kAtStart, "SIZE", "", "Memory for remembered translations: 64MiB, 1GiB",
     0, kMaxWork, "0: none"},
    {"max_waiting_requests", kNumber, kAtStart, "REQUESTS", "256",
     "Requests of each priority that may wait; more get RESOURCE_EXHAUSTED", 1, kMaxInt},
    {"max_waiting_tokens", kNumber, kAtStart, "TOKENS", "65536",
     "Source tokens of each priority that may wait", 1, kMaxInt},

    {"max_texts", kNumber, kAtStart, "TEXTS", "128", "Texts in one request", 1, 1 << 20},
    {"max_characters", kNumber, kAtStart, "CHARACTERS", "131072",
     "Code points in one request, all texts together", 1, 1 << 28},
    {"max_source_tokens", kNumber, kAtStart, "TOKENS", "512",
     "Tokens of a sentence, or the model's own limit if that is lower", 1, 1 << 20},
    {"max_beam_size", kNumber, kAtStart, "HYPOTHESES", "16", "Beam size that a request may ask for",
     1, 256},
    {"max_hypotheses", kNumber, kAtStart, "HYPOTHESES", "8",
     "Translations of one text that a request may ask for", 1, 256},
    {"max_message_bytes", kSize, kAtStart, "SIZE", "1MiB", "The largest message to accept", 1024,
     kMaxInt},
    {"max_document_bytes", kSize, kAtStart, "SIZE", "32MiB", "The largest file to translate", 1024,
     kMaxInt},
    {"max_documents", kNumber, kAtStart, "FILES", "16",
     "Files that are translated at a time, of one caller half of them; more get "
     "RESOURCE_EXHAUSTED; 0: none are",
     0, 1024},

    {"tls_cert", kText, kAtStart, "FILE", "",
     "Serves gRPC and HTTP over TLS with this PEM certificate chain; read again when it changes", 0,
     0, "plain text"},
    {"tls_key", kText, kAtStart, "FILE", "", "The private key of --tls-cert", 0, 0, "none"},
    {"tls_client_ca", kText, kAtStart, "FILE", "",
     "Accepts only clients with a certificate from one of these authorities", 0, 0, "none"},
    {"auth_tokens", kText, kAtStart, "FILE", "",
     "Accepts only calls with a bearer token from this file (lines `principal token`, and what the "
     "principal may do); read again when it changes",
     0, 0, "none"},
    {"store", kText, kAtStart, "STORE", "memory",
     "Where glossaries and translation memories are kept: memory, sqlite:PATH, or "
     "postgresql://USER@HOST/DATABASE, which several servers share (docs/store.md)"},
    {"store_bytes", kSize, kAtStart, "SIZE", "",
     "What may be kept; each principal may keep a quarter of it", 1 << 20, 0,
     "4GiB; in memory, a sixteenth of --memory-limit, at most 256MiB"},
    {"index_bytes", kSize, kAtStart, "SIZE", "",
     "Memory for the indices of glossaries and translation memories that are used", 1 << 20, 0,
     "a sixteenth of --memory-limit, at most 512MiB"},
    {"glossary_files", kText, kAtStart, "DIR", "",
     "A directory of glossaries as files, which are only read (docs/glossaries.md)", 0, 0, "none"},
    {"memory_files", kText, kAtStart, "DIR", "",
     "A directory of translation memories as files, which are only read (docs/memory.md)", 0, 0,
     "none"},
    {"default_glossaries", kList, kAtStart, "[PRINCIPAL@]MODEL=ID[,ID]", "",
     "Glossaries that a model's requests use, or those of a principal, whether or not they name "
     "them; without a MODEL, of every one",
     0, 0, nullptr, "default-glossary"},
    {"default_memories", kList, kAtStart, "[PRINCIPAL@]MODEL=ID[,ID]", "",
     "Translation memories that a model's requests use, or those of a principal, whether or not "
     "they name them; without a MODEL, of every one",
     0, 0, nullptr, "default-memory"},
    {"max_requests_per_principal", kNumber, kAtStart, "REQUESTS", "",
     "Calls that one principal may have in flight; more get RESOURCE_EXHAUSTED", 0, kMaxInt,
     "any number"},
    {"metrics_principals", kNumber, kAtStart, "PRINCIPALS", "100",
     "How many principals /metrics names, each with its calls; 0: none", 0, 10'000},
    {"quota_per_minute", kNumber, kAtStart, "ROWS", "",
     "Work that one principal may ask for in a minute: source tokens + hypotheses x steps; more is "
     "RESOURCE_EXHAUSTED",
     0, kMaxWork, "any number"},
    {"quota_burst", kNumber, kAtStart, "ROWS", "",
     "The part of it that may be asked for at once after a pause", 0, kMaxWork,
     "--quota-per-minute"},

    {"max_connections", kNumber, kAtStart, "CONNECTIONS", "",
     "The most connections of the gRPC port; further ones are closed at once", 0, kMaxInt,
     "10000, or what the limit of open files allows"},
    {"keepalive_time", kDuration, kAtStart, "DURATION", "1m",
     "Pings a client that has been silent for this long", 1000, kDay},
    {"keepalive_timeout", kDuration, kAtStart, "DURATION", "20s",
     "Disconnects a client that does not answer the ping for this long", 1000, kDay},
    {"max_connection_age", kDuration, kAtStart, "DURATION", "",
     "Asks a client to reconnect after this long, which spreads clients over new servers", 1000,
     kDay, "any age"},
    {"max_connection_age_grace", kDuration, kAtStart, "DURATION", "1m",
     "How long calls may continue on a connection that is too old", 0, kDay},

    {"http_threads", kNumber, kAtStart, "THREADS", "", "Threads of the HTTP port", 0, 256,
     "the cores, at most 4"},
    {"max_http_connections", kNumber, kAtStart, "CONNECTIONS", "",
     "The most connections of the HTTP port; further ones are closed at once", 0, kMaxInt,
     "1024, or a quarter of what the limit of open files allows"},
    {"http_header_timeout", kDuration, kAtStart, "DURATION", "10s",
     "How long a client may take for the headers of an HTTP request", 100, kDay},
    {"http_body_timeout", kDuration, kAtStart, "DURATION", "30s",
     "How long it may take for the body", 100, kDay},
    {"http_write_timeout", kDuration, kAtStart, "DURATION", "30s",
     "How long it may take to read an answer, or a part of a stream", 100, kDay},
    {"http_idle_timeout", kDuration, kAtStart, "DURATION", "75s",
     "How long it may pause between two requests", 100, kDay},
    {"compat", kText, kAtStart, "NAMES",
     "azure,deepl,deeplx,google,hcfy,immersive-translate,kiss-translator,libretranslate,"
     "open-inference,openai,subtitle-edit",
     "Other APIs that the ports speak, or none"},
    {"cors_origins", kList, kAtStart, "ORIGIN", "",
     "An origin whose pages may call the HTTP API from a browser, or *; repeat it for several", 0,
     0, nullptr, "cors-origin"},
};

// The defaults with --small.
constexpr std::pair<const char*, const char*> kSmall[] = {{"workers", "1"},
                                                          // oneDNN's kernels take 30 MB with AMX.
                                                          {"matmul", "native"},
                                                          {"kv-cache-bytes", "32MiB"},
                                                          {"max-batch-rows", "32"},
                                                          {"http-threads", "1"},
                                                          {"max-waiting-requests", "64"},
                                                          {"max-waiting-tokens", "8192"},
                                                          {"max-documents", "1"},
                                                          {"max-document-bytes", "4MiB"},
                                                          {"max-connections", "256"},
                                                          {"max-http-connections", "64"}};

const Setting& SettingOf(const std::string& flag) {
  const auto found =
      absl::c_find_if(kSettings, [&](const Setting& setting) { return setting.Flag() == flag; });
  DRAGOMAN_CHECK(found != std::end(kSettings));
  return *found;
}

absl::Status Wrong(const Setting& setting, const std::string& value, const char* what) {
  return InvalidArgumentError("--", setting.Flag(), ": \"", value, "\" is ", what);
}

void SetNumber(const Setting& setting, int64_t number, v1::ServerConfig* config) {
  const FieldDescriptor* const field = setting.Field();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    config->GetReflection()->SetInt64(config, field, number);
  } else {
    config->GetReflection()->SetInt32(config, field, static_cast<int32_t>(number));
  }
}

// Bounds are counted in this unit, and durations in nanoseconds.
int64_t UnitOf(const Setting& setting) { return setting.kind == kDuration ? 1'000'000 : 1; }

std::string Text(const Setting& setting, int64_t number) {
  if (setting.kind != kDuration) return std::to_string(number);
  return absl::FormatDuration(absl::Nanoseconds(number));
}

std::string RangeOf(const Setting& setting) {
  if (setting.high == 0) return "";
  return absl::StrCat(Text(setting, setting.low * UnitOf(setting)), " to ",
                      Text(setting, setting.high * UnitOf(setting)));
}

int64_t NumberIn(const Setting& setting, const v1::ServerConfig& config) {
  const auto& reflection = *config.GetReflection();
  const FieldDescriptor* const field = setting.Field();
  if (setting.kind == kDuration) {
    return absl::ToInt64Nanoseconds(ToDuration(
        static_cast<const google::protobuf::Duration&>(reflection.GetMessage(config, field))));
  }
  return field->cpp_type() == FieldDescriptor::CPPTYPE_INT64 ? reflection.GetInt64(config, field)
                                                             : reflection.GetInt32(config, field);
}

}  // namespace

std::string Setting::Flag() const {
  return flag != nullptr ? flag : absl::StrReplaceAll(field, {{"_", "-"}});
}

std::string Setting::Variable() const {
  return "DRAGOMAN_" + absl::AsciiStrToUpper(absl::StrReplaceAll(Flag(), {{"-", "_"}}));
}

const FieldDescriptor* Setting::Field() const {
  return v1::ServerConfig::descriptor()->FindFieldByName(field);
}

absl::Span<const Setting> Settings() { return kSettings; }

absl::Status SetValue(const Setting& setting, const std::string& value, v1::ServerConfig* config) {
  const auto& reflection = *config->GetReflection();
  const FieldDescriptor* const field = setting.Field();
  int64_t number = 0;
  switch (setting.kind) {
    case kText:
      reflection.SetString(config, field, value);
      return absl::OkStatus();
    case kSwitch:
      reflection.SetBool(config, field, value == "true");
      return absl::OkStatus();
    case kNumber:
      if (!absl::SimpleAtoi(value, &number)) return Wrong(setting, value, "not a whole number");
      break;
    case kRows:
      if (value != "auto" && (!absl::SimpleAtoi(value, &number) || number < 1)) {
        return Wrong(setting, value, "neither auto nor 1 or more");
      }
      number = std::min(number, kMaxInt);
      break;
    case kSize: {
      const absl::StatusOr<int64_t> bytes = ParseBytes(value);
      if (!bytes.ok()) return Annotate(bytes.status(), "--", setting.Flag(), ": ");
      number = *bytes;
      break;
    }
    case kDuration: {
      absl::Duration rest;
      if (!absl::ParseDuration(value, &rest) || rest == absl::InfiniteDuration()) {
        return Wrong(setting, value, "not a duration, want for example 30s or 2m");
      }
      auto* const duration =
          static_cast<google::protobuf::Duration*>(reflection.MutableMessage(config, field));
      duration->set_seconds(absl::IDivDuration(rest, absl::Seconds(1), &rest));
      duration->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
      return absl::OkStatus();
    }
    case kList:
      DRAGOMAN_CHECK(false);
  }
  SetNumber(setting, number, config);
  return absl::OkStatus();
}

absl::Status CheckRanges(const v1::ServerConfig& config) {
  for (const Setting& setting : kSettings) {
    if (setting.high == 0 || !config.GetReflection()->HasField(config, setting.Field())) continue;
    const int64_t number = NumberIn(setting, config);
    const int64_t unit = UnitOf(setting);
    if (number >= setting.low * unit && number <= setting.high * unit) continue;
    return InvalidArgumentError(setting.Flag(), " is ", Text(setting, number), ", want ",
                                RangeOf(setting));
  }
  return absl::OkStatus();
}

v1::ServerConfig WithDefaults(v1::ServerConfig config) {
  for (const auto& [flag, value] : kSmall) {
    const Setting& setting = SettingOf(flag);
    if (!config.small() || config.GetReflection()->HasField(config, setting.Field())) continue;
    DRAGOMAN_CHECK(SetValue(setting, value, &config).ok());
  }
  for (const Setting& setting : kSettings) {
    if (*setting.value == '\0' || config.GetReflection()->HasField(config, setting.Field())) {
      continue;
    }
    DRAGOMAN_CHECK(SetValue(setting, setting.value, &config).ok());
  }
  return config;
}

absl::Duration ToDuration(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

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
  return InvalidArgumentError("\"", text, "\" is not a size, want for example 512MiB or 4GiB");
}

std::string SettingsAsMarkdown() {
  std::string text = R"(| flag | default | range | on SIGHUP | meaning |
|---|---|---|---|---|
)";
  for (const Setting& setting : kSettings) {
    absl::StrAppend(&text, "| `--", setting.Flag(), " ", setting.type, "`",
                    setting.flag == nullptr ? "" : absl::StrCat(" (`", setting.field, "`)"), " | ",
                    setting.otherwise == nullptr ? setting.value : setting.otherwise, " | ",
                    RangeOf(setting), " | ", setting.changes == kOnReload ? "yes" : "", " | ",
                    setting.help, " |\n");
  }
  return text;
}

}  // namespace dragoman
