// The server's log on standard error: one event with its fields per line, as text
//
//   2026-08-01T12:00:00.123Z info request method=Translate model=en-de code=OK texts=3 ms=12.5
//
// or as a JSON object with the same names.  Only this file uses spdlog.  Texts that were sent for
// translation, and their translations, are never logged.
//
// Logging never blocks.  After InitLogging, lines go through a bounded queue to a separate thread.
// If the reader of the log stalls, the oldest lines are dropped and counted, and a line "log lines
// dropped" follows as soon as there is a reader again.
//
// Thread-safe, except for InitLogging.

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

// INVALID_ARGUMENT for an unknown level or format.
absl::Status Validate(const LogOptions& options);

// Sends events to the descriptor `fd` from now on.  Before the first call the defaults apply, and
// lines are written to standard error at once.  REQUIRES: Validate(options) is OK.
void InitLogging(const LogOptions& options, int fd = 2);
// Sends events to a stream, which must outlive the logging, at once.
void InitLogging(const LogOptions& options, std::ostream* out);

// The level and the format of all events from now on; earlier ones keep theirs.  REQUIRES:
// Validate(options) is OK.
void ChangeLogging(const LogOptions& options);

// The level alone.  REQUIRES: it is known.
void ChangeLogLevel(const std::string& level);

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

// Waits until all lines so far have been written or dropped, but no longer than `timeout`.
void FlushLog(absl::Duration timeout);

// The number of lines lost because nobody read them.
int64_t LogLinesDropped();

// Turns error messages of gRPC and protobuf into events.
void LogLibraries();

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_OBSERVE_LOGGING_H_
