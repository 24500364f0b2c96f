// All settings of the server, each defined once: its field in ServerConfig
// (proto/dragoman/v1/config.proto), its default, its range and its text.  The flags and their help
// (flags.h), the defaults, the checks of ranges, what a reload takes over, and docs/settings.md are
// loops over this table.
//
// A new setting is a field in config.proto, an entry in the table, and its use.

#ifndef DRAGOMAN_SERVER_CONFIG_SETTINGS_H_
#define DRAGOMAN_SERVER_CONFIG_SETTINGS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "dragoman/v1/config.pb.h"

namespace dragoman {

// How a value is written on the command line.
enum class SettingKind {
  kText,
  kNumber,
  kRows,      // a number, or auto, which is 0
  kSize,      // "512MiB"
  kDuration,  // "30s"
  kSwitch,    // true or false
  kList,      // the flag may be repeated, and adds an element to a repeated field each time
};

// Whether a running server takes over a new value (ModelManager).
enum class Changes { kAtStart, kOnReload };

struct Setting {
  const char* field;
  SettingKind kind;
  Changes changes;
  const char* type;                 // of the value, in --help
  const char* value;                // the default, as it is written on the command line; "": none
  const char* help;                 // what it is
  int64_t low = 0;                  // the range of a number, a size, or a duration in milliseconds
  int64_t high = 0;                 // 0: any value
  const char* otherwise = nullptr;  // what happens without a value, if there is no default
  const char* flag = nullptr;       // its name, if it is not that of the field

  std::string Flag() const;      // "max-texts"
  std::string Variable() const;  // "DRAGOMAN_MAX_TEXTS"
  const google::protobuf::FieldDescriptor* Field() const;
};

absl::Span<const Setting> Settings();

// Sets the field of a setting, which is no kList, to a value of the command line.
// INVALID_ARGUMENT names the flag.
absl::Status SetValue(const Setting& setting, const std::string& value, v1::ServerConfig* config);

// INVALID_ARGUMENT names the setting that is out of its range.
absl::Status CheckRanges(const v1::ServerConfig& config);

// `config` with the defaults of all settings that it leaves out, except for those without one.
v1::ServerConfig WithDefaults(v1::ServerConfig config);

absl::Duration ToDuration(const google::protobuf::Duration& duration);

// "4GiB", "512MiB", "64KiB" or a plain number of bytes.
absl::StatusOr<int64_t> ParseBytes(const std::string& text);

// The table of docs/settings.md.
std::string SettingsAsMarkdown();

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_CONFIG_SETTINGS_H_
