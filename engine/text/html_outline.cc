#include "engine/text/html_outline.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "engine/base/template_tags.h"

namespace dragoman {
namespace {

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The tag of one token.
class StartTag {
 public:
  StartTag(std::string_view html, const HtmlToken& token)
      : html_(html), token_(token), name_(HtmlName(Written(token.name))) {}

  const std::string& name() const { return name_; }

  const HtmlAttribute* Find(std::string_view name) const {
    for (const HtmlAttribute& attribute : token_.attributes) {
      const std::string_view written = Written(attribute.name);
      if (absl::EqualsIgnoreCase({written.data(), written.size()}, {name.data(), name.size()})) {
        return &attribute;
      }
    }
    return nullptr;
  }

  std::string Value(std::string_view name) const {
    const HtmlAttribute* const attribute = Find(name);
    if (attribute == nullptr) return "";
    return DecodeHtml(Written(attribute->value), HtmlContent::kData, HtmlPlace::kAttribute);
  }

  // What it says about the translation of its content, if anything.
  std::optional<bool> SaysTranslated(const MarkupOptions& options) const {
    if (token_.attributes.empty()) return std::nullopt;
    if (Find("translate") != nullptr) {
      const std::string value = Value("translate");
      if (value.empty() || absl::EqualsIgnoreCase(value, "yes")) return true;
      if (absl::EqualsIgnoreCase(value, "no")) return false;
    }
    const absl::ByAnyChar space({kMarkupSpaces.data(), kMarkupSpaces.size()});
    for (const absl::string_view word : absl::StrSplit(Value("class"), space)) {
      if (word == "notranslate") return false;
    }
    // Pages often have the language of their template, so a page's own is not asked.
    if (Find("lang") == nullptr || name() == "html" || name() == "body") return std::nullopt;
    return TranslatesLanguage(Value("lang"), options);
  }

  // The values that are texts.
  std::vector<HtmlValue> Values() const {
    std::vector<HtmlValue> values;
    if (token_.attributes.empty()) return values;
    const auto add = [&](std::string_view name) {
      const HtmlAttribute* const found = Find(name);
      if (found == nullptr || found->value.size() == 0) return;
      const std::string_view written = Written(found->value);
      const bool printed = written.find("{{") != written.npos;  // of which it could lose a part
      if (printed || FindTemplateTag(written, 0) < written.size()) return;
      values.push_back({found->value,
                        found->quote == '"'    ? Writing::kDoubleQuoted
                        : found->quote == '\'' ? Writing::kSingleQuoted
                                               : Writing::kUnquoted,
                        name == "title"});
    };
    for (const std::string_view name : {"alt", "aria-label", "placeholder"}) add(name);
    if (name_ != "link" && name_ != "style") add("title");
    if (name_ == "optgroup" || name_ == "option" || name_ == "track") add("label");
    if (name_ == "input" && IsButton()) add("value");
    if (name_ == "meta" && IsDescription()) add("content");
    std::sort(values.begin(), values.end(),
              [](const HtmlValue& a, const HtmlValue& b) { return a.raw.begin < b.raw.begin; });
    return values;
  }

 private:
  std::string_view Written(TextSpan span) const { return html_.substr(span.begin, span.size()); }

  bool IsButton() const {
    const std::string type = Value("type");
    return absl::EqualsIgnoreCase(type, "button") || absl::EqualsIgnoreCase(type, "submit") ||
           absl::EqualsIgnoreCase(type, "reset");
  }

  bool IsDescription() const {
    for (const std::string_view key : {"name", "property"}) {
      const std::string value = HtmlName(Value(key));
      if (Has({"description", "og:title", "og:description", "twitter:title", "twitter:description"},
              value)) {
        return true;
      }
    }
    return false;
  }

  const std::string_view html_;
  const HtmlToken& token_;
  const std::string name_;
};

class OutlineMaker {
 public:
  OutlineMaker(std::string_view html, const MarkupOptions& options)
      : html_(html),
        options_(options),
        splitting_(options.splitting_tags.begin(), options.splitting_tags.end()),
        non_splitting_(options.non_splitting_tags.begin(), options.non_splitting_tags.end()),
        ignored_(options.ignore_tags.begin(), options.ignore_tags.end()),
        tokenizer_(html) {
    outline_.elements.emplace_back();
  }

  HtmlOutline Make() {
    HtmlToken token;
    while (tokenizer_.Next(&token)) {
      if (token.kind == HtmlTokenKind::kStartTag) {
        Start(token);
      } else if (token.kind == HtmlTokenKind::kEndTag) {
        End(token);
      } else {
        AddOther(token);
      }
      tokenizer_.AllowCdata(outline_.elements[Top()].foreign);
    }
    while (!open_.empty()) Pop();
    return std::move(outline_);
  }

 private:
  struct Open {
    int element;
    std::string name;
  };

  int Top() const { return open_.empty() ? 0 : open_.back().element; }
  HtmlElement& Element(int element) { return outline_.elements[static_cast<size_t>(element)]; }

  void Add(HtmlEvent::Kind kind, const HtmlToken& token, int element) {
    outline_.events.push_back({kind, token.raw, token.text, token.content, element});
  }

