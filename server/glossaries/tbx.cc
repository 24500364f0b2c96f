#include "server/glossaries/tbx.h"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/base/xml_events.h"

namespace dragoman {
namespace {

constexpr size_t kMaxOfConcept = 31;  // languages, and terms of each

// The terms of a concept, by language.
using Concept = std::map<std::string, std::vector<std::string>>;

// The characters of an element, without its marks.
std::string TextOf(std::string_view part, const std::vector<XmlEvent>& events, size_t start) {
  std::string text;
  for (size_t i = start + 1; i < events[start].partner; ++i) {
    const bool is_text = events[i].kind == XmlEvent::kText || events[i].kind == XmlEvent::kCdata;
    if (is_text) text += XmlText(XmlBytes(part, events[i]));
  }
  return std::string(StripWhiteSpace(text));
}

Concept ReadConcept(std::string_view part, const std::vector<XmlEvent>& events, size_t start) {
  Concept terms;
  std::string language;
  for (size_t i = start + 1; i < events[start].partner; ++i) {
    if (events[i].kind != XmlEvent::kStart) continue;
    const std::string_view name = LocalXmlName(events[i].name);
    if (name == "langSec" || name == "langSet") {
      language = XmlAttributeOr(XmlBytes(part, events[i]), "xml:lang");
    } else if (name == "term" && !language.empty()) {
      std::string term = TextOf(part, events, i);
      if (!term.empty()) terms[language].push_back(std::move(term));
    }
  }
  return terms;
}

using Dictionaries = std::map<std::pair<std::string, std::string>, GlossaryDictionary>;

// Adds an entry for each term of each language, into each other one.
absl::Status AddConcept(const Concept& terms, Dictionaries* dictionaries) {
  if (terms.size() > kMaxOfConcept) {
    return InvalidArgumentError("a concept has terms in ", terms.size(), " languages, the most is ",
                                kMaxOfConcept);
  }
  for (const auto& [source, sources] : terms) {
    if (sources.size() > kMaxOfConcept) {
      return InvalidArgumentError("a concept has ", sources.size(), " terms in ", source,
                                  ", the most is ", kMaxOfConcept);
    }
  }
  for (const auto& [source, sources] : terms) {
    for (const auto& [target, targets] : terms) {
      if (source == target) continue;
      GlossaryDictionary& dictionary = (*dictionaries)[{source, target}];
      dictionary.languages = {source, target};
      for (const std::string& term : sources) dictionary.entries.push_back({term, targets});
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<GlossaryText> ParseTbx(const std::string& text) {
  if (!IsValidUtf8(text)) return absl::InvalidArgumentError("is not valid UTF-8");
  ASSIGN_OR_RETURN(const std::vector<XmlEvent> events, ReadXmlEvents(text));
  Dictionaries dictionaries;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind != XmlEvent::kStart) continue;
    const std::string_view name = LocalXmlName(events[i].name);
    if (name != "conceptEntry" && name != "termEntry") continue;
    RETURN_IF_ERROR(AddConcept(ReadConcept(text, events, i), &dictionaries));
  }
  GlossaryText glossary;
  for (auto& [languages, dictionary] : dictionaries) {
    glossary.dictionaries.push_back(std::move(dictionary));
  }
  RETURN_IF_ERROR(CheckGlossary(glossary));
  return glossary;
}

}  // namespace dragoman
