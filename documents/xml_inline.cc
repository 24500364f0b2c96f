#include "documents/xml_inline.h"

#include <algorithm>
#include <utility>

#include "documents/source_text.h"
#include "engine/base/html_references.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

// Whether a code begins something (1: <bpt>, <sc/>, Angular's <x id="START_LINK"/>), ends it (-1),
// or stands alone (0).
int CodeStep(std::string_view name, std::string_view tag) {
  if (IsAmong(name, " bpt bx sc ")) return 1;
  if (IsAmong(name, " ept ex ec ")) return -1;
  const std::string id = name == "x" ? XmlAttributeOr(tag, "id") : "";
  return id.starts_with("START_") ? 1 : id.starts_with("CLOSE_") ? -1 : 0;
}

// The code that ends the one at events[start], with whole pairs in between; 0 if there is none.
size_t EndOfCode(std::string_view part, const std::vector<XmlEvent>& events, size_t start,
                 size_t end) {
  constexpr size_t kMostBetween = 512;  // events, so that the time is that of the text
  if (CodeStep(LocalXmlName(events[start].name), XmlBytes(part, events[start])) != 1) return 0;
  int depth = 0;
  for (size_t i = events[start].partner + 1; i < std::min(end, start + kMostBetween); ++i) {
    if (events[i].kind == XmlEvent::kEnd) break;
    if (events[i].kind != XmlEvent::kStart) continue;
    const int step = CodeStep(LocalXmlName(events[i].name), XmlBytes(part, events[i]));
    if (step < 0 && depth == 0) return i;
    depth += step;
    i = events[i].partner;
  }
  return 0;
}

// Whether that is a code of XLIFF or TMX which stands for no word, as <ph>%s</ph> does.
bool IsWordless(std::string_view name, std::string_view inside) {
  return name == "bpt" || name == "ept" || name == "it" || name == "ut" ||
         (name == "ph" && inside.starts_with('<'));
}

}  // namespace

InlineText ReadXmlContent(std::string_view part, const std::vector<XmlEvent>& events, size_t begin,
                          size_t end, const XmlContent& content, Patience* patience) {
  InlineText text(patience);
  std::vector<size_t> codes;  // that end the open ones
  const auto whole = [&](size_t start) {
    return std::string(
        part.substr(events[start].begin, events[events[start].partner].end - events[start].begin));
  };
  for (size_t i = begin; i < end && patience->Lasts(sizeof(XmlEvent)); ++i) {
    const XmlEvent& event = events[i];
    const std::string_view bytes = XmlBytes(part, event);
    if (event.kind == XmlEvent::kText || event.kind == XmlEvent::kCdata) {
      const auto add = [&](std::string_view part_of_it) {
        std::string characters = XmlText(part_of_it);
        if (content.collapse && event.kind == XmlEvent::kText) characters = OneSpace(characters);
        text.Text(content.read == nullptr ? characters : content.read(characters));
      };
      size_t done = 0, at = event.kind == XmlEvent::kText ? bytes.find("&#") : bytes.npos;
      for (size_t after; at != bytes.npos; at = bytes.find("&#", after)) {
        after = bytes.find(';', at) + 1;
        const std::string_view reference = bytes.substr(at, after - at);
        if (!IsSymbol(XmlText(reference))) continue;
        add(bytes.substr(done, at - done));
        text.Symbol(std::string(reference), XmlText(reference));  // "&#160;"
        done = after;
      }
      add(bytes.substr(done));
    } else if (event.kind == XmlEvent::kReference && CharactersNamed(bytes).empty()) {
      text.Opaque(std::string(bytes), "");  // a name, such as that of the product
    } else if (event.kind == XmlEvent::kEnd) {
      text.Close();
    } else if (event.kind != XmlEvent::kStart) {
      text.Empty(std::string(bytes));
    } else if (!codes.empty() && i == codes.back()) {
      text.Close();
      codes.pop_back();
      i = event.partner;
    } else if (const size_t code = EndOfCode(part, events, i, end); code > 0) {
      text.Open(whole(i), whole(code));
      codes.push_back(code);
      i = event.partner;
    } else if (content.role(LocalXmlName(event.name), bytes) == XmlRole::kBreak) {
      text.Break(whole(i));
      i = event.partner;
    } else if (const XmlEvent& close = events[event.partner]; close.begin == close.end) {
      text.Empty(std::string(bytes));
      i = event.partner;
    } else if (content.role(LocalXmlName(event.name), bytes) == XmlRole::kMark) {
      text.Open(std::string(bytes), std::string(XmlBytes(part, close)));
    } else {
      std::string inside;
      for (size_t j = i + 1; j < event.partner; ++j) {
        if (events[j].kind == XmlEvent::kText) inside += XmlText(XmlBytes(part, events[j]));
      }
      if (IsWordless(LocalXmlName(event.name), inside)) {
        text.Empty(whole(i));
      } else {
        text.Opaque(whole(i), inside);
      }
      i = event.partner;
    }
  }
  return text;
}

std::optional<Passage> XmlPassage(std::string_view part, const std::vector<XmlEvent>& events,
                                  size_t begin, size_t end, const XmlContent& content,
                                  Spelling spell, Patience* patience) {
  if (begin == end) return std::nullopt;
  InlineText text = ReadXmlContent(part, events, begin, end, content, patience);
  if (!text.has_words()) return std::nullopt;
  const size_t first = part.find_first_not_of(kXmlSpaces, events[begin].begin);
  const size_t last = part.find_last_not_of(kXmlSpaces, events[end - 1].end - 1) + 1;
  Passage passage = std::move(text).ToPassage(first, last, events[begin].line, std::move(spell));
  passage.write = [write = std::move(passage.write)](std::string_view translation) {
    const std::string written = write(translation);
    return std::string(StripWhiteSpace(written));
  };
  return passage;
}

bool IsBlankXml(std::string_view part, const std::vector<XmlEvent>& events, size_t begin,
                size_t end) {
  return std::all_of(events.begin() + static_cast<std::ptrdiff_t>(begin),
                     events.begin() + static_cast<std::ptrdiff_t>(end), [&](const XmlEvent& event) {
                       return event.kind == XmlEvent::kOther ||
                              (event.kind == XmlEvent::kText &&
                               XmlBytes(part, event).find_first_not_of(kXmlSpaces) == part.npos);
                     });
}

size_t FindXmlChild(const std::vector<XmlEvent>& events, size_t start, std::string_view name) {
  for (size_t i = start + 1; i < events[start].partner; ++i) {
    if (events[i].kind != XmlEvent::kStart) continue;
    if (LocalXmlName(events[i].name) == name) return i;
    i = events[i].partner;
  }
  return 0;
}

std::string IndentBefore(std::string_view part, size_t place) {
  const size_t end = part.substr(0, place).find_last_not_of(kXmlSpaces);
  const std::string_view space = part.substr(end + 1, place - end - 1);
  size_t line = space.rfind('\n');
  if (line == space.npos) return "";
  if (line > 0 && space[line - 1] == '\r') --line;
  return std::string(space.substr(line));
}

}  // namespace dragoman
