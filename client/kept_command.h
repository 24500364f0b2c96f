// What `dragoman glossary` and `dragoman tm` have in common: subcommands over things that the
// server keeps by id, their table, and their deletion.

#ifndef DRAGOMAN_CLIENT_KEPT_COMMAND_H_
#define DRAGOMAN_CLIENT_KEPT_COMMAND_H_

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "client/client_command.h"

namespace dragoman {

struct KeptFlags {
  ServerFlags server;
  bool json = false;
  std::string id;
  // Of what is stored.
  std::string file, name, source, target;
  bool shared = false;
};

// A line for each, in a table or as JSON.
void PrintKept(const std::vector<v1::Glossary>& glossaries, bool json, std::ostream* out);
void PrintKept(const std::vector<v1::TranslationMemory>& memories, bool json, std::ostream* out);

// A source at the beginning of a line that ReadTable reads.
std::string EscapedSource(const std::string& source);

// Adds subcommands to a command, whose flags are of a type that is derived from KeptFlags.
template <typename Flags>
struct KeptCommands {
  using Action = absl::Status (*)(Flags flags, TranslationClient* client, std::ostream* out);

  CLI::App* all;
  const Console& console;
  ExitCode* exit_code;

  // With an `id`, what it is the id of, it is the first argument.
  std::pair<CLI::App*, std::shared_ptr<Flags>> Add(const char* name, const char* help, Action act,
                                                   const char* id = nullptr) const {
    const auto run = [act](const Flags& flags, const Console& to, TranslationClient* client) {
      const absl::Status status = act(flags, client, &to.out);
      return status.ok() ? kExitOk : ReportError(to, status);
    };
    const auto added =
        AddClientCommand<Flags>(all->require_subcommand(1), name, help, run, console, exit_code);
    AddOutputFlag(added.first, &added.second->json);
    if (id != nullptr) added.first->add_option("ID", added.second->id, id)->required();
    return added;
  }
};

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_KEPT_COMMAND_H_
