// A command that speaks with a server.

#ifndef DRAGOMAN_CLIENT_CLIENT_COMMAND_H_
#define DRAGOMAN_CLIENT_CLIENT_COMMAND_H_

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "client/commands.h"

namespace dragoman {

// Adds a command whose flags, which have a `server`, are of a type of its own: when it runs, it
// connects, and calls `run` with the flags, the console and the client.
template <typename Flags, typename Run>
std::pair<CLI::App*, std::shared_ptr<Flags>> AddClientCommand(CLI::App* app, const char* name,
                                                              const char* help, Run run,
                                                              const Console& console,
                                                              ExitCode* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* const command = app->add_subcommand(name, help);
  flags->server.AddTo(command);
  command->callback([flags, run, &console, exit_code] {
    const auto client = flags->server.Connect(console);
    *exit_code = CodeOf(
        client.ok() ? Outcome(run(*flags, console, client->get())) : client.status(), console);
  });
  return {command, flags};
}

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_CLIENT_COMMAND_H_