  // What the input cuts off must stay at the end, so that it does not swallow anything.
  void AddOther(const HtmlToken& token) {
    const HtmlEvent::Kind kind = token.kind == HtmlTokenKind::kText       ? HtmlEvent::kText
                                 : token.kind == HtmlTokenKind::kTemplate ? HtmlEvent::kBoundary
                                 : token.raw.end == html_.size()          ? HtmlEvent::kBoundary
                                 : token.kind == HtmlTokenKind::kCdata    ? HtmlEvent::kUnparsed
                                 : token.kind == HtmlTokenKind::kDoctype  ? HtmlEvent::kBoundary
                                                                          : HtmlEvent::kOther;
    Add(kind, token, Top());
  }

  void Push(int element, std::string name) {
    if (Element(element).kind.block) blocks_.push_back(open_.size());
    places_[name].push_back(open_.size());
    open_.push_back({element, std::move(name)});
  }

  // The innermost open element has ended before the next event.
  void Pop() {
    if (!blocks_.empty() && blocks_.back() + 1 == open_.size()) blocks_.pop_back();
    places_[open_.back().name].pop_back();
    Element(Top()).end = outline_.events.size();
    open_.pop_back();
  }

  bool IsForeign(const std::string& name) {
    if (!open_.empty() && Element(Top()).foreign && LeavesForeign(name)) {
      while (!open_.empty() && Element(Top()).foreign && !HoldsHtml(open_.back().name)) Pop();
    }
    if (IsForeignRoot(name)) return true;
    return Element(Top()).foreign && !HoldsHtml(open_.back().name);
  }

  HtmlKind KindOf(const std::string& name, bool foreign) const {
    HtmlKind kind;
    if (!foreign || IsForeignRoot(name)) kind = KindOfHtml(name);
    if (splitting_.contains(name)) kind.block = true;
    if (non_splitting_.contains(name)) kind.block = false;
    if (kind.breaks && !non_splitting_.contains(name) && !options_.join_lines) {
      kind.block = true;
    }
    return kind;
  }

  void EndOpenElements(const std::string& next, bool next_is_block) {
    while (!blocks_.empty() && EndsOpenElement(open_[blocks_.back()].name, next, next_is_block)) {
      const size_t size = blocks_.back();
      while (open_.size() > size) Pop();
    }
  }

  void Start(const HtmlToken& token) {
    const StartTag tag(html_, token);
    const bool foreign = IsForeign(tag.name());
    const HtmlKind kind = KindOf(tag.name(), foreign);
    if (!foreign) EndOpenElements(tag.name(), kind.block && !kind.breaks);
    const int number = static_cast<int>(outline_.elements.size());
    outline_.elements.push_back(MakeElement(tag, kind, foreign, token));
    if (kind.is_void || (foreign && token.self_closing)) {
      Add(HtmlEvent::kVoid, token, number);
      return;
    }
    Add(HtmlEvent::kStart, token, number);
    if (kind.content != HtmlContent::kData) tokenizer_.Enter(kind.content, tag.name());
    Push(number, tag.name());
  }

  HtmlElement MakeElement(const StartTag& tag, const HtmlKind& kind, bool foreign,
                          const HtmlToken& token) {
    const HtmlElement& parent = Element(Top());
    HtmlElement element = {.kind = kind, .parent = Top(), .foreign = foreign};
    element.kind.keeps_space |= parent.kind.keeps_space;
    element.kind.hidden |= parent.kind.hidden;
    const bool ignored = ignored_.contains(tag.name());
    const std::optional<bool> says = tag.SaysTranslated(options_);
    if (!ignored && !parent.sealed && says.value_or(parent.translated)) {
      element.values = tag.Values();
    }
    element.sealed = parent.sealed || ignored || kind.sealed;
    element.translated = !element.sealed && says.value_or(parent.translated && !kind.copied);
    if (blocks_.empty() && kind.block && element.translated && tag.Find("dir") == nullptr) {
      element.direction_place = token.name.end;
    }
    if (element.translated && !parent.translated) Tell(&HtmlElement::has_exception);
    if (kind.block && !kind.breaks) Tell(&HtmlElement::has_block);
    return element;
  }

  // Tells the open elements that they contain such an element.
  void Tell(bool HtmlElement::*what) {
    for (int e = Top(); e > 0 && !(Element(e).*what); e = Element(e).parent)
      Element(e).*what = true;
  }

  void End(const HtmlToken& token) {
    const std::string name = HtmlName(html_.substr(token.name.begin, token.name.size()));
    const auto places = places_.find(name);
    if (places == places_.end() || places->second.empty()) return AddStray(name, token);
    // The end of what is part of a line does not end a block.
    const size_t place = places->second.back();
    const bool is_block = Element(open_[place].element).kind.block;
    if (!is_block && !blocks_.empty() && place < blocks_.back()) return AddStray(name, token);
    while (open_.size() > place + 1) Pop();
    const int number = Top();
    Pop();
    Element(number).closed = true;
    Add(HtmlEvent::kEnd, token, number);
  }

  // Adds an end tag without a start tag.
  void AddStray(const std::string& name, const HtmlToken& token) {
    Add(KindOf(name, false).block ? HtmlEvent::kBoundary : HtmlEvent::kOther, token, Top());
  }

  const std::string_view html_;
  const MarkupOptions& options_;
  const std::unordered_set<std::string> splitting_, non_splitting_, ignored_;
  HtmlTokenizer tokenizer_;
  HtmlOutline outline_;
  std::vector<Open> open_;
  std::vector<size_t> blocks_;                                   // places of blocks in `open_`
  std::unordered_map<std::string, std::vector<size_t>> places_;  // of each name
};

}  // namespace

HtmlOutline OutlineHtml(std::string_view html, const MarkupOptions& options) {
  return OutlineMaker(html, options).Make();
}

}  // namespace dragoman
