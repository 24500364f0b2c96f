// TMX, a translation memory: units without a variant in the target language get one.
//
//   <tu><tuv xml:lang="en"><seg>One</seg></tuv></tu>
//   <tu><tuv xml:lang="en"><seg>One</seg></tuv><tuv xml:lang="de"><seg>Eins</seg></tuv></tu>

#include <utility>

#include "absl/strings/str_cat.h"
#include "documents/inline_text.h"
#include "documents/passage_list.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "documents/xml_inline.h"
#include "engine/base/patience.h"
#include "engine/base/status.h"
#include "engine/base/xml_events.h"

namespace dragoman {
namespace {

XmlRole TmxRole(std::string_view name, std::string_view) {
  return name == "hi" ? XmlRole::kMark : XmlRole::kCopied;
}

constexpr XmlContent kTmxContent = {.role = &TmxRole};

// Whether both are the same language: "en" and "en-US".
bool SameLanguage(std::string_view tag, std::string_view other) {
  return IsNamed(tag.substr(0, tag.find_first_of("-_")),
                 other.substr(0, other.find_first_of("-_")));
}

std::string LanguageOf(std::string_view tag) {
  const std::string old = XmlAttributeOr(tag, "lang");
  return XmlAttributeOr(tag, "xml:lang", old);
}

// What a file says about its language.
struct Languages {
  std::string source, target;
};

// The variant that a unit is translated from; 0 if there is none, or one in the target language.
size_t SourceOf(std::string_view part, const std::vector<XmlEvent>& events, size_t unit,
                const Languages& languages) {
  size_t source = 0;
  for (size_t i = unit + 1; i < events[unit].partner; ++i) {
    if (events[i].kind != XmlEvent::kStart) continue;
    const size_t variant = i;
    i = events[i].partner;
    if (events[variant].name != "tuv") continue;
    const std::string language = LanguageOf(XmlBytes(part, events[variant]));
    if (SameLanguage(language, languages.target)) return 0;
    const bool any = languages.source.empty() || languages.source == "*all*";
    if (source == 0 && (any || SameLanguage(language, languages.source))) source = variant;
  }
  return source;
}

}  // namespace

Passages ReadTmx(std::string_view part, const DocumentOptions& options) {
  if (options.target_language.empty()) {
    return absl::InvalidArgumentError("TMX needs the target language");
  }
  Patience patience(options);
  ASSIGN_OR_RETURN(const std::vector<XmlEvent> events, ReadXmlEvents(part, &patience));
  Languages languages = {options.source_language, options.target_language};
  PassageList passages(&patience);
  for (size_t i = 0; i < events.size(); ++i) {
    if (!patience.Lasts(sizeof(XmlEvent))) return patience.status();
    if (events[i].kind != XmlEvent::kStart) continue;
    if (events[i].name == "header" && languages.source.empty()) {
      languages.source = XmlAttributeOr(XmlBytes(part, events[i]), "srclang");
    }
    const size_t source = events[i].name == "tu" ? SourceOf(part, events, i, languages) : 0;
    const size_t segment = source == 0 ? 0 : FindXmlChild(events, source, "seg");
    if (segment == 0) continue;
    InlineText content =
        ReadXmlContent(part, events, segment + 1, events[segment].partner, kTmxContent, &patience);
    if (!content.has_words()) continue;
    const size_t place = events[events[source].partner].end;
    Passage passage = std::move(content).ToPassage(place, place, events[source].line, &EscapeXml);
    const std::string open =
        absl::StrCat(IndentBefore(part, events[source].begin), "<tuv xml:lang=\"",
                     EscapeXmlAttribute(options.target_language), "\"><seg>");
    passage.write = [write = std::move(passage.write), open](std::string_view translation) {
      return absl::StrCat(open, write(translation), "</seg></tuv>");
    };
    passage.bilingual = true;
    passages.Add(std::move(passage));
  }
  return passages.Take();
}

}  // namespace dragoman
