// The flags of dragoman-server (config.h).  The only door to CLI11.

#include <CLI/CLI.hpp>
#include <fstream>
#include <functional>
#include <iterator>

#include "engine/base/status.h"
#include "server/config.h"

namespace dragoman {
namespace {

constexpr char kDescription[] =
    "Serves machine-translation models over gRPC (dragoman.v1.TranslationService).\n"
    "Prints `listening grpc=HOST:PORT http=HOST:PORT` when it is ready; SIGTERM drains it.";

// What the command line says, before it is merged with the file.
struct Flags {
  v1::ServerConfig config;
  std::string config_file;
  absl::Status error;  // of a value that CLI11 cannot check
};

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

// The value of a size flag; an error is kept in `flags`.
int64_t Bytes(const char* flag, const std::string& value, Flags* flags) {
  const absl::StatusOr<int64_t> bytes = ParseBytes(value);
  if (!bytes.ok()) {
    flags->error.Update(absl::InvalidArgumentError(std::string(flag) + ": " +
                                                   std::string(bytes.status().message())));
  }
  return bytes.value_or(0);
}

void SetDrainTimeout(const std::string& value, Flags* flags) {
  absl::Duration timeout;
  if (!absl::ParseDuration(value, &timeout) || timeout == absl::InfiniteDuration()) {
    flags->error.Update(absl::InvalidArgumentError(
        "--drain-timeout: \"" + value + "\" is no duration, want for example 30s or 2m"));
    return;
  }
  google::protobuf::Duration* const duration = flags->config.mutable_drain_timeout();
  duration->set_seconds(absl::IDivDuration(timeout, absl::Seconds(1), &timeout));
  duration->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(timeout)));
}

void AddServerFlags(CLI::App* app, Flags* flags) {
  v1::ServerConfig* const config = &flags->config;
  app->add_option_function<std::vector<std::string>>(
         "--model",
         [flags](const std::vector<std::string>& values) {
           for (const std::string& value : values) AddModel(value, flags);
         },
         "A model directory and what requests call it; repeat it to serve several")
      ->type_name("NAME=DIR")
      ->allow_extra_args(false);
  Add<std::string>(app, "--default-model", "NAME", "the first --model",
                   "Translates requests that name no model",
                   [=](const std::string& v) { config->set_default_model(v); });
  app->add_option("--config", flags->config_file,
                  "Reads these settings from a file (text format of dragoman.v1.ServerConfig); "
                  "flags win")
      ->type_name("FILE");
  Add<std::string>(app, "--grpc-address", "HOST:PORT", "127.0.0.1:50051",
                   "Where to listen for gRPC; port 0 picks a free one",
                   [=](const std::string& v) { config->set_grpc_address(v); });
  Add<std::string>(app, "--http-address", "HOST:PORT", "127.0.0.1:9464",
                   "Where to serve /metrics, /healthz and /readyz",
                   [=](const std::string& v) { config->set_http_address(v); });
  Add<std::string>(app, "--drain-timeout", "DURATION", "30s",
                   "How long calls in flight may go on after SIGTERM",
                   [=](const std::string& v) { SetDrainTimeout(v, flags); });
  Add<std::string>(app, "--log-level", "LEVEL", "info", "trace, debug, info, warn, error or off",
                   [=](const std::string& v) { config->set_log_level(v); });
  Add<std::string>(app, "--log-format", "FORMAT", "text", "text, or json: an object per line",
                   [=](const std::string& v) { config->set_log_format(v); });
}

void AddEngineFlags(CLI::App* app, Flags* flags) {
  v1::ServerConfig* const config = &flags->config;
  Add<std::string>(app, "--precision", "PRECISION", "auto",
                   "auto (int8), float32, bfloat16 or int8",
                   [=](const std::string& v) { config->set_precision(v); });
  Add<int>(app, "--workers", "THREADS", "the cores granted", "Worker threads of the engine",
           [=](int v) { config->set_workers(v); });
  app->add_option_function<std::vector<std::string>>(
         "--shortlist",
         [flags](const std::vector<std::string>& values) {
           for (const std::string& value : values) AddShortlist(value, flags);
         },
         "A vocabulary shortlist of a model: a lexical table, as text or in Marian's binary format")
      ->type_name("NAME=FILE[:FIRST,BEST]")
      ->allow_extra_args(false);
  Add<int>(app, "--max-batch-rows", "HYPOTHESES", "256",
           "Live hypotheses that one worker decodes at once",
           [=](int v) { config->set_max_batch_rows(v); });
  Add<int>(app, "--max-encode-tokens", "TOKENS", "1024",
           "Source tokens that join a worker's batch between two steps",
           [=](int v) { config->set_max_encode_tokens(v); });
  Add<std::string>(app, "--kv-cache-bytes", "SIZE", "a quarter of the memory",
                   "Memory for keys and values, all workers together: 512MiB, 4GiB",
                   [=](const std::string& v) {
                     config->set_kv_cache_bytes(Bytes("--kv-cache-bytes", v, flags));
                   });
  Add<int>(app, "--max-waiting-requests", "REQUESTS", "256",
           "Requests that may wait for a batch; more are RESOURCE_EXHAUSTED",
           [=](int v) { config->set_max_waiting_requests(v); });
  Add<int>(app, "--max-waiting-tokens", "TOKENS", "65536",
           "Source tokens that may wait for a batch",
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
  Add<std::string>(app, "--max-message-bytes", "SIZE", "1MiB", "The largest message received",
                   [=](const std::string& v) {
                     config->set_max_message_bytes(Bytes("--max-message-bytes", v, flags));
                   });
}

absl::StatusOr<v1::ServerConfig> ReadConfigFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError("config: cannot read " + path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  absl::StatusOr<v1::ServerConfig> config = ParseConfig(text);
  if (!config.ok()) {
    return absl::InvalidArgumentError("config: " + path + ": " +
                                      std::string(config.status().message()));
  }
  return config;
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv) {
  Flags flags;
  CLI::App app(kDescription, "dragoman-server");
  app.set_version_flag("--version", "dragoman-server " DRAGOMAN_VERSION, "Print the version");
  AddServerFlags(&app, &flags);
  AddEngineFlags(&app, &flags);
  AddLimitFlags(&app, &flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return CommandLine{.print = app.help()};
  } catch (const CLI::CallForVersion& version) {
    return CommandLine{.print = std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  RETURN_IF_ERROR(flags.error);
  v1::ServerConfig config;
  if (!flags.config_file.empty()) {
    ASSIGN_OR_RETURN(config, ReadConfigFile(flags.config_file));
    // A flag replaces a field whole, where MergeFrom would blend the two.
    if (!flags.config.models().empty()) config.clear_models();
    if (!flags.config.shortlists().empty()) config.clear_shortlists();
    if (flags.config.has_drain_timeout()) config.clear_drain_timeout();
  }
  config.MergeFrom(flags.config);
  CommandLine command_line;
  ASSIGN_OR_RETURN(command_line.options, Resolve(config));
  return command_line;
}

}  // namespace dragoman
