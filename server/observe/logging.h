// The server's log: an event and its fields per line, on standard error, as text
//
//   2026-08-01T12:00:00.123Z info request method=Translate model=en-de code=OK texts=3 ms=12.5
//
// or as a JSON object of the same names.  The only door to spdlog.  A text that was sent to be
// translated, or its translation, is never a field.
//
// Nobody waits for the log.  Once InitLogging is called, lines go through a bounded queue to a
// thread of their own; if whoever reads them stalls, the oldest are dropped and counted, and a line
// "log lines dropped" follows as soon as there is a reader again.
//
// Thread-safe, but for InitLogging.

#ifndef DRAGOMAN_SERVER_OBSERVE_LOGGING_H_
#define DRAGOMAN_SERVER_OBSERVE_LOGGING_H_

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace dragoman {

struct LogOptions {
  std::string level = "info";   // trace, debug, info, warn, error or off
  std::string format = "text";  // or json
};

// INVALID_ARGUMENT if an option has no such value.
absl::Status Validate(const LogOptions& options);

// Events go to the descriptor `fd` from now on.  Before the first call the defaults hold, and lines
// are written to standard error at once.  REQUIRES: Validate(options) is OK.
void InitLogging(const LogOptions& options, int fd = 2);
// The same to a stream, which must outlive the logging, at once.
void InitLogging(const LogOptions& options, std::ostream* out);

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// A field whose value is an empty string is left out.
struct LogField {
  std::string_view name;
  std::variant<std::string_view, int64_t, double> value;
};

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

// Writes an event to `out` at once, whatever the level: as text without time and level, or as the
// JSON object that Log would write.
void Print(std::ostream* out, std::string_view event, std::initializer_list<LogField> fields = {});

// Waits until all lines so far are written or dropped, but no longer than `timeout`.
void FlushLog(absl::Duration timeout);

// Lines that were lost because nobody took them.
int64_t LogLinesDropped();

// The messages of gRPC and protobuf become events as well, errors only.
void LogLibraries();

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_OBSERVE_LOGGING_H_
