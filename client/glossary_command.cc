// dragoman glossary: stores glossaries on a server, and shows and deletes them.
//
// A file has an entry in each line: a source and what may stand for it, separated by tabs.  A line
// without a tab is of something that is not translated, one that begins with # is a comment, and a
// backslash at the beginning says that it is none.  `dragoman glossary get` writes such a file.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/commands.h"
#include "client/json.h"
#include "client/text_table.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

struct GlossaryFlags {
  ServerFlags server;
  bool json = false;
  std::string id;
  std::string file, name, source, target;
  bool shared = false, ignore_case = false, inflect = false;
};

absl::StatusOr<v1::GlossaryDictionary> ReadFile(const GlossaryFlags& flags) {
  ASSIGN_OR_RETURN(const std::vector<TextRow> rows, ReadTable(flags.file));
  v1::GlossaryDictionary dictionary;
  dictionary.set_source_language(flags.source);
  dictionary.set_target_language(flags.target);
  for (const TextRow& fields : rows) {
    v1::GlossaryEntry* const entry = dictionary.add_entries();
    entry->set_source(fields[0]);
    entry->set_ignore_case(flags.ignore_case);
    entry->set_inflect(flags.inflect);
    for (size_t i = 1; i < fields.size(); ++i) {
      if (!fields[i].empty()) entry->add_targets(fields[i]);
    }
  }
  return dictionary;
}

size_t CountEntries(const v1::Glossary& glossary) {
  size_t entries = 0;
  for (const v1::GlossaryDictionary& dictionary : glossary.dictionaries()) {
    entries += static_cast<size_t>(dictionary.entry_count());
  }
  return entries;
}

// "en-de en-fr", with * for any language.
std::string LanguagesOf(const v1::Glossary& glossary) {
  std::string languages;
  const auto tag = [](const std::string& language) { return language.empty() ? "*" : language; };
  for (const v1::GlossaryDictionary& dictionary : glossary.dictionaries()) {
    if (!languages.empty()) languages += " ";
    languages += tag(dictionary.source_language()) + "-" + tag(dictionary.target_language());
  }
  return languages;
}

void PrintGlossaries(const std::vector<v1::Glossary>& glossaries, bool json, std::ostream* out) {
  std::vector<TextRow> rows = {{"ID", "NAME", "LANGUAGES", "ENTRIES", "VERSION", "SHARED"}};
  for (const v1::Glossary& glossary : glossaries) {
    if (json) *out << ToLine(ToJson(glossary)) << "\n";
    rows.push_back({glossary.id(), glossary.name(), LanguagesOf(glossary),
                    std::to_string(CountEntries(glossary)), std::to_string(glossary.version()),
                    glossary.shared() ? "yes" : "no"});
  }
  if (!json) PrintTable(rows, out);
}

// As a file that can be stored again.
void PrintEntries(const v1::Glossary& glossary, std::ostream* out) {
  for (const v1::GlossaryDictionary& dictionary : glossary.dictionaries()) {
    for (const v1::GlossaryEntry& entry : dictionary.entries()) {
      const bool is_escaped = entry.source()[0] == '#' || entry.source()[0] == '\\';
      *out << (is_escaped ? "\\" : "") << entry.source();
      if (!entry.target().empty()) *out << "\t" << entry.target();
      for (const std::string& target : entry.targets()) *out << "\t" << target;
      *out << "\n";
    }
  }
}

absl::Status Create(const GlossaryFlags& flags, TranslationClient* client, std::ostream* out) {
  v1::Glossary glossary;
  glossary.set_name(flags.name.empty() ? flags.file : flags.name);
  glossary.set_shared(flags.shared);
  ASSIGN_OR_RETURN(*glossary.add_dictionaries(), ReadFile(flags));
  ASSIGN_OR_RETURN(const v1::Glossary stored, client->StoreGlossary(flags.id, glossary));
  PrintGlossaries({stored}, flags.json, out);
  return absl::OkStatus();
}

absl::Status List(const GlossaryFlags& flags, TranslationClient* client, std::ostream* out) {
  ASSIGN_OR_RETURN(const v1::ListGlossariesResponse list, client->ListGlossaries());
  PrintGlossaries({list.glossaries().begin(), list.glossaries().end()}, flags.json, out);
  return absl::OkStatus();
}

absl::Status Get(const GlossaryFlags& flags, TranslationClient* client, std::ostream* out) {
  ASSIGN_OR_RETURN(const v1::Glossary glossary, client->GetGlossaryEntries(flags.id));
  if (flags.json) {
    *out << ToLine(ToJson(glossary)) << "\n";
  } else {
    PrintEntries(glossary, out);
  }
  return absl::OkStatus();
}

absl::Status Delete(const GlossaryFlags& flags, TranslationClient* client, std::ostream*) {
  return client->DeleteGlossary(flags.id);
}

using GlossaryAction = absl::Status (*)(const GlossaryFlags& flags, TranslationClient* client,
                                        std::ostream* out);

ExitCode RunGlossary(const GlossaryFlags& flags, GlossaryAction act, const Console& console) {
  const auto client = flags.server.Connect(console);
  if (!client.ok()) return ReportUsage(console, client.status());
  const absl::Status status = act(flags, client->get(), &console.out);
  return status.ok() ? kExitOk : ReportError(console, status);
}

}  // namespace

void AddGlossaryCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  CLI::App* const all =
      app->add_subcommand("glossary", "Stores, lists, shows and deletes glossaries of the server.");
  all->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, GlossaryAction act) {
    auto flags = std::make_shared<GlossaryFlags>();
    CLI::App* const command = all->add_subcommand(name, help);
    flags->server.AddTo(command);
    AddOutputFlag(command, &flags->json);
    command->callback(
        [flags, act, &console, exit_code] { *exit_code = RunGlossary(*flags, act, console); });
    return std::pair(command, flags);
  };
  const auto [create, created] = add(
      "create", "Stores the entries of a file: source, tab, target, tab, another form ...", Create);
  create->add_option("FILE", created->file, "a table with tabs")->required();
  create->add_option("--name", created->name, "its name; that of the file if not given");
  create->add_option("-s,--source-language", created->source,
                     "the source language; any if not given");
  create->add_option("-t,--target-language", created->target,
                     "the target language; any if not given");
  create->add_flag("--ignore-case", created->ignore_case, "finds the sources in any case");
  create->add_flag("--inflect", created->inflect, "targets may have the endings of their language");
  create->add_flag("--shared", created->shared, "others may use and read it");
  create->add_option("--replace", created->id, "the id of the glossary that it replaces");
  add("list", "Lists the glossaries that you see.", List);
  const auto [get, shown] = add("get", "Writes the entries of a glossary.", Get);
  get->add_option("ID", shown->id, "the glossary")->required();
  const auto [remove, removed] = add("delete", "Deletes a glossary.", Delete);
  remove->add_option("ID", removed->id, "the glossary")->required();
}

}  // namespace dragoman
