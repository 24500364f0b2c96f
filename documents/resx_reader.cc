// .NET's .resx: the values of strings.
//
//   <data name="hello" xml:space="preserve"><value>Hello,
//   {0}!</value><comment>kept</comment></data>
//
// Data with a type or a MIME type (a size, a picture), and those that a designer of forms has named
// with ">>", are no texts.

#include <utility>

#include "absl/strings/str_replace.h"
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

constexpr XmlContent kResxContent = {
    .role = [](std::string_view, std::string_view) { return XmlRole::kCopied; }};

bool IsResxText(std::string_view tag) {
  const std::string type = XmlAttributeOr(tag, "type");
  return XmlAttributeOr(tag, "mimetype").empty() &&
         (type.empty() || type.starts_with("System.String")) &&
         !XmlAttributeOr(tag, "name").starts_with(">>");
}

}  // namespace

Passages ReadResx(std::string_view part, const DocumentOptions& options) {
  Patience patience(options);
  ASSIGN_OR_RETURN(const std::vector<XmlEvent> events, ReadXmlEvents(part, &patience));
  PassageList passages(&patience);
  const std::string newline = part.find("\r\n") == part.npos ? "\n" : "\r\n";
  bool root = true;
  for (size_t i = 0; i < events.size(); ++i) {
    if (!patience.Lasts(sizeof(XmlEvent))) return patience.status();
    const XmlEvent& event = events[i];
    if (event.kind != XmlEvent::kStart) continue;
    if (std::exchange(root, false)) {
      if (event.name == "root") continue;
      return DamagedLine(event.line, "is <", std::string(event.name), ">, want <root>");
    }
    const size_t value = FindXmlChild(events, i, "value");
    const bool text = event.name == "data" && IsResxText(XmlBytes(part, event));
    i = event.partner;
    if (!text || value == 0) continue;
    std::optional<Passage> passage = XmlPassage(
        part, events, value + 1, events[value].partner, kResxContent,
        [newline](std::string_view characters) {
          return absl::StrReplaceAll(EscapeXml(characters), {{"\n", newline}});
        },
        &patience);
    if (passage.has_value()) passages.Add(*std::move(passage));
  }
  return passages.Take();
}

}  // namespace dragoman
