#include "server/observe/logging.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <poll.h>
#include <pthread.h>
#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/ostream_sink.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <iterator>
#include <memory>
#include <mutex>

#include "absl/time/clock.h"
#include "absl/types/span.h"
#include "engine/base/json.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr size_t kQueuedLines = 4096;  // about 2 MiB

std::atomic<bool> json_lines = false;  // the format of new lines

std::atomic<bool> queue_exists = false;
// The number of lines put into the queue, and of those taken out of it.
std::atomic<int64_t> queued_lines = 0;
std::atomic<int64_t> taken_lines = 0;
// The lines taken out of it that could not be written, because the reader has closed the pipe.
std::atomic<int64_t> unwritten_lines = 0;

// The queue and its thread, which live as long as the process: a thread that is stuck writing to a
// pipe that nobody reads cannot be joined.
std::shared_ptr<spdlog::details::thread_pool> Queue() {
  static auto& queue = *new auto(std::make_shared<spdlog::details::thread_pool>(
      kQueuedLines, 1, [] { pthread_detach(pthread_self()); }));
  queue_exists = true;
  return queue;
}

// The queue overwrites the oldest lines when it is full.
int64_t OverwrittenLines() {
  return queue_exists ? static_cast<int64_t>(Queue()->overrun_counter()) : 0;
}

bool WriteAll(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t written = write(fd, data, size);
    if (written >= 0) {
      data += written;
      size -= static_cast<size_t>(written);
    } else if (errno == EAGAIN) {  // the descriptor was made non-blocking
      pollfd wanted = {.fd = fd, .events = POLLOUT, .revents = 0};
      poll(&wanted, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void AppendEvent(bool json, std::string_view event, absl::Span<const LogField> fields,
                 fmt::memory_buffer* line);

// Writes to a descriptor, and reports there how many lines were lost.  The lock is for threads that
// write before there is a queue.
//
// Under load, waking the queue's thread and writing for every single line would cost a short call a
// tenth of its CPU time. So the first line after a pause is written at once, and those that follow
// within moments are written together.
class DescriptorSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  DescriptorSink(int fd, bool queued) : fd_(fd), queued_(queued) {}
  // Writes the lines that were still waiting to be written together with later ones.  The lock
  // shows ThreadSanitizer, which does not see into spdlog's library, that the queue's thread is
  // done.
  ~DescriptorSink() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    Write();
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    Append(message);
    if (!queued_) return WriteAndReport();
    if (pending_.size() < kMostPending && Queue()->queue_size() > 0) return;  // more follow
    WriteAndReport();
    absl::SleepFor(kGatherTime);
  }
  void flush_() override {}

  void Append(const spdlog::details::log_msg& message) {
    formatter_->format(message, pending_);
    ++pending_lines_;
  }

  void WriteAndReport() {
    Write();
    const int64_t lost = LogLinesDropped();
    if (lost == told_) return;
    fmt::memory_buffer line;
    AppendEvent(json_lines, "log lines dropped", {{"lines", lost - told_}, {"total", lost}}, &line);
    formatter_->format({"dragoman", spdlog::level::warn, {line.data(), line.size()}}, pending_);
    if (Write()) told_ = lost;
  }

  // Writes what is pending; false if the reader has gone.
  bool Write() {
    const bool written = WriteAll(fd_, pending_.data(), pending_.size());
    if (!written) unwritten_lines.fetch_add(pending_lines_, std::memory_order_relaxed);
    if (queued_) taken_lines.fetch_add(pending_lines_, std::memory_order_relaxed);
    pending_.clear();
    pending_lines_ = 0;
    return written;
  }

  static constexpr size_t kMostPending = 64 << 10;  // bytes
  static constexpr absl::Duration kGatherTime = absl::Milliseconds(2);

  const int fd_;
  const bool queued_;
  spdlog::memory_buf_t pending_;
  int64_t pending_lines_ = 0;  // without reports of losses
  int64_t told_ = 0;           // lost lines already reported
};

struct Logger {
  std::shared_ptr<spdlog::logger> spdlog;
  bool queued = false;
};

constexpr char kJsonLine[] = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})";

std::unique_ptr<spdlog::formatter> NewFormatter(const char* pattern) {
  return std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc);
}

// Formats each line as it was meant, even if the format has changed while it waited: an event of a
// JSON object begins with its quoted name, and no name of an event with a quote.
class LineFormatter : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) override {
    const bool json = message.payload.size() > 0 && message.payload[0] == '"';
    (json ? json_ : text_)->format(message, line);
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<LineFormatter>();
  }

 private:
  const std::unique_ptr<spdlog::formatter> text_ = NewFormatter("%Y-%m-%dT%H:%M:%S.%eZ %l %v");
  const std::unique_ptr<spdlog::formatter> json_ = NewFormatter(kJsonLine);
};

void ApplyOptions(const LogOptions& options, spdlog::logger* logger) {
  logger->set_level(spdlog::level::from_str(options.level));
  json_lines = options.format == "json";
}

