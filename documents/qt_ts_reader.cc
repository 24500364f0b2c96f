// Qt Linguist's .ts: messages without a translation.
//
//   <message numerus="yes">
//     <source>%n file(s)</source>
//     <translation type="unfinished"><numerusform></numerusform></translation>
//
// The forms of a plural all get the same translation, of the one text that they have.  They stay
// "unfinished", which in Linguist means that nobody has checked them.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "documents/inline_text.h"
#include "documents/passage_list.h"
#include "documents/plural_forms.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "documents/xml_inline.h"
#include "engine/base/patience.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/base/xml_events.h"

namespace dragoman {
namespace {

// <byte value="x9"/> is a character that XML does not have, here a tab.
XmlRole QtRole(std::string_view name, std::string_view tag) {
  const bool space = name == "byte" && IsAmong(XmlAttributeOr(tag, "value"), " x9 xa xd 9 10 13 ");
  return space ? XmlRole::kBreak : XmlRole::kCopied;
}

constexpr XmlContent kQtContent = {.role = &QtRole};

// How many forms a translation has, and whether one of them is filled.
struct Forms {
  size_t count = 0;
  bool filled = false;
};

Forms FormsOf(std::string_view part, const std::vector<XmlEvent>& events, size_t translation) {
  Forms forms;
  for (size_t i = translation + 1; i < events[translation].partner; ++i) {
    if (events[i].kind == XmlEvent::kStart && events[i].name == "numerusform") {
      ++forms.count;
      forms.filled = forms.filled || !IsBlankXml(part, events, i + 1, events[i].partner);
      i = events[i].partner;
    } else {
      forms.filled = forms.filled || !IsBlankXml(part, events, i, i + 1);
    }
  }
  return forms;
}

}  // namespace

bool BeginsQtTs(std::string_view bytes) {
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  bytes.remove_prefix(std::min(bytes.find_first_not_of(kXmlSpaces), bytes.size()));
  return bytes.starts_with("<?xml") || bytes.starts_with("<!DOCTYPE TS") ||
         bytes.starts_with("<TS");
}

Passages ReadQtTs(std::string_view part, const DocumentOptions& options) {
  Patience patience(options);
  ASSIGN_OR_RETURN(const std::vector<XmlEvent> events, ReadXmlEvents(part, &patience));
  const auto root = std::find_if(events.begin(), events.end(), [](const XmlEvent& event) {
    return event.kind == XmlEvent::kStart;
  });
  if (root != events.end() && root->name != "TS") {
    return DamagedLine(root->line, "is <", std::string(root->name), ">, want <TS>");
  }
  PassageList passages(&patience);
  std::string language = options.target_language;
  for (size_t i = 0; i < events.size(); ++i) {
    if (!patience.Lasts(sizeof(XmlEvent))) return patience.status();
    if (events[i].kind != XmlEvent::kStart) continue;
    if (events[i].name == "TS")
      language = XmlAttributeOr(XmlBytes(part, events[i]), "language", language);
    if (events[i].name != "message") continue;
    const size_t source = FindXmlChild(events, i, "source");
    const size_t translation = FindXmlChild(events, i, "translation");
    if (source == 0 || translation == 0) continue;
    std::string open(XmlBytes(part, events[translation]));
    const std::string type = XmlAttributeOr(open, "type");
    const Forms forms = FormsOf(part, events, translation);
    if (forms.filled || type == "obsolete" || type == "vanished") continue;
    InlineText content =
        ReadXmlContent(part, events, source + 1, events[source].partner, kQtContent, &patience);
    if (!content.has_words()) continue;
    if (open.ends_with("/>")) open.replace(open.size() - 2, 2, ">");
    const bool plural = XmlAttributeOr(XmlBytes(part, events[i]), "numerus") == "yes";
    const size_t count = !plural           ? 0
                         : forms.count > 1 ? std::min(forms.count, kMostForms)
                                           : UsualPluralForms(language);
    const std::string indent = IndentBefore(part, events[translation].begin);
    Passage passage = std::move(content).ToPassage(events[translation].begin,
                                                   events[events[translation].partner].end,
                                                   events[source].line, &EscapeXml);
    passage.write = [write = std::move(passage.write), open, count, indent](std::string_view text) {
      std::string out = open;
      const std::string form = write(text);
      for (size_t n = 0; n < count; ++n) {
        const std::string inner = indent.empty() ? "" : indent + "    ";
        absl::StrAppend(&out, inner, "<numerusform>", form, "</numerusform>");
      }
      absl::StrAppend(&out, count == 0 ? form : indent, "</translation>");
      return out;
    };
    passage.bilingual = true;
    passages.Add(std::move(passage));
  }
  return passages.Take();
}

}  // namespace dragoman
