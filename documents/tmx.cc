#include "documents/tmx.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "documents/source_text.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/base/xml_events.h"

namespace dragoman {
namespace {

using Events = std::vector<XmlEvent>;

// A translation unit: its texts by language, and the sentences around it.
struct Unit {
  std::map<std::string, std::string> texts;
  std::string previous, next;
};

// The characters of an element, without codes.
std::string PlainText(std::string_view text, const Events& events, size_t start) {
  std::string plain;
  for (size_t i = start + 1; i < events[start].partner; ++i) {
    const XmlEvent& event = events[i];
    const bool starts = event.kind == XmlEvent::kStart;
    if (starts && IsAmong(LocalXmlName(event.name), " bpt ept ph it ut ")) i = event.partner;
    const bool is_text = event.kind == XmlEvent::kText || event.kind == XmlEvent::kCdata;
    if (is_text) plain += XmlText(XmlBytes(text, event));
  }
  return std::string(StripWhiteSpace(plain));
}

Unit ReadUnit(std::string_view text, const Events& events, size_t start) {
  Unit unit;
  std::string language;
  for (size_t i = start + 1; i < events[start].partner; ++i) {
    if (events[i].kind != XmlEvent::kStart) continue;
    const std::string_view tag = XmlBytes(text, events[i]), name = LocalXmlName(events[i].name);
    if (name == "tuv") {
      language = XmlAttributeOr(tag, "xml:lang", XmlAttributeOr(tag, "lang"));
    } else if (name == "seg" && !language.empty()) {
      unit.texts[language] = PlainText(text, events, i);
    } else if (name == "prop") {
      const std::string type = XmlAttributeOr(tag, "type");
      if (type == "prev" || type == "x-context-pre") unit.previous = PlainText(text, events, i);
      if (type == "next" || type == "x-context-post") unit.next = PlainText(text, events, i);
    }
  }
  return unit;
}

bool IsOfLanguage(const std::string& wanted, const std::string& tag) {
  if (absl::EqualsIgnoreCase(wanted, tag)) return true;
  const bool has_region = wanted.size() < tag.size() && tag[wanted.size()] == '-';
  return has_region && absl::StartsWithIgnoreCase(tag, wanted);
}

// Sets the languages that were not named.
absl::Status FindLanguages(const std::vector<Unit>& units, const std::string& own,
                           TmxMemory* memory) {
  std::set<std::string> tags;
  for (const Unit& unit : units) {
    for (const auto& [tag, text] : unit.texts) tags.insert(tag);
  }
  if (memory->source_language.empty()) memory->source_language = own;
  std::erase_if(tags,
                [&](const std::string& tag) { return IsOfLanguage(memory->source_language, tag); });
  if (memory->target_language.empty() && tags.size() == 1) {
    memory->target_language = *tags.begin();
  }
  if (units.empty() || (!memory->source_language.empty() && !memory->target_language.empty())) {
    return absl::OkStatus();
  }
  return InvalidArgumentError(
      "want to know which languages are the source and the target: its source is \"", own,
      "\", and it also has ", absl::StrJoin(tags, ", "));
}

const std::string* TextIn(const Unit& unit, const std::string& language) {
  for (const auto& [tag, text] : unit.texts) {
    if (IsOfLanguage(language, tag) && !text.empty()) return &text;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<TmxMemory> ReadTmx(std::string_view text, std::string source_language,
                                  std::string target_language) {
  if (!IsValidUtf8(text)) return absl::InvalidArgumentError("is not valid UTF-8");
  ASSIGN_OR_RETURN(const Events events, ReadXmlEvents(text));
  std::string own;
  std::vector<Unit> units;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind != XmlEvent::kStart) continue;
    const std::string_view name = LocalXmlName(events[i].name);
    if (name == "header") own = XmlAttributeOr(XmlBytes(text, events[i]), "srclang");
    if (name == "tu") units.push_back(ReadUnit(text, events, i));
  }
  if (own == "*all*") own.clear();
  TmxMemory memory = {std::move(source_language), std::move(target_language), {}};
  RETURN_IF_ERROR(FindLanguages(units, own, &memory));
  for (Unit& unit : units) {
    const std::string* const source = TextIn(unit, memory.source_language);
    const std::string* const target = TextIn(unit, memory.target_language);
    if (source == nullptr || target == nullptr) continue;
    memory.segments.push_back({*source, *target, std::move(unit.previous), std::move(unit.next)});
  }
  return memory;
}

std::string WriteTmx(const TmxMemory& memory) {
  const std::string source = EscapeXmlAttribute(memory.source_language);
  const std::string target = EscapeXmlAttribute(memory.target_language);
  std::string text = absl::StrCat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tmx version=\"1.4\">\n<header "
      "creationtool=\"dragoman\" creationtoolversion=\"1\" segtype=\"sentence\" o-tmf=\"dragoman\" "
      "adminlang=\"en\" srclang=\"",
      source, "\" datatype=\"plaintext\"/>\n<body>\n");
  const auto property = [&](const char* type, const std::string& value) {
    if (value.empty()) return;
    absl::StrAppend(&text, "<prop type=\"", type, "\">", EscapeXml(value), "</prop>");
  };
  const auto variant = [&](const std::string& language, const std::string& value) {
    absl::StrAppend(&text, "<tuv xml:lang=\"", language, "\"><seg>", EscapeXml(value),
                    "</seg></tuv>");
  };
  for (const TmxSegment& segment : memory.segments) {
    text += "<tu>";
    property("prev", segment.previous);
    property("next", segment.next);
    variant(source, segment.source);
    variant(target, segment.target);
    text += "</tu>\n";
  }
  return text + "</body>\n</tmx>\n";
}

}  // namespace dragoman
