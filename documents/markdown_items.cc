#include "documents/markdown_items.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "documents/markdown_mask.h"
#include "documents/markdown_spelling.h"
#include "documents/source_text.h"
#include "engine/base/html_references.h"
#include "engine/base/template_tags.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

using Event = MarkdownEvent;
using Item = MarkdownItem;

constexpr std::string_view kBlanks = " \t";
constexpr size_t kMostTitle = 4096, kMostLabel = 1000;  // bytes

// Where the white space ends that a line ends with, and what the next one begins with.
size_t AfterBreak(std::string_view source, size_t at) {
  at = std::min(source.find_first_not_of(kBlanks, at), source.size());
  if (source.substr(at).starts_with('\\')) ++at;
  if (source.substr(at).starts_with('\r')) ++at;
  if (!source.substr(at).starts_with('\n')) return source.npos;
  return std::min(source.find_first_not_of(" \t>", at + 1), source.size());
}

// The end of "(destination "title")", which begins at `at`; npos if it is not that.
size_t AfterDestination(std::string_view source, size_t at) {
  const auto skip_spaces = [&] {
    at = std::min(source.find_first_not_of(" \t\r\n", at), source.size());
  };
  ++at;
  skip_spaces();
  const bool bracketed = source.substr(at).starts_with('<');
  int depth = 0;
  for (; at < source.size(); ++at) {
    const char c = source[at];
    if (c == '\n' || (!bracketed && (c == ' ' || c == '\t' || (c == ')' && depth == 0)))) break;
    if (c == '\\') ++at;
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (bracketed && c == '>') {
      ++at;
      break;
    }
  }
  skip_spaces();
  if (at < source.size() && source[at] != ')') {
    const char quote = source[at] == '(' ? ')' : source[at];
    const std::string_view title = source.substr(at, kMostTitle);
    if (std::string_view("\"')").find(quote) == source.npos) return source.npos;
    size_t end = 1;
    while (end < title.size() && title[end] != quote) end += title[end] == '\\' ? 2 : 1;
    at += end + 1;
    skip_spaces();
  }
  return source.substr(std::min(at, source.size())).starts_with(')') ? at + 1 : source.npos;
}

class Resolver {
 public:
  Resolver(std::string_view written, std::string_view mask, const std::vector<Event>& events)
      : written_(written), source_(mask), events_(events), next_(events.size() + 1, mask.npos) {
    size_t size = 0;
    for (const Event& event : events) size += event.end - event.begin;
    is_long_ = size > kMostMarkdownBytes;
    for (size_t i = events.size(); i-- > 0;) {
      next_[i] = IsPlaced(events[i]) ? events[i].begin : next_[i + 1];
    }
  }

  // False if a marker is not where it is expected.
  bool Resolve() {
    if (!FindBegin()) return false;
    at_ = begin_;
    for (size_t i = first_; i < events_.size(); ++i) {
      const size_t from = at_, known = items_.size();
      if (!Take(&i)) return false;
      for (size_t item = known; item < items_.size(); ++item) {
        if (items_[item].end == 0) items_[item].begin = from, items_[item].end = at_;
      }
    }
    return open_.empty();
  }

  size_t begin() const { return begin_; }
  size_t end() const { return at_; }
  std::vector<Item> TakeItems() { return std::move(items_); }

 private:
  struct Open {
    Event::Span span;
    std::string_view marker;
    size_t item, content;
  };
  static bool IsPlaced(const Event& event) { return event.end > 0; }
  std::string Raw(size_t begin, size_t end) const {
    return std::string(written_.substr(begin, end - begin));
  }

  // Finds the first text, and the markers in front of it.
  bool FindBegin() {
    size_t text = 0;
    while (text < events_.size() && !IsPlaced(events_[text])) ++text;
    if (text == events_.size()) return false;
    begin_ = events_[text].begin;
    if (begin_ > 0 && source_[begin_ - 1] == '\\' && events_[text].kind == Event::kText) --begin_;
    first_ = text;
    while (first_ > 0 && events_[first_ - 1].kind == Event::kBegin) {
      if (!StepBack(events_[--first_].span)) return false;
    }
    // What is closed already, such as an image without text, stays in front of the passage.
    int depth = 0;
    for (size_t i = 0; i < first_; ++i) {
      depth += events_[i].kind == Event::kBegin ? 1 : events_[i].kind == Event::kEnd ? -1 : 0;
    }
    return depth == 0;
  }

