#include "server/logging.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

namespace dragoman {
namespace {

struct Logger {
  std::shared_ptr<spdlog::logger> spdlog;
  bool json = false;
};

Logger MakeLogger(const LogOptions& options, std::ostream* out) {
  spdlog::sink_ptr sink;
  if (out == nullptr) {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  } else {
    sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(*out, /*force_flush=*/true);
  }
  Logger logger;
  logger.json = options.format == "json";
  logger.spdlog = std::make_shared<spdlog::logger>("dragoman", std::move(sink));
  logger.spdlog->set_level(spdlog::level::from_str(options.level));
  logger.spdlog->flush_on(spdlog::level::warn);
  logger.spdlog->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      logger.json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                  : "%Y-%m-%dT%H:%M:%S.%eZ %l %v",
      spdlog::pattern_time_type::utc));
  return logger;
}

Logger& TheLogger() {
  static Logger& logger = *new Logger(MakeLogger(LogOptions(), nullptr));
  return logger;
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      break;
  }
  return spdlog::level::err;
}

// As a JSON string; bytes that are not UTF-8 are replaced.
std::string Quote(std::string_view value) {
  return nlohmann::json(value).dump(-1, ' ', /*ensure_ascii=*/false,
                                    nlohmann::json::error_handler_t::replace);
}

bool IsPlain(std::string_view value) {
  for (const char c : value) {
    if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f) return false;
  }
  return true;
}

struct ValueWriter {
  fmt::memory_buffer* line;
  bool json;

  void operator()(std::string_view value) const {
    fmt::format_to(std::back_inserter(*line), "{}",
                   !json && IsPlain(value) ? std::string(value) : Quote(value));
  }
  void operator()(int64_t value) const { fmt::format_to(std::back_inserter(*line), "{}", value); }
  void operator()(double value) const {
    fmt::format_to(std::back_inserter(*line), "{:.3f}", value);
  }
};

void LogGrpc(gpr_log_func_args* args) {
  if (args->severity != GPR_LOG_SEVERITY_ERROR) return;
  // `Error parsing metadata: error=invalid value key=grpc-encoding value=...`: what a client sent.
  const std::string_view message = args->message;
  Log(LogLevel::kError, "grpc", {{"error", message.substr(0, message.find(" value="))}});
}

void LogProtobuf(google::protobuf::LogLevel level, const char*, int, const std::string& message) {
  // A message that cannot be parsed is the client's doing and is answered as such.
  Log(level >= google::protobuf::LOGLEVEL_FATAL ? LogLevel::kError : LogLevel::kDebug, "protobuf",
      {{"error", message}});
}

}  // namespace

absl::Status Validate(const LogOptions& options) {
  bool known = false;
  for (const char* level : {"trace", "debug", "info", "warn", "error", "off"}) {
    known = known || options.level == level;
  }
  if (!known) {
    return absl::InvalidArgumentError("log-level is \"" + options.level +
                                      "\", want trace, debug, info, warn, error or off");
  }
  if (options.format != "text" && options.format != "json") {
    return absl::InvalidArgumentError("log-format is \"" + options.format +
                                      "\", want text or json");
  }
  return absl::OkStatus();
}

void InitLogging(const LogOptions& options, std::ostream* out) {
  TheLogger() = MakeLogger(options, out);
}

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  const Logger& logger = TheLogger();
  if (!logger.spdlog->should_log(ToSpdlog(level))) return;
  fmt::memory_buffer line;
  auto end = std::back_inserter(line);
  if (logger.json) {
    fmt::format_to(end, "\"event\":{}", Quote(event));
  } else {
    fmt::format_to(end, "{}", event);
  }
  for (const LogField& field : fields) {
    const auto* const text = std::get_if<std::string_view>(&field.value);
    if (text != nullptr && text->empty()) continue;
    if (logger.json) {
      fmt::format_to(end, ",{}:", Quote(field.name));
    } else {
      fmt::format_to(end, " {}=", field.name);
    }
    std::visit(ValueWriter{&line, logger.json}, field.value);
  }
  logger.spdlog->log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

void LogLibraries() {
  gpr_set_log_function(LogGrpc);
  google::protobuf::SetLogHandler(LogProtobuf);
}

}  // namespace dragoman
