// dragoman models: lists the models of a server.

#include <CLI/CLI.hpp>
#include <iomanip>
#include <memory>
#include <sstream>
#include <string>

#include "client/commands.h"
#include "client/json.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

struct ModelsFlags {
  ServerFlags server;
  bool json = false;
  std::string name;
};

// "en-de en-fr", or "100 to 100" where there are too many for a line.
std::string Languages(const v1::Model& model) {
  constexpr int kMostPairs = 8;
  const int pairs = model.language_pairs_size();
  const int sources = model.source_languages_size(), targets = model.target_languages_size();
  if (pairs > kMostPairs || (pairs == 0 && sources > 0)) {
    return std::to_string(sources) + " to " + std::to_string(targets);
  }
  std::string languages;
  for (const v1::LanguagePair& pair : model.language_pairs()) {
    if (!languages.empty()) languages += " ";
    languages += pair.source() + "-" + pair.target();
  }
  return languages;
}

void PrintRow(std::ostream& out, const std::string& name, const std::string& languages,
              const std::string& architecture, const std::string& precision,
              const std::string& state, const std::string& version) {
  out << std::left << std::setw(20) << name << " " << std::setw(12) << languages << " "
      << std::setw(16) << architecture << " " << std::setw(9) << precision << " " << std::setw(9)
      << state << " " << version << "\n";
}

// Prints the versions of a model besides the one in its row.
void PrintVersions(std::ostream& out, const v1::Model& model) {
  for (const v1::ModelVersion& version : model.versions()) {
    const bool described = version.version() == model.version() && version.label() == "stable" &&
                           version.state() == v1::Model::STATE_READY;
    if (described) continue;
    std::string name = model.name() + "@" + version.label(), state = NameOf(version.state());
    if (version.percent() > 0) {
      std::ostringstream percent;
      percent << " " << version.percent() << "%";
      name += percent.str();
    }
    if (!version.failure().empty()) state += " " + version.failure();
    PrintRow(out, name, "", "", "", state, version.version());
  }
}

absl::StatusOr<v1::ListModelsResponse> Fetch(TranslationClient* client, const std::string& name) {
  if (name.empty()) return client->ListModels();
  v1::ListModelsResponse response;
  ASSIGN_OR_RETURN(*response.add_models(), client->GetModel(name));
  return response;
}

ExitCode RunModels(const ModelsFlags& flags, const Console& console) {
  const auto client = flags.server.Connect(console);
  if (!client.ok()) return ReportUsage(console, client.status());
  const absl::StatusOr<v1::ListModelsResponse> response = Fetch(client->get(), flags.name);
  if (!response.ok()) return ReportError(console, response.status());
  if (!flags.json) {
    PrintRow(console.out, "NAME", "LANGUAGES", "ARCHITECTURE", "PRECISION", "STATE", "VERSION");
  }
  for (const v1::Model& model : response->models()) {
    if (flags.json) {
      console.out << ToJson(model) << "\n";
    } else {
      PrintRow(console.out, model.name() + (model.is_default() ? " *" : ""), Languages(model),
               model.architecture(), model.precision(), NameOf(model.state()), model.version());
      PrintVersions(console.out, model);
    }
  }
  return kExitOk;
}

}  // namespace

void AddModelsCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  auto flags = std::make_shared<ModelsFlags>();
  CLI::App* command = app->add_subcommand(
      "models", "Lists the models of the server, or one of them; * marks the default one.");
  flags->server.AddTo(command);
  AddOutputFlag(command, &flags->json);
  command->add_option("NAME", flags->name, "the model to show; all if not given");
  command->callback([flags, &console, exit_code] { *exit_code = RunModels(*flags, console); });
}

}  // namespace dragoman
