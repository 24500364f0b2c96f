// dragoman health: whether a server is serving.

#include <string>

#include "client/client_command.h"

namespace dragoman {
namespace {

struct HealthFlags {
  ServerFlags server;
  std::string service;
};

ExitCode RunHealth(const HealthFlags& flags, const Console& console, TranslationClient* client) {
  const absl::StatusOr<bool> serving = client->Serving(flags.service);
  if (!serving.ok()) return ReportError(console, serving.status());
  console.out << (*serving ? "SERVING" : "NOT_SERVING") << "\n";
  return *serving ? kExitOk : kExitRefused;
}

}  // namespace

void AddHealthCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  const auto [command, flags] = AddClientCommand<HealthFlags>(
      app, "health", "Prints SERVING or NOT_SERVING; the exit code is 0 only for SERVING.",
      RunHealth, console, exit_code);
  command->add_option("SERVICE", flags->service,
                      "such as dragoman.v1.TranslationService; the whole server if not given");
}

}  // namespace dragoman
