// dragoman glossary: stores glossaries on a server, and shows and deletes them.
//
// A file has an entry in each line: a source and what may stand for it, separated by tabs.  A line
// without a tab is of something that is not translated, one that begins with # is a comment, and a
// backslash at the beginning says that it is none.  `dragoman glossary get` writes such a file.
// A CSV file has the same columns, or those of DeepL: source, target and their languages; their
// names may stand in the first row.

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "client/json.h"
#include "client/kept_command.h"
#include "client/text_table.h"
#include "documents/csv_rows.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

struct GlossaryFlags : KeptFlags {
  bool ignore_case = false, inflect = false;
};

bool IsCsv(const std::string& file, std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return absl::EndsWithIgnoreCase(file, ".csv") || text.starts_with("sep=");
}

absl::StatusOr<std::vector<TextRow>> ReadCsvTable(const std::string& file, std::string_view text) {
  Patience patience{DocumentOptions()};
  CsvRows reader(text, ',', &patience);
  std::vector<CsvCell> cells;
  std::vector<TextRow> rows;
  while (true) {
    const absl::StatusOr<bool> more = reader.Next(&cells);
    if (!more.ok()) return Annotate(more.status(), file, ": ");
    if (!*more) return rows;
    TextRow row;
    for (const CsvCell& cell : cells) row.emplace_back(StripWhiteSpace(cell.text));
    if (!row[0].empty()) rows.push_back(std::move(row));
  }
}

// "de" or "pt-BR", as DeepL writes them: "DE".
bool IsLanguage(const std::string& text) {
  const bool known = text.size() == 2 || (text.size() == 5 && (text[2] == '-' || text[2] == '_'));
  return known && absl::c_all_of(text, [](char c) {
           return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '-' || c == '_';
         });
}

// Whether a row is one of DeepL: source, target, their languages.
bool NamesLanguages(const TextRow& row) {
  return row.size() == 4 && IsLanguage(row[2]) && IsLanguage(row[3]);
}

// Whether the first row names the columns: it says so, or is the only one without languages.
bool HasHeader(const std::vector<TextRow>& rows) {
  if (rows.size() < 2) return false;
  const TextRow& first = rows[0];
  const bool named = first.size() > 1 && absl::StartsWithIgnoreCase(first[0], "source") &&
                     absl::StartsWithIgnoreCase(first[1], "target");
  if (named) return true;
  return first.size() == 4 && !NamesLanguages(first) &&
         std::all_of(rows.begin() + 1, rows.end(), NamesLanguages);
}

v1::GlossaryDictionary* DictionaryOf(const std::string& source, const std::string& target,
                                     v1::Glossary* glossary) {
  for (v1::GlossaryDictionary& dictionary : *glossary->mutable_dictionaries()) {
    if (dictionary.source_language() == source && dictionary.target_language() == target) {
      return &dictionary;
    }
  }
  v1::GlossaryDictionary* const added = glossary->add_dictionaries();
  added->set_source_language(source);
  added->set_target_language(target);
  return added;
}

absl::Status ReadFile(const GlossaryFlags& flags, v1::Glossary* glossary) {
  ASSIGN_OR_RETURN(const std::string text, ReadUtf8File(flags.file));
  const bool csv = IsCsv(flags.file, text);
  ASSIGN_OR_RETURN(std::vector<TextRow> rows,
                   csv ? ReadCsvTable(flags.file, text) : ReadTable(flags.file));
  if (csv && HasHeader(rows)) rows.erase(rows.begin());
  const bool languages = csv && !rows.empty() && absl::c_all_of(rows, NamesLanguages);
  if (rows.empty()) DictionaryOf(flags.source, flags.target, glossary);
  for (TextRow& fields : rows) {
    std::string source = flags.source, target = flags.target;
    if (languages) {
      if (source.empty()) source = absl::AsciiStrToLower(fields[2]);
      if (target.empty()) target = absl::AsciiStrToLower(fields[3]);
      fields.resize(2);
    }
    v1::GlossaryEntry* const entry = DictionaryOf(source, target, glossary)->add_entries();
    entry->set_source(fields[0]);
    entry->set_ignore_case(flags.ignore_case);
    entry->set_inflect(flags.inflect);
    for (size_t i = 1; i < fields.size(); ++i) {
      if (!fields[i].empty()) entry->add_targets(fields[i]);
    }
  }
  return absl::OkStatus();
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
  RETURN_IF_ERROR(ReadFile(flags, &glossary));
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
  create->add_option("FILE", created->file, "a table with tabs, or CSV")->required();
  create->add_option("--name", created->name, "its name; that of the file if not given");
  create->add_option("-s,--source-language", created->source,
                     "the source language; any if not given");
  create->add_option("-t,--target-language", created->target,
                     "the target language; any if not given");
  create->add_flag("--ignore-case", created->ignore_case, "finds the sources in any case");
  create->add_flag("--inflect", created->inflect, "targets may have the endings of their language");
  create->add_flag("--shared", created->shared, "others may use and read it");
  create->add_option("--replace", created->id, "the id of the glossary that it replaces");
  create->alias("import");
  all.Add("list", "Lists the glossaries that you see.", List);
  all.Add("get", "Writes the entries of a glossary.", Get, "the glossary").first->alias("export");
  all.Add("delete", "Deletes a glossary.", Delete, "the glossary");
}

}  // namespace dragoman
