// dragoman health: whether a server is serving.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "client/commands.h"

namespace dragoman {
namespace {

struct HealthFlags {
  ServerFlags server;
  std::string service;
};

ExitCode RunHealth(const HealthFlags& flags, const Console& console) {
  const auto client = flags.server.Connect(console);
  if (!client.ok()) return ReportUsage(console, client.status());
  const absl::StatusOr<bool> serving = (*client)->Serving(flags.service);
  if (!serving.ok()) return ReportError(console, serving.status());
  console.out << (*serving ? "SERVING" : "NOT_SERVING") << "\n";
  return *serving ? kExitOk : kExitRefused;
}

}  // namespace

void AddHealthCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  auto flags = std::make_shared<HealthFlags>();
  CLI::App* command = app->add_subcommand(
      "health", "Prints SERVING or NOT_SERVING; the exit code is 0 only for SERVING.");
  flags->server.AddTo(command);
  command->add_option("SERVICE", flags->service,
                      "such as dragoman.v1.TranslationService; the whole server if not given");
  command->callback([flags, &console, exit_code] { *exit_code = RunHealth(*flags, console); });
}

}  // namespace dragoman