  // What the marker of a span is made of, from its end, and how many of them there may be.
  struct Marker {
    Event::Span span;
    std::string_view characters;
    size_t most;
  };
  static constexpr Marker kMarkers[] = {
      {Event::kEmphasis, "*_", 1}, {Event::kStrong, "*_", 2},
      {Event::kStrike, "~", 2},    {Event::kLink, "[<", 1},
      {Event::kImage, "[", 1},     {Event::kImage, "!", 1},
      {Event::kCode, " \n", 1},    {Event::kCode, "`", std::string_view::npos}};

  bool StepBack(Event::Span span) {
    size_t begin = begin_;
    for (const auto& [of, characters, most] : kMarkers) {
      for (size_t left = of == span ? most : 0;
           left > 0 && begin > 0 && characters.find(source_[begin - 1]) != source_.npos; --left) {
        --begin;
      }
    }
    const bool found = begin < begin_;
    begin_ = begin;
    return found;
  }

  bool Take(size_t* i) {
    const Event& event = events_[*i];
    switch (event.kind) {
      case Event::kBegin:
        return TakeBegin(i);
      case Event::kEnd:
        return TakeEnd(*i);
      case Event::kSoftBreak:
      case Event::kHardBreak:
        return TakeBreak(event.kind == Event::kHardBreak);
      case Event::kHtml:
        return TakeHtml(event);
      case Event::kText:
      case Event::kEntity:
        return TakeText(event);
    }
    return false;
  }

  bool TakeText(const Event& event) {
    if (!IsPlaced(event) || event.begin < at_) return false;
    const std::string_view gap = source_.substr(at_, event.begin - at_);
    if (gap != "\\" && gap.find_first_not_of(kBlanks) != gap.npos) return false;
    at_ = event.end;
    std::string raw = Raw(event.begin, event.end);
    if (event.kind == Event::kText) {
      const size_t first = items_.size();
      AddText(event.begin, event.end);
      if (gap == "\\") --items_[first].begin;
    } else if (std::string characters = CharactersNamed(raw); !characters.empty()) {
      const bool symbol = IsSymbol(characters);
      const auto is_digit = [&](size_t at) {
        return at < source_.size() && absl::ascii_isdigit(source_[at]);
      };
      const bool range = is_digit(event.begin - 1) && is_digit(event.end);  // 5&ndash;7
      const auto kind = symbol                                ? Item::kEmpty
                        : IsTypographic(characters) && !range ? Item::kOpaque
                                                              : Item::kText;
      items_.push_back({kind, raw, std::move(characters)});
      items_.back().symbol = symbol;
    } else {
      items_.push_back({Item::kEmpty, std::move(raw)});
    }
    return true;
  }

  // Of the text up to a mark or, in a long block, the end of a sentence.
  size_t TextSize(std::string_view text) const {
    size_t size = 0;
    for (; size < text.size() && text[size] != '\x01' && text[size] != '\x02'; ++size) {
      if (is_long_ && text.substr(size).starts_with(". ")) return size + 2;
    }
    return size;
  }

  // Text, and what is none but was read as such.
  void AddText(size_t begin, size_t end) {
    while (begin < end) {
      const std::string_view rest = source_.substr(begin, end - begin);
      size_t size = TextSize(rest);
      const size_t known = items_.size();
      if (size > 0) {
        items_.push_back({Item::kText, "", Raw(begin, begin + size)});
      } else if (rest[0] == MarkdownMask::kKept) {
        size = std::min(rest.find_first_not_of(MarkdownMask::kKept), rest.size());
        AddKept(Raw(begin, begin + size), begin);
      } else {
        size = std::min(rest.find_first_not_of(MarkdownMask::kMore, 1), rest.size());
        items_.push_back({Item::kMarker, Raw(begin, begin + size)});
      }
      items_.back().end = begin + size;
      if (items_.size() > known) items_.back().begin = begin;
      begin += size;
    }
  }

