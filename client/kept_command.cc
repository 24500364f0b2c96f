#include "client/kept_command.h"

#include "client/json.h"
#include "client/text_table.h"

namespace dragoman {
namespace {

// A glossary has the languages of its dictionaries, and a memory its own: "en-de en-fr", with * for
// any.
template <typename T>
std::string PairOf(const T& thing) {
  const auto tag = [](const std::string& language) { return language.empty() ? "*" : language; };
  return tag(thing.source_language()) + "-" + tag(thing.target_language());
}

std::string LanguagesOf(const v1::TranslationMemory& memory) { return PairOf(memory); }
std::string LanguagesOf(const v1::Glossary& glossary) {
  std::string languages;
  for (const v1::GlossaryDictionary& dictionary : glossary.dictionaries()) {
    if (!languages.empty()) languages += " ";
    languages += PairOf(dictionary);
  }
  return languages;
}

int64_t CountOf(const v1::TranslationMemory& memory) { return memory.segment_count(); }
int64_t CountOf(const v1::Glossary& glossary) {
  int64_t entries = 0;
  for (const auto& dictionary : glossary.dictionaries()) entries += dictionary.entry_count();
  return entries;
}

template <typename T>
void PrintThings(const std::vector<T>& things, const char* counted, bool json, std::ostream* out) {
  std::vector<TextRow> rows = {{"ID", "NAME", "LANGUAGES", counted, "VERSION", "SHARED"}};
  for (const T& thing : things) {
    if (json) *out << ToLine(ToJson(thing)) << "\n";
    rows.push_back({thing.id(), thing.name(), LanguagesOf(thing), std::to_string(CountOf(thing)),
                    std::to_string(thing.version()), thing.shared() ? "yes" : "no"});
  }
  if (!json) PrintTable(rows, out);
}

}  // namespace

void PrintKept(const std::vector<v1::Glossary>& glossaries, bool json, std::ostream* out) {
  PrintThings(glossaries, "ENTRIES", json, out);
}

void PrintKept(const std::vector<v1::TranslationMemory>& memories, bool json, std::ostream* out) {
  PrintThings(memories, "SEGMENTS", json, out);
}

std::string EscapedSource(const std::string& source) {
  return (source[0] == '#' || source[0] == '\\' ? "\\" : "") + source;
}

}  // namespace dragoman
