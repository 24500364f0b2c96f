// XLIFF 1.2 and 2.x: segments that have no translation yet.
//
//   <segment><source>One <pc id="1">dog</pc></source></segment>
//   <segment><source>One <pc id="1">dog</pc></source><target>Ein <pc id="1">Hund</pc></target></...
//
// A target is filled, or inserted behind its source.  Those that have one are translated again only
// if their state says so ("new", "needs-translation", "initial"), which then becomes "translated".
// The native code in <ph>, <bpt>, <ept> and <it> is copied; translate="no" is respected.

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "documents/inline_text.h"
#include "documents/passage_list.h"
#include "documents/patience.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "documents/xml_events.h"
#include "documents/xml_inline.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

XmlRole XliffRole(std::string_view name, std::string_view tag) {
  if (name == "mrk") {
    const bool kept =
        XmlAttributeOr(tag, "translate") == "no" || XmlAttributeOr(tag, "mtype") == "protected";
    return kept ? XmlRole::kCopied : XmlRole::kMark;
  }
  return name == "g" || name == "pc" ? XmlRole::kMark : XmlRole::kCopied;
}

constexpr XmlContent kXliffContent = {.role = &XliffRole};

class XliffReader {
 public:
  XliffReader(std::string_view part, const DocumentOptions& options)
      : part_(part), language_(options.target_language), patience_(options) {}

  Passages Read() && {
    ASSIGN_OR_RETURN(events_, ReadXmlEvents(part_, &patience_));
    std::vector<char> translated = {true};  // of the open elements
    bool root = true;
    for (size_t i = 0; i < events_.size(); ++i) {
      if (!patience_.Lasts(sizeof(XmlEvent))) return patience_.status();
      const XmlEvent& event = events_[i];
      if (event.kind == XmlEvent::kEnd) translated.pop_back();
      if (event.kind != XmlEvent::kStart) continue;
      if (std::exchange(root, false)) RETURN_IF_ERROR(ReadRoot(event));
      const std::string says = XmlAttributeOr(Bytes(event), "translate");
      translated.push_back(says.empty() ? translated.back() : says == "yes");
      const std::string_view name = LocalXmlName(event.name);
      if (!second_ && name == "file") NameLanguage(event, "target-language");
      if (name == (second_ ? "segment" : "trans-unit") && translated.back()) AddUnit(i);
    }
    return passages_.Take();
  }

 private:
  std::string_view Bytes(const XmlEvent& event) const { return XmlBytes(part_, event); }

  absl::Status ReadRoot(const XmlEvent& event) {
    if (LocalXmlName(event.name) != "xliff") {
      return DamagedLine(event.line,
                         absl::StrCat("is <", std::string(event.name), ">, want <xliff>"));
    }
    second_ = XmlAttributeOr(Bytes(event), "version").starts_with("2");
    if (second_) NameLanguage(event, "trgLang");
    return absl::OkStatus();
  }

  // If there is a next passage, the target language is written into this tag, if it has none.
  void NameLanguage(const XmlEvent& event, std::string_view attribute) {
    naming_ = std::nullopt;
    if (language_.empty() || !XmlAttributeOr(Bytes(event), attribute).empty()) return;
    if (Bytes(event).find(attribute) != part_.npos) return;  // an empty one
    const size_t place = event.begin + 1 + event.name.size();
    naming_ = Replacement(
        place, place, event.line,
        absl::StrCat(" ", std::string(attribute), "=\"", EscapeXmlAttribute(language_), "\""));
  }

  // Whether a target that has text is to be replaced.
  static bool IsOld(const std::string& state) {
    return state == "new" || state == "needs-translation" || state == "initial";
  }

  void AddUnit(size_t unit) {
    const size_t source = FindXmlChild(events_, unit, "source");
    const size_t target = FindXmlChild(events_, unit, "target");
    const size_t segmented = FindXmlChild(events_, unit, "seg-source");
    if (source == 0 || (target != 0 && target < source)) return;
    const std::string_view tag = Bytes(events_[second_ || target == 0 ? unit : target]);
    const std::string state = second_ || target != 0 ? XmlAttributeOr(tag, "state") : "";
    const bool filled =
        target != 0 && !IsBlankXml(part_, events_, target + 1, events_[target].partner);
    if ((filled && !IsOld(state)) || XmlAttributeOr(Bytes(events_[unit]), "approved") == "yes") {
      return;
    }
    const size_t text = segmented == 0 ? source : segmented;
    InlineText content =
        ReadXmlContent(part_, events_, text + 1, events_[text].partner, kXliffContent, &patience_);
    if (!content.has_words()) return;
    const XmlEvent& from = events_[source];
    const size_t behind = events_[events_[text].partner].end;
    const size_t begin = target == 0 ? behind : events_[target].begin;
    const size_t end = target == 0 ? behind : events_[events_[target].partner].end;
    Passage passage = std::move(content).ToPassage(begin, end, from.line, &EscapeXml);
    const std::string open = target == 0 ? NewTag(from) : OpenTag(events_[target]);
    const std::string name = open.substr(open.find('<') + 1);
    const std::string close =
        absl::StrCat("</", name.substr(0, name.find_first_of(" \t\r\n>")), ">");
    passage.write = [write = std::move(passage.write), open, close](std::string_view translation) {
      return absl::StrCat(open, write(translation), close);
    };
    if (second_ && IsOld(state)) SetState(tag, &passage);
    passage.bilingual = true;
    if (naming_.has_value()) passages_.Add(*std::exchange(naming_, std::nullopt));
    passages_.Add(std::move(passage));
  }

  // "<target>" in a line of its own if <source> is.
  std::string NewTag(const XmlEvent& source) const {
    const std::string_view prefix =
        source.name.substr(0, source.name.size() - LocalXmlName(source.name).size());
    return absl::StrCat(IndentBefore(part_, source.begin), "<", std::string(prefix), "target>");
  }

  // The start tag of a target, with a new state.
  std::string OpenTag(const XmlEvent& target) const {
    std::string tag(Bytes(target));
    for (const XmlAttribute& attribute : XmlAttributes(tag)) {
      if (attribute.name != "state" || !IsOld(std::string(attribute.value))) continue;
      tag.replace(static_cast<size_t>(attribute.value.data() - tag.data()), attribute.value.size(),
                  "translated");
      break;
    }
    if (tag.ends_with("/>")) tag.replace(tag.size() - 2, 2, ">");
    return tag;
  }

  // Lets the passage also change the state of its segment, whose tag is in front of it.
  void SetState(std::string_view tag, Passage* passage) const {
    for (const XmlAttribute& attribute : XmlAttributes(tag)) {
      if (attribute.name != "state") continue;
      const auto begin = static_cast<size_t>(attribute.value.data() - part_.data());
      const size_t end = begin + attribute.value.size();
      passage->write = [between = std::string(part_.substr(end, passage->begin - end)),
                        write = std::move(passage->write)](std::string_view translation) {
        return absl::StrCat("translated", between, write(translation));
      };
      passage->begin = begin;
      return;
    }
  }

  const std::string_view part_;
  const std::string language_;
  Patience patience_;
  std::vector<XmlEvent> events_;
  bool second_ = false;            // version 2
  std::optional<Passage> naming_;  // of the target language, in front of the next passage
  PassageList passages_{&patience_};
};

}  // namespace

Passages ReadXliff(std::string_view part, const DocumentOptions& options) {
  return XliffReader(part, options).Read();
}

}  // namespace dragoman