  // Whether what is in braces is nothing that a reader sees: attributes, a comment, a
  // shortcode, a space.
  static bool IsUnseen(std::string_view raw) {
    const std::string_view inside = StripWhiteSpace(raw.substr(1, raw.size() - 2));
    const size_t first = inside.find_first_not_of("'\" ");
    if (first == inside.npos || std::string_view(":#./{%").find(inside[0]) != inside.npos)
      return true;
    const size_t sign = inside.find_first_of("=('\"`?&|!+");
    return sign != inside.npos && inside[sign] == '=' &&
           !inside.substr(sign + 1).starts_with('>') && !inside.substr(sign + 1).starts_with('=');
  }

  // Attributes belong to what they touch.  A reader sees equations, citations, names of pages and
  // what MDX computes.
  void AddKept(std::string raw, size_t begin) {
    const bool braces = raw.starts_with('{') && raw.ends_with('}') && IsUnseen(raw);
    const bool prints = raw.starts_with("<%=") || raw.starts_with("<?=");
    const bool unseen =
        braces || (raw.starts_with('<') && !prints) || raw.starts_with("[^") || raw.ends_with("]:");
    if (braces && !items_.empty() && items_.back().end == begin &&
        (items_.back().kind == Item::kClose || items_.back().kind == Item::kOpaque)) {
      items_.back().raw += raw;
    } else if (!prints && !raw.starts_with("{{") && TemplateTagSize(raw) == raw.size()) {
      items_.push_back({.kind = Item::kEmpty, .raw = std::move(raw), .breaks = true});
    } else if (unseen) {
      const auto kind = raw.starts_with('<') ? Item::kHtml : Item::kEmpty;
      items_.push_back({.kind = kind, .raw = std::move(raw), .kept = true});
    } else {
      items_.push_back({Item::kOpaque, raw, OneSpace(raw)});
    }
  }

  bool TakeHtml(const Event& event) {
    if (!IsPlaced(event)) {  // a line break inside of a tag
      const size_t after = AfterBreak(source_, at_);
      if (after == source_.npos || items_.empty() || items_.back().kind != Item::kHtml)
        return false;
      items_.back().raw += ' ';
      at_ = after;
      return true;
    }
    if (event.begin < at_ ||
        source_.substr(at_, event.begin - at_).find_first_not_of(kBlanks) != source_.npos) {
      return false;
    }
    at_ = event.end;
    const std::string raw = Raw(event.begin, event.end);
    if (!raw.starts_with('<') && !items_.empty() && items_.back().kind == Item::kHtml) {
      items_.back().raw += raw;
    } else {
      items_.push_back({Item::kHtml, raw});
    }
    return true;
  }

  // Whether all so far is one strong span: people write titles so ("> **Note**").
  bool IsTitle() const {
    return !items_.empty() && items_[0].kind == Item::kOpen &&
           items_[0].partner + 1 == items_.size() &&
           (items_[0].raw == "**" || items_[0].raw == "__");
  }

  // A line break that means nothing is a space.
  bool TakeBreak(bool hard) {
    const size_t after = AfterBreak(source_, at_);
    if (after == source_.npos) return false;
    if (hard || IsTitle()) {
      items_.push_back({.kind = Item::kEmpty, .raw = Raw(at_, after), .breaks = true});
    } else {
      items_.push_back({Item::kText, Raw(at_, after), " "});
    }
    at_ = after;
    return true;
  }

  bool TakeBegin(size_t* i) {
    const Event::Span span = events_[*i].span;
    const std::string_view rest = source_.substr(at_);
    if (span == Event::kCode || (span == Event::kLink && rest.starts_with('<'))) {
      return TakeWhole(span, i);
    }
    const char first = rest.empty() ? '\0' : rest[0];
    size_t size = 0;
    if (span == Event::kEmphasis && (first == '*' || first == '_')) size = 1;
    if (span == Event::kStrong && (rest.starts_with("**") || rest.starts_with("__"))) size = 2;
    if (span == Event::kStrike) size = rest.starts_with("~~") ? 2 : first == '~' ? 1 : 0;
    if (span == Event::kLink && first == '[') size = 1;
    if (span == Event::kImage && rest.starts_with("![")) size = 2;
    if (size == 0) return false;
    at_ += size;
    open_.push_back({span, rest.substr(0, size), items_.size(), at_});
    const bool tight = span != Event::kLink && span != Event::kImage;
    items_.push_back({Item::kOpen, std::string(rest.substr(0, size)), "", 0, tight});
    return true;
  }

