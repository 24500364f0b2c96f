#include "server/glossaries/glossary_text.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/text/letter_case.h"
#include "server/store/kept_text.h"

namespace dragoman {
namespace {

// What the lines that are read next belong to.
struct Context {
  LanguagePair languages;
  bool ignore_case = false;
  bool inflect = false;
};

// Takes what a comment says; one that says nothing of ours is ignored.
absl::Status ReadComment(std::string_view comment, GlossaryText* glossary, Context* context) {
  const auto [key, value] = SplitComment(comment);
  ASSIGN_OR_RETURN(const bool of_owner, ReadOwner(key, value, glossary));
  if (of_owner) return absl::OkStatus();
  if (key == "languages") {
    ASSIGN_OR_RETURN(context->languages, LanguagesFrom(value));
  }
  if (key == "case") context->ignore_case = value == "ignore";
  if (key == "forms") context->inflect = value == "endings";
  return absl::OkStatus();
}

GlossaryEntry ReadEntry(std::vector<std::string> fields, const Context& context) {
  GlossaryEntry entry = {.source = std::move(fields[0]),
                         .ignore_case = context.ignore_case,
                         .inflect = context.inflect};
  for (size_t i = 1; i < fields.size(); ++i) {
    if (!fields[i].empty()) entry.targets.push_back(std::move(fields[i]));
  }
  return entry;
}

absl::Status CheckTerm(const std::string& field, const std::string& term) {
  RETURN_IF_ERROR(CheckLine(field, term, kMaxTermBytes));
  if (StripWhiteSpace(term).empty()) return InvalidField(field, "is empty, want a phrase");
  return absl::OkStatus();
}

absl::Status CheckEntry(const std::string& field, const GlossaryEntry& entry) {
  RETURN_IF_ERROR(CheckTerm(field + ".source", entry.source));
  if (entry.targets.size() > kMaxTermTargets) {
    return InvalidField(field + ".targets", "are ", entry.targets.size(), ", the most is ",
                        kMaxTermTargets);
  }
  for (const std::string& target : entry.targets) {
    RETURN_IF_ERROR(CheckTerm(field + ".targets", target));
  }
  return absl::OkStatus();
}

// A source or a line that must not be taken for a comment.
std::string Escaped(const std::string& source) {
  return absl::StartsWith(source, "#") || absl::StartsWith(source, "\\") ? "\\" + source : source;
}

}  // namespace

std::vector<std::string> ReadTableLine(char separator, std::string_view* text) {
  std::vector<std::string> fields(1);
  const bool may_quote = separator == ',';
  bool quoted = false;
  size_t i = 0;
  for (; i < text->size() && (quoted || (*text)[i] != '\n'); ++i) {
    const char c = (*text)[i];
    if (c == '"' && quoted && i + 1 < text->size() && (*text)[i + 1] == '"') {
      fields.back() += c;
      ++i;
    } else if (c == '"' && may_quote) {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  text->remove_prefix(std::min(i + 1, text->size()));
  for (std::string& field : fields) field = std::string(StripWhiteSpace(field));
  return fields;
}

absl::StatusOr<GlossaryText> ParseGlossary(const std::string& text, char separator) {
  GlossaryText glossary;
  Context context;
  if (!IsValidUtf8(text)) return absl::InvalidArgumentError("is not valid UTF-8");
  std::string_view rest = text;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  for (int number = 1; !rest.empty(); ++number) {
    absl::Status status;
    if (rest.starts_with('#')) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      status = ReadComment(rest.substr(1, end - 1), &glossary, &context);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    } else {
      if (separator == '\t' && rest.starts_with('\\')) rest.remove_prefix(1);
      std::vector<std::string> fields = ReadTableLine(separator, &rest);
      if (fields.size() == 1 && fields[0].empty()) continue;
      GlossaryEntry entry = ReadEntry(std::move(fields), context);
      status = CheckEntry("entry", entry);
      if (status.ok()) {
        DictionaryFor(context.languages, &glossary).entries.push_back(std::move(entry));
      }
    }
    if (!status.ok()) return Annotate(status, "line ", number, ": ");
  }
  RETURN_IF_ERROR(CheckGlossary(glossary));
  return glossary;
}

std::string WriteEntries(const std::vector<GlossaryEntry>& entries) {
  std::string text;
  bool ignore_case = false, inflect = false;
  for (const GlossaryEntry& entry : entries) {
    if (entry.ignore_case != ignore_case) {
      ignore_case = entry.ignore_case;
      absl::StrAppend(&text, "# case: ", ignore_case ? "ignore" : "match", "\n");
    }
    if (entry.inflect != inflect) {
      inflect = entry.inflect;
      absl::StrAppend(&text, "# forms: ", inflect ? "endings" : "given", "\n");
    }
    absl::StrAppend(&text, Escaped(entry.source));
    for (const std::string& target_form : entry.targets) absl::StrAppend(&text, "\t", target_form);
    text += '\n';
  }
  return text;
}

absl::StatusOr<std::vector<GlossaryEntry>> ReadEntries(const std::string& text) {
  ASSIGN_OR_RETURN(GlossaryText glossary, ParseGlossary(text));
  return std::move(DictionaryFor({}, &glossary).entries);
}

absl::Status CheckGlossary(const GlossaryText& glossary) {
  RETURN_IF_ERROR(CheckLine("glossary.name", glossary.name, kMaxKeptName));
  RETURN_IF_ERROR(CheckLine("principal", glossary.owner, kMaxTermBytes));
  size_t entries = 0;
  if (glossary.dictionaries.size() > kMaxDictionaries) {
    return InvalidField("glossary.dictionaries", "are ", glossary.dictionaries.size(),
                        ", the most is ", kMaxDictionaries);
  }
  for (size_t d = 0; d < glossary.dictionaries.size(); ++d) {
    const GlossaryDictionary& dictionary = glossary.dictionaries[d];
    const std::string field = absl::StrCat("glossary.dictionaries[", d, "]");
    RETURN_IF_ERROR(CheckLanguages(field, dictionary.languages));
    for (size_t before = 0; before < d; ++before) {
      if (glossary.dictionaries[before].languages == dictionary.languages) {
        return InvalidField(field, "has the languages of dictionaries[", before, "]");
      }
    }
    entries += dictionary.entries.size();
    if (entries > kMaxGlossaryEntries) {
      return InvalidField(field + ".entries", "are too many, the most is ", kMaxGlossaryEntries);
    }
    for (size_t e = 0; e < dictionary.entries.size(); ++e) {
      RETURN_IF_ERROR(CheckEntry(absl::StrCat(field, ".entries[", e, "]"), dictionary.entries[e]));
    }
  }
  return absl::OkStatus();
}

void TidyGlossary(GlossaryText* glossary) {
  const auto tidy = [](std::string* text) {
    if (IsValidUtf8(*text)) *text = std::string(StripWhiteSpace(*text));
  };
  tidy(&glossary->name);
  for (GlossaryDictionary& dictionary : glossary->dictionaries) {
    for (GlossaryEntry& entry : dictionary.entries) {
      tidy(&entry.source);
      for (std::string& target : entry.targets) tidy(&target);
    }
  }
}

GlossaryEntry EntryByCase(std::string source, std::string target) {
  bool ignore_case = true;
  for (size_t i = 0; i < source.size();) {
    const char32_t c = NextCodePoint(source, &i);
    ignore_case = ignore_case && LowerCase(c) == c;
  }
  return {.source = std::move(source), .targets = {std::move(target)}, .ignore_case = ignore_case};
}

const std::string& FirstTarget(const GlossaryEntry& entry) {
  return entry.targets.empty() ? entry.source : entry.targets.front();
}

GlossaryDictionary& DictionaryFor(const LanguagePair& languages, GlossaryText* glossary) {
  for (GlossaryDictionary& dictionary : glossary->dictionaries) {
    if (dictionary.languages == languages) return dictionary;
  }
  return glossary->dictionaries.emplace_back(GlossaryDictionary{languages, {}});
}

}  // namespace dragoman
