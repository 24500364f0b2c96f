// XLIFF 1.2 and 2.x: segments that have no translation yet.
//
//   <segment><source>One <pc id="1">dog</pc></source></segment>
//   <segment><source>One <pc id="1">dog</pc></source><target>Ein <pc id="1">Hund</pc></target></...
//
// A target is filled, or inserted behind its source.  Those that have one are translated again only
// if their state says so ("new", "needs-translation", "initial"), which then becomes "translated".
// White space is one space, unless xml:space="preserve" says that it counts.
// The native code in <ph>, <bpt>, <ept> and <it> is copied; translate="no" is respected.

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
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

XmlRole XliffRole(std::string_view name, std::string_view tag) {
  if (name == "mrk") {
    const bool kept =
        XmlAttributeOr(tag, "translate") == "no" || XmlAttributeOr(tag, "mtype") == "protected";
    return kept ? XmlRole::kCopied : XmlRole::kMark;
  }
  if (XmlAttributeOr(tag, "ctype") == "lb") return XmlRole::kBreak;
  return name == "g" || name == "pc" ? XmlRole::kMark : XmlRole::kCopied;
}

constexpr XmlContent kXliffContent = {.role = &XliffRole, .collapse = true};
constexpr XmlContent kPreservedContent = {.role = &XliffRole};

class XliffReader {
 public:
  XliffReader(std::string_view part, const DocumentOptions& options)
      : part_(part), language_(options.target_language), patience_(options) {}

  Passages Read() && {
    ASSIGN_OR_RETURN(events_, ReadXmlEvents(part_, &patience_));
    std::vector<char> translated = {true}, preserved = {false};  // of the open elements
    bool root = true;
    for (size_t i = 0; i < events_.size(); ++i) {
      if (!patience_.Lasts(sizeof(XmlEvent))) return patience_.status();
      const XmlEvent& event = events_[i];
      if (event.kind == XmlEvent::kEnd) translated.pop_back(), preserved.pop_back();
      if (event.kind != XmlEvent::kStart) continue;
      if (std::exchange(root, false)) RETURN_IF_ERROR(ReadRoot(event));
      const std::string says = XmlAttributeOr(Bytes(event), "translate");
      translated.push_back(says.empty() ? translated.back() : says == "yes");
      const std::string space = XmlAttributeOr(Bytes(event), "xml:space");
      preserved.push_back(space.empty() ? preserved.back() : space == "preserve");
      preserved_ = preserved.back();
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
      return DamagedLine(event.line, "is <", std::string(event.name), ">, want <xliff>");
    }
    second_ = XmlAttributeOr(Bytes(event), "version").starts_with("2");
    if (second_) NameLanguage(event, "trgLang");
    return absl::OkStatus();
  }

  // If there is a next passage, the target language is written into this tag, if it has none.
  void NameLanguage(const XmlEvent& event, std::string_view attribute) {
    passages_.AddBeforeNext(std::nullopt);
    if (language_.empty() || !XmlAttributeOr(Bytes(event), attribute).empty()) return;
    if (Bytes(event).find(attribute) != part_.npos) return;  // an empty one
    const size_t place = event.begin + 1 + event.name.size();
    passages_.AddBeforeNext(Replacement(
        place, place, event.line,
        absl::StrCat(" ", std::string(attribute), "=\"", EscapeXmlAttribute(language_), "\"")));
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
    if (XmlAttributeOr(Bytes(events_[unit]), "approved") == "yes") return;
    if (target != 0 && !IsOld(state)) {
      if (segmented != 0 && FindXmlChild(events_, target, "mrk") != 0) {
        return FillMarks(segmented, target);
      }
      if (!IsBlankXml(part_, events_, target + 1, events_[target].partner)) return;
    }
    const size_t text = segmented == 0 ? source : segmented;
    InlineText content = ContentOf(text);
    if (!content.has_words()) return;
    content.CutBranches();
    const XmlEvent& from = events_[source];
    const size_t behind = events_[events_[text].partner].end;
    const size_t begin = target == 0 ? behind : events_[target].begin;
    const size_t end = target == 0 ? behind : events_[events_[target].partner].end;
    Passage passage = std::move(content).ToPassage(begin, end, from.line, Spell());
    Surround(target == 0 ? NewTag(from) : OpenTag(events_[target]), &passage);
    if (second_ && IsOld(state)) SetState(tag, &passage);
    Add(std::move(passage));
  }

  InlineText ContentOf(size_t element) {
    const std::string space = XmlAttributeOr(Bytes(events_[element]), "xml:space");
    const bool preserved = space.empty() ? preserved_ : space == "preserve";
    return ReadXmlContent(part_, events_, element + 1, events_[element].partner,
                          preserved ? kPreservedContent : kXliffContent, &patience_);
  }

  // With the line ends of the file.
  Spelling Spell() const {
    if (part_.find("\r\n") == part_.npos) return &EscapeXml;
    return [](std::string_view text) {
      return absl::StrReplaceAll(EscapeXml(text), {{"\n", "\r\n"}});
    };
  }

  // Puts the element that begins with the tag `open` around what is written.
  static void Surround(const std::string& open, Passage* passage) {
    const std::string name = open.substr(open.find('<') + 1);
    const std::string close =
        absl::StrCat("</", name.substr(0, name.find_first_of(" \t\r\n>")), ">");
    passage->write = [write = std::move(passage->write), open,
                      close](std::string_view translation) {
      return absl::StrCat(open, write(translation), close);
    };
  }

  void Add(Passage passage) {
    passage.bilingual = true;
    passages_.Add(std::move(passage));
  }

  // Of a target that is cut into segments, those that are empty.
  void FillMarks(size_t segmented, size_t target) {
    for (size_t i = target + 1; i < events_[target].partner; ++i) {
      if (events_[i].kind != XmlEvent::kStart || LocalXmlName(events_[i].name) != "mrk") continue;
      const XmlEvent &open = events_[i], &close = events_[open.partner];
      if (!IsBlankXml(part_, events_, i + 1, open.partner)) continue;
      const std::string id = XmlAttributeOr(Bytes(open), "mid");
      for (size_t j = segmented + 1; j < events_[segmented].partner && !id.empty(); ++j) {
        if (events_[j].kind != XmlEvent::kStart || XmlAttributeOr(Bytes(events_[j]), "mid") != id) {
          continue;
        }
        InlineText content = ContentOf(j);
        if (!content.has_words()) break;
        Passage passage =
            std::move(content).ToPassage(open.begin, close.end, events_[j].line, Spell());
        Surround(OpenTag(open), &passage);
        Add(std::move(passage));
        break;
      }
      i = open.partner;
    }
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
  bool second_ = false;     // version 2
  bool preserved_ = false;  // white space counts, in the element that is read
  PassageList passages_{&patience_};
};

}  // namespace

Passages ReadXliff(std::string_view part, const DocumentOptions& options) {
  return XliffReader(part, options).Read();
}

}  // namespace dragoman