Logger MakeLogger(const LogOptions& options, std::shared_ptr<spdlog::logger> spdlog) {
  Logger logger{.spdlog = std::move(spdlog)};
  logger.spdlog->set_formatter(std::make_unique<LineFormatter>());
  ApplyOptions(options, logger.spdlog.get());
  return logger;
}

Logger& TheLogger() {
  static Logger& logger = *new Logger(
      MakeLogger({}, std::make_shared<spdlog::logger>(
                         "dragoman", std::make_shared<DescriptorSink>(STDERR_FILENO, false))));
  return logger;
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                   spdlog::level::warn, spdlog::level::err};
  return kLevels[static_cast<size_t>(level)];
}

// As a JSON string; bytes that are not UTF-8 are replaced.
std::string Quote(std::string_view value) { return WriteJson(nlohmann::json(value)); }

bool IsPlain(std::string_view value) {
  for (const char c : value) {
    if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f) return false;
  }
  return true;
}

void Append(std::string_view text, fmt::memory_buffer* line) {
  line->append(text.data(), text.data() + text.size());
}

struct ValueWriter {
  fmt::memory_buffer* line;
  bool json;

  void operator()(std::string_view value) const {
    Append(!json && IsPlain(value) ? value : Quote(value), line);
  }
  void operator()(int64_t value) const {
    const fmt::format_int digits(value);
    Append({digits.data(), digits.size()}, line);
  }
  void operator()(double value) const {
    fmt::format_to(std::back_inserter(*line), "{:.3f}", value);
  }
};

void AppendEvent(bool json, std::string_view event, absl::Span<const LogField> fields,
                 fmt::memory_buffer* line) {
  if (json) Append("\"event\":", line);
  Append(json ? Quote(event) : event, line);
  for (const LogField& field : fields) {
    const auto* const text = std::get_if<std::string_view>(&field.value);
    if (text != nullptr && text->empty()) continue;
    Append(json ? "," : " ", line);
    Append(json ? Quote(field.name) : field.name, line);
    Append(json ? ":" : "=", line);
    std::visit(ValueWriter{line, json}, field.value);
  }
}

void LogGrpc(gpr_log_func_args* args) {
  if (args->severity != GPR_LOG_SEVERITY_ERROR) return;
  // `Error parsing metadata: error=invalid value key=grpc-encoding value=...`: the value is the
  // client's.
  const std::string_view message = args->message;
  Log(LogLevel::kError, "grpc", {{"error", message.substr(0, message.find(" value="))}});
}

void LogProtobuf(google::protobuf::LogLevel level, const char*, int, const std::string& message) {
  // A message that cannot be parsed is the client's mistake, and is answered as such.
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
    return InvalidArgumentError("log-level is \"", options.level,
                                "\", want trace, debug, info, warn, error or off");
  }
  if (options.format != "text" && options.format != "json") {
    return InvalidArgumentError("log-format is \"", options.format, "\", want text or json");
  }
  return absl::OkStatus();
}

void InitLogging(const LogOptions& options, int fd) {
  Logger& logger = TheLogger();  // its first use applies the defaults
  logger = MakeLogger(options, std::make_shared<spdlog::async_logger>(
                                   "dragoman", std::make_shared<DescriptorSink>(fd, true), Queue(),
                                   spdlog::async_overflow_policy::overrun_oldest));
  logger.queued = true;
}

void InitLogging(const LogOptions& options, std::ostream* out) {
  auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(*out, /*force_flush=*/true);
  Logger& logger = TheLogger();
  logger = MakeLogger(options, std::make_shared<spdlog::logger>("dragoman", std::move(sink)));
}

void ChangeLogLevel(const std::string& level) {
  TheLogger().spdlog->set_level(spdlog::level::from_str(level));
}

void ChangeLogging(const LogOptions& options) { ApplyOptions(options, TheLogger().spdlog.get()); }

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  const Logger& logger = TheLogger();
  if (!logger.spdlog->should_log(ToSpdlog(level))) return;
  fmt::memory_buffer line;
  AppendEvent(json_lines, event, {fields.begin(), fields.size()}, &line);
  if (logger.queued) queued_lines.fetch_add(1, std::memory_order_relaxed);
  logger.spdlog->log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

void Print(std::ostream* out, std::string_view event, std::initializer_list<LogField> fields) {
  const bool json = json_lines;
  fmt::memory_buffer text;
  AppendEvent(json, event, {fields.begin(), fields.size()}, &text);
  spdlog::memory_buf_t line;
  NewFormatter(json ? kJsonLine : "%v")
      ->format({"dragoman", spdlog::level::info, {text.data(), text.size()}}, line);
  out->write(line.data(), static_cast<std::streamsize>(line.size())).flush();
}

void FlushLog(absl::Duration timeout) {
  const int64_t lines = queued_lines.load();
  const absl::Time end = absl::Now() + timeout;
  while (taken_lines.load() + OverwrittenLines() < lines && absl::Now() < end) {
    absl::SleepFor(absl::Milliseconds(1));
  }
}

int64_t LogLinesDropped() { return OverwrittenLines() + unwritten_lines.load(); }

void LogLibraries() {
  gpr_set_log_function(LogGrpc);
  google::protobuf::SetLogHandler(LogProtobuf);
}

}  // namespace dragoman
