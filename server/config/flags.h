// The flags of dragoman-server, one for each setting (settings.h).

#ifndef DRAGOMAN_SERVER_CONFIG_FLAGS_H_
#define DRAGOMAN_SERVER_CONFIG_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "server/config/config.h"

namespace CLI {
class App;
}

namespace dragoman {

// The command line, before it is merged with the file.
struct Flags {
  v1::ServerConfig config;
  std::string config_file;
  Errand errand;
  absl::Status error;  // for a value that CLI11 cannot check
};

// Adds all flags to `app`; a setting that is not on the command line is taken from the environment,
// --log-level from DRAGOMAN_LOG_LEVEL.  When it parses a command line, it stores their values in
// *flags, which must outlive it.
void AddFlags(CLI::App* app, Flags* flags);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_CONFIG_FLAGS_H_
