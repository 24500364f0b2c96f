// dragoman glossary: stores glossaries on a server, and shows and deletes them.
//
// A file has an entry in each line: a source and what may stand for it, separated by tabs.  A line
// without a tab is of something that is not translated, one that begins with # is a comment, and a
// backslash at the beginning says that it is none.  `dragoman glossary get` writes such a file.

#include <vector>

#include "client/json.h"
#include "client/kept_command.h"
#include "client/text_table.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

struct GlossaryFlags : KeptFlags {
  bool ignore_case = false, inflect = false;
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

// As a file that can be stored again.
void PrintEntries(const v1::Glossary& glossary, std::ostream* out) {
  for (const v1::GlossaryDictionary& dictionary : glossary.dictionaries()) {
    for (const v1::GlossaryEntry& entry : dictionary.entries()) {
      *out << EscapedSource(entry.source());
      if (!entry.target().empty()) *out << "\t" << entry.target();
      for (const std::string& target : entry.targets()) *out << "\t" << target;
      *out << "\n";
    }
  }
}

absl::Status Create(GlossaryFlags flags, TranslationClient* client, std::ostream* out) {
  v1::Glossary glossary;
  glossary.set_name(flags.name.empty() ? flags.file : flags.name);
  glossary.set_shared(flags.shared);
  ASSIGN_OR_RETURN(*glossary.add_dictionaries(), ReadFile(flags));
  ASSIGN_OR_RETURN(const v1::Glossary stored, client->StoreGlossary(flags.id, glossary));
  PrintKept(std::vector{stored}, flags.json, out);
  return absl::OkStatus();
}

absl::Status List(GlossaryFlags flags, TranslationClient* client, std::ostream* out) {
  ASSIGN_OR_RETURN(const v1::ListGlossariesResponse list, client->ListGlossaries());
  PrintKept(std::vector(list.glossaries().begin(), list.glossaries().end()), flags.json, out);
  return absl::OkStatus();
}

absl::Status Get(GlossaryFlags flags, TranslationClient* client, std::ostream* out) {
  ASSIGN_OR_RETURN(const v1::Glossary glossary, client->GetGlossaryEntries(flags.id));
  if (flags.json) {
    *out << ToLine(ToJson(glossary)) << "\n";
  } else {
    PrintEntries(glossary, out);
  }
  return absl::OkStatus();
}

absl::Status Delete(GlossaryFlags flags, TranslationClient* client, std::ostream*) {
  return client->DeleteGlossary(flags.id);
}

}  // namespace

void AddGlossaryCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  const KeptCommands<GlossaryFlags> all = {
      app->add_subcommand("glossary", "Stores, lists, shows and deletes glossaries of the server."),
      console, exit_code};
  const auto [create, created] = all.Add(
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
  all.Add("list", "Lists the glossaries that you see.", List);
  all.Add("get", "Writes the entries of a glossary.", Get, "the glossary");
  all.Add("delete", "Deletes a glossary.", Delete, "the glossary");
}

}  // namespace dragoman
