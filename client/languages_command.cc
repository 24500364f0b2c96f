// dragoman languages: what a server translates, over all of its models.

#include <map>
#include <set>
#include <string>

#include "client/client_command.h"
#include "client/json.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

struct LanguagesFlags {
  ServerFlags server;
  bool json = false;
  std::string source;
};

using Targets = std::map<std::string, std::set<std::string>>;  // by source

void AddPairs(const v1::Model& model, Targets* targets) {
  for (const v1::LanguagePair& pair : model.language_pairs()) {
    (*targets)[pair.source()].insert(pair.target());
  }
  if (model.language_pairs_size() > 0) return;
  for (const std::string& source : model.source_languages()) {
    for (const std::string& target : model.target_languages()) {
      if (target != source) (*targets)[source].insert(target);
    }
  }
}

Outcome RunLanguages(const LanguagesFlags& flags, const Console& console,
                     TranslationClient* client) {
  const absl::StatusOr<v1::ListModelsResponse> response = client->ListModels();
  if (!response.ok()) return ReportError(console, response.status());
  Targets all;
  for (const v1::Model& model : response->models()) AddPairs(model, &all);
  if (!flags.source.empty() && !all.contains(flags.source)) {
    return InvalidArgumentError("no model translates from \"", flags.source, "\"");
  }
  for (const auto& [source, targets] : all) {
    if (!flags.source.empty() && source != flags.source) continue;
    if (flags.json) {
      console.out << ToLine({{"source", source}, {"targets", targets}}) << "\n";
      continue;
    }
    console.out << source << ":";
    for (const std::string& target : targets) console.out << " " << target;
    console.out << "\n";
  }
  return kExitOk;
}

}  // namespace

void AddLanguagesCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  const auto [command, flags] = AddClientCommand<LanguagesFlags>(
      app, "languages",
      "Lists what the models of the server translate: a line per source language, with its "
      "targets.",
      RunLanguages, console, exit_code);
  AddOutputFlag(command, &flags->json);
  command->add_option("SOURCE", flags->source, "the source language to show; all if not given");
}

}  // namespace dragoman
