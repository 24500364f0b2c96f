// DITA: the text of topics and maps.
//
//   <p>Press <uicontrol>OK</uicontrol>.<ul><li>One</li></ul></p>      two passages
//
// An element that is part of a line of text is a mark in it, and so is what is said in place of an
// image (<alt>); any other one is a block of its own.
// Code, names of commands and files, translate="no" and metadata are kept.

#include <algorithm>
#include <utility>

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

bool IsDitaMark(std::string_view name) {
  return IsAmong(name,
                 " alt b cite em i image keyword line-through menucascade overline ph q shortcut "
                 "strong sub sup term text tm tt u uicontrol wintitle xref ");
}

bool IsCopiedMark(std::string_view name) {
  return IsAmong(name,
                 " abbreviated-form apiname boolean cmdname codeph data delim equation-inline "
                 "filepath fn fragref indexterm kwd markupname mathml msgnum msgph numcharref "
                 "oper option parameterentity parmname sep state svg-container synph systemoutput "
                 "textentity userinput var varname xmlatt xmlelement xmlnsname xmlpi ");
}

bool IsCopiedBlock(std::string_view name) {
  return IsAmong(name,
                 " codeblock data-about draft-comment equation-block foreign indextermref mathml "
                 "msgblock pre prolog required-cleanup screen syntaxdiagram topicmeta unknown ");
}

bool SaysNo(std::string_view tag) { return XmlAttributeOr(tag, "translate") == "no"; }

XmlRole DitaRole(std::string_view name, std::string_view tag) {
  return IsDitaMark(name) && !SaysNo(tag) ? XmlRole::kMark : XmlRole::kCopied;
}

constexpr XmlContent kDitaContent = {.role = &DitaRole, .collapse = true};

}  // namespace

Passages ReadDita(std::string_view part, const DocumentOptions& options) {
  Patience patience(options);
  ASSIGN_OR_RETURN(const std::vector<XmlEvent> events, ReadXmlEvents(part, &patience));
  PassageList passages(&patience);
  size_t run = 0;  // the first event of a line of text
  const auto finish = [&](size_t end) {
    auto passage = XmlPassage(part, events, run, end, kDitaContent, &EscapeXml, &patience);
    if (passage.has_value()) passages.Add(*std::move(passage));
  };
  for (size_t i = 0; i < events.size(); ++i) {
    if (!patience.Lasts(sizeof(XmlEvent))) return patience.status();
    const XmlEvent& event = events[i];
    const bool start = event.kind == XmlEvent::kStart;
    if (start && (IsDitaMark(event.name) || IsCopiedMark(event.name))) {
      i = event.partner;
    } else if (start || event.kind == XmlEvent::kEnd) {
      finish(i);
      if (start && (IsCopiedBlock(event.name) || SaysNo(XmlBytes(part, event)))) i = event.partner;
      run = i + 1;
    }
  }
  return passages.Take();
}

}  // namespace dragoman
