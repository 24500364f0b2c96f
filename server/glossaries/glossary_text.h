// A stored glossary as text: lines of a source and its targets, separated by tabs, and comments
// that say what the file and the lines after them are.
//
//   # name: Weather
//   # owner: alice
//   # version: 3
//   # languages: en de
//   weather	Wetter	Wetters
//   # case: ignore
//   Gore-Tex
//   # forms: endings
//   house	Haus
//
// A line without a target is of something that is not translated.  A source that begins with # or a
// backslash is written with a backslash in front of it.  Every such comment may be left out: then
// the glossary is for everybody and for any languages, case matters, and targets have the forms
// that are given.  Others may write it with commas (CSV, RFC 4180) or as TBX (tbx.h).

#ifndef DRAGOMAN_SERVER_GLOSSARIES_GLOSSARY_TEXT_H_
#define DRAGOMAN_SERVER_GLOSSARIES_GLOSSARY_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/request/terms.h"
#include "server/store/owned.h"

namespace dragoman {

// Entries for a pair of languages, as BCP-47 tags; "": any.
struct GlossaryDictionary {
  LanguagePair languages;
  std::vector<GlossaryEntry> entries;
};

struct GlossaryText : OwnedHead {
  std::vector<GlossaryDictionary> dictionaries = {};  // of different languages
};

inline constexpr size_t kMaxGlossaryEntries = 100'000;
inline constexpr size_t kMaxDictionaries = 1000;  // of a glossary

// INVALID_ARGUMENT names the line.  The separator is a tab or, of CSV, a comma.
absl::StatusOr<GlossaryText> ParseGlossary(const std::string& text, char separator = '\t');

// The fields of a line of a table, without white space around them; moves *text past it.  With
// commas, a field may be in quotes, and go on over several lines.
std::vector<std::string> ReadTableLine(char separator, std::string_view* text);

// The entries of one dictionary, as such lines, and back.  REQUIRES: CheckGlossary is OK.
std::string WriteEntries(const std::vector<GlossaryEntry>& entries);
absl::StatusOr<std::vector<GlossaryEntry>> ReadEntries(const std::string& text);

// INVALID_ARGUMENT with the field, such as "glossary.dictionaries[0].entries[7].source", if it
// cannot be stored.
absl::Status CheckGlossary(const GlossaryText& glossary);

// Removes white space around the name and all terms, which a file does not keep.
void TidyGlossary(GlossaryText* glossary);

// The entry of an API that does not say whether case matters: a source in lower case is found in
// any case, any other one as it is written.
GlossaryEntry EntryByCase(std::string source, std::string target);
// The target that an API with one target for a source has of an entry.
const std::string& FirstTarget(const GlossaryEntry& entry);

// The entries of some languages, to which more may be added; new ones if there are none yet.
GlossaryDictionary& DictionaryFor(const LanguagePair& languages, GlossaryText* glossary);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GLOSSARIES_GLOSSARY_TEXT_H_