  // Code or <https://...>, up to the marker that ends it.
  bool TakeWhole(Event::Span span, size_t* i) {
    const std::string_view rest = source_.substr(at_);
    const char mark = '`';
    const bool link = span == Event::kLink;
    size_t size = link ? 1 : std::min(rest.find_first_not_of(mark), rest.size());
    size_t close = link ? rest.find('>') : rest.find(rest.substr(0, size), size);
    // A longer run of the same mark does not end it.
    while (!link && size > 0 && close != rest.npos) {
      const size_t run_end = std::min(rest.find_first_not_of(mark, close), rest.size());
      if (run_end - close == size) break;
      close = rest.find(rest.substr(0, size), run_end);
    }
    if (size == 0 || close == rest.npos) return false;
    std::string text = Raw(at_ + size, at_ + close), raw = Raw(at_, at_ + close + size);
    at_ += raw.size();
    for (std::string* lines : {&text, &raw}) {  // a line break inside of it is a space
      for (size_t at; (at = lines->find('\n')) != lines->npos;) {
        const size_t begin = at > 0 && (*lines)[at - 1] == '\r' ? at - 1 : at;
        lines->replace(begin, AfterBreak(*lines, at) - begin, " ");
      }
    }
    items_.push_back({Item::kOpaque, std::move(raw), std::move(text)});
    while (*i < events_.size() && !(events_[*i].kind == Event::kEnd && events_[*i].span == span)) {
      ++*i;
    }
    return true;
  }

  bool TakeEnd(size_t i) {
    if (open_.empty() || open_.back().span != events_[i].span) return false;
    const Open open = open_.back();
    open_.pop_back();
    std::string raw(open.marker);
    if (open.span == Event::kLink || open.span == Event::kImage) {
      if (!source_.substr(at_).starts_with(']')) return false;
      raw = TakeTarget(open, next_[i]);
    } else {
      if (!source_.substr(at_).starts_with(open.marker)) return false;
      at_ += open.marker.size();
    }
    items_[open.item].partner = items_.size();
    items_.push_back({Item::kClose, std::move(raw)});
    return true;
  }

  // What follows the text of a link.  "[dog]" and "[dog][]" name what they link to by that text, so
  // they are written "[Hund][dog]".
  std::string TakeTarget(const Open& open, size_t next) {
    const size_t close = at_++;
    size_t end = source_.npos;
    if (source_.substr(at_).starts_with('(')) end = AfterDestination(source_, at_);
    if (source_.substr(at_).starts_with('[')) {
      end = source_.substr(at_, kMostLabel).find(']');
      end = end == source_.npos ? end : at_ + end + 1;
    }
    const bool named = end == source_.npos || end > next || Raw(at_, end) == "[]";
    if (end != source_.npos && end <= next) at_ = end;
    if (!named) return Raw(close, at_);
    std::string name = Raw(open.content, close);
    std::replace(name.begin(), name.end(), '\n', ' ');
    return absl::StrCat("][", name, "]");
  }

  const std::string_view written_, source_;  // of the same size: the bytes, and what is read
  const std::vector<Event>& events_;
  std::vector<size_t> next_;  // events: where the first text at or after it begins
  std::vector<Item> items_;
  std::vector<Open> open_;
  bool is_long_ = false;  // so that it may have to be cut
  size_t first_ = 0, begin_ = 0, at_ = 0;
};

}  // namespace

std::optional<MarkdownItems> FindMarkdownItems(std::string_view source, std::string_view mask,
                                               const std::vector<MarkdownEvent>& events) {
  Resolver resolver(source, mask, events);
  if (!resolver.Resolve()) return std::nullopt;
  return MarkdownItems{resolver.TakeItems(), resolver.begin(), resolver.end()};
}

}  // namespace dragoman
