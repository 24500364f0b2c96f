// The server's log: an event and its fields per line, on standard error, as text
//
//   2026-08-01T12:00:00.123Z info request method=Translate model=en-de code=OK texts=3 ms=12.5
//
// or as a JSON object of the same names.  The only door to spdlog.  A text that was sent to be
// translated, or its translation, is never a field.
//
// Thread-safe, but for InitLogging.

#ifndef DRAGOMAN_SERVER_LOGGING_H_
#define DRAGOMAN_SERVER_LOGGING_H_

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"

namespace dragoman {

struct LogOptions {
  std::string level = "info";   // trace, debug, info, warn, error or off
  std::string format = "text";  // or json
};

// INVALID_ARGUMENT if an option has no such value.
absl::Status Validate(const LogOptions& options);

// Events go to `out`, which must outlive the logging, or to standard error if it is null.  Before
// the first call the defaults hold.  REQUIRES: Validate(options) is OK.
void InitLogging(const LogOptions& options, std::ostream* out = nullptr);

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// A field whose value is an empty string is left out.
struct LogField {
  std::string_view name;
  std::variant<std::string_view, int64_t, double> value;
};

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

// The messages of gRPC and protobuf become events as well, errors only.
void LogLibraries();

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_LOGGING_H_
