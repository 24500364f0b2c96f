// dragoman models: lists the models of a server.

#include <sstream>
#include <string>
#include <vector>

#include "client/client_command.h"
#include "client/json.h"
#include "client/text_table.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

struct ModelsFlags {
  ServerFlags server;
  bool json = false;
  std::string name;
};

// "en-de de-en", or "100 to 100" where there are too many for a line of 80 characters; `dragoman
// languages` lists them all.
std::string Languages(const v1::Model& model) {
  constexpr int kMostPairs = 2;
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

// A row for each version of a model besides the one in its own row.
void AddVersions(const v1::Model& model, std::vector<TextRow>* rows) {
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
    rows->push_back({name, "", "", "", state, version.version()});
  }
}

void PrintModels(const v1::ListModelsResponse& response, std::ostream* out) {
  std::vector<TextRow> rows = {
      {"NAME", "LANGUAGES", "ARCHITECTURE", "PRECISION", "STATE", "VERSION"}};
  for (const v1::Model& model : response.models()) {
    rows.push_back({model.name() + (model.is_default() ? " *" : ""), Languages(model),
                    model.architecture(), model.precision(), NameOf(model.state()),
                    model.version()});
    AddVersions(model, &rows);
  }
  PrintTable(rows, out);
}

absl::StatusOr<v1::ListModelsResponse> Fetch(TranslationClient* client, const std::string& name) {
  if (name.empty()) return client->ListModels();
  v1::ListModelsResponse response;
  ASSIGN_OR_RETURN(*response.add_models(), client->GetModel(name));
  return response;
}

ExitCode RunModels(const ModelsFlags& flags, const Console& console, TranslationClient* client) {
  const absl::StatusOr<v1::ListModelsResponse> response = Fetch(client, flags.name);
  if (!response.ok()) return ReportError(console, response.status());
  if (!flags.json) PrintModels(*response, &console.out);
  for (const v1::Model& model : response->models()) {
    if (flags.json) console.out << ToJson(model) << "\n";
  }
  return kExitOk;
}

}  // namespace

void AddModelsCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  const auto [command, flags] = AddClientCommand<ModelsFlags>(
      app, "models", "Lists the models of the server, or one of them; * marks the default one.",
      RunModels, console, exit_code);
  AddOutputFlag(command, &flags->json);
  command->add_option("NAME", flags->name, "the model to show; all if not given");
}

}  // namespace dragoman
