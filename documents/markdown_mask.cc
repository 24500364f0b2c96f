#include "documents/markdown_mask.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "documents/source_text.h"
#include "engine/base/patience.h"
#include "engine/base/template_tags.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr std::string_view kLineSpace = " \t\r";
constexpr std::string_view kOperators[] = {"=>", "&&", "||", " ? ", "`", " + ", "??", "==", "!="};
constexpr size_t kMostKept = 4000, kMostSpan = 4000;  // bytes, so that the time is the text's

bool IsWordByte(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::string_view NameAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && (IsWordByte(text[end]) || text[end] == '-')) ++end;
  return text.substr(at, end - at);
}

// The size of a string in quotes that begins the text, and ends in its line; 0 if there is none.
size_t StringSize(std::string_view text) {
  const char quote = text[0];
  if (quote != '"' && quote != '\'') return 0;
  for (size_t at = 1; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == quote) return at + 1;
    if (text[at] == '\\') ++at;
  }
  return 0;
}

// The size of "{...}", with the braces, strings, templates and comments of JavaScript in it; 0 if
// it does not end.
size_t BracesSize(std::string_view text) {
  text = text.substr(0, kMostKept);
  const size_t last_line = text.rfind('\n'), last_comment = text.rfind("*/");
  const auto within = [](size_t at, size_t last) {
    return last != std::string_view::npos && at < last;
  };
  std::string open;  // "{" and "`"
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const std::string_view rest = text.substr(at);
    if (open.ends_with('`')) {
      if (c == '\\') ++at;
      if (c == '`') open.pop_back();
      if (rest.starts_with("${")) open += '{', ++at;
    } else if (c == '{' || c == '`') {
      open += c;
    } else if (c == '}') {
      open.pop_back();
      if (open.empty()) return at + 1;
    } else if (rest.starts_with("/*") && within(at + 1, last_comment)) {
      at = text.find("*/", at + 2) + 1;
    } else if (rest.starts_with("//") && within(at, last_line) &&
               (absl::ascii_isspace(text[at - 1]) || text[at - 1] == '{')) {
      at = text.find('\n', at);
    } else if (const size_t size = StringSize(rest); size > 0) {
      at += size - 1;
    }
  }
  return 0;
}

// Whether what stands between "\(" and "\)" is a formula: "x", "a + b", "v = \sqrt{x}", "speed =
// way / time", but not "or so" and "see x=5".  A word touches signs alone, and one of them
// computes.
bool IsFormula(std::string_view text) {
  enum { kSign, kLetter, kWord } before = kSign;
  bool computes = false, has_word = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (absl::ascii_isspace(c)) continue;
    if (c == '\\') {
      const bool command = at + 1 < text.size() && absl::ascii_isalpha(text[at + 1]);
      const std::string_view name = command ? NameAt(text, at + 1) : text.substr(at + 1, 1);
      computes = computes || command;
      at += name.size();
      if (name == "text" && text.substr(at + 1).starts_with('{')) {
        at += BracesSize(text.substr(at + 1));
      }
    } else if (IsWordByte(c) && c != '_') {
      size_t end = at;
      while (end < text.size() && IsWordByte(text[end]) && text[end] != '_') ++end;
      const std::string_view name = text.substr(at, end - at);
      const bool word = name.size() > 1 && name.find_first_not_of("0123456789") != name.npos;
      if (before == kWord || (word && before == kLetter)) return false;
      before = word ? kWord : kLetter;
      has_word = has_word || word;
      at = end - 1;
      continue;
    }
    computes = computes || std::string_view("=^_{<>").find(c) != std::string_view::npos;
    before = kSign;
  }
  return computes || (!has_word && !StripWhiteSpace(text).empty());
}

// Of an equation of LaTeX, "\(x = 5\)", but not "\(or so\)" and "\[see [x=5](y)\]".
size_t BackslashEquationSize(std::string_view text) {
  if (!text.starts_with("\\(") && !text.starts_with("\\[")) return 0;
  const size_t close = text.find(text[1] == '(' ? "\\)" : "\\]", 2);
  if (close == text.npos) return 0;
  const std::string_view inside = text.substr(2, close - 2);
  return IsFormula(inside) && inside.find("](") == inside.npos ? close + 2 : 0;
}

// Of MDX: "items.map(x => x + 1)".
bool IsExpression(std::string_view text) {
  const size_t call = text.find('(');
  if (call != text.npos && call > 0 && IsWordByte(text[call - 1])) return true;
  return std::any_of(std::begin(kOperators), std::end(kOperators),
                     [&](std::string_view sign) { return text.find(sign) != text.npos; });
}

// Of "{: .x}", "{#id .class}", "{width=50%}", "{/* ... */}" and what MDX computes.
size_t AttributesSize(std::string_view text) {
  const size_t size = BracesSize(text);
  if (size == 0) return 0;
  const std::string_view inside = StripWhiteSpace(text.substr(1, size - 2));
  if (inside.empty()) return 0;
  const size_t string = StringSize(inside);
  if (std::string_view(":#.").find(inside[0]) != std::string_view::npos ||
      inside.starts_with("/*") || (string > 0 && string == inside.size()) || IsExpression(inside)) {
    return size;
  }
  const size_t name = NameAt(inside, 0).size();
  return name > 0 && inside.substr(name).starts_with('=') ? size : 0;
}

// Of a role of MyST with its text, "{ref}`the page <page>`".
size_t RoleSize(std::string_view line) {
  const size_t name = std::min(line.find_first_of("}` "), line.size());
  const size_t code = name + 1;
  if (name < 2 || !line.substr(name).starts_with("}`")) return 0;
  const size_t text = line.find_first_not_of('`', code);
  if (text == line.npos) return 0;
  const size_t close = line.find(line.substr(code, text - code), text);
  return close == line.npos ? 0 : close + text - code;
}

// Whether the tag's name is none of HTML: "<motion.div>", and "<>" and "</>" of JSX.
bool IsOfJsx(std::string_view tag) {
  const size_t begin = std::min<size_t>(tag.starts_with("</") ? 2 : 1, tag.size());
  size_t end = begin;
  while (end < tag.size() && (IsWordByte(tag[end]) || tag[end] == '-' || tag[end] == '.')) ++end;
  if (end == begin) return tag.substr(end).starts_with('>');
  return tag.substr(begin, end - begin).find('.') != tag.npos && end < tag.size() &&
         std::string_view(" \t\r\n/>").find(tag[end]) != std::string_view::npos;
}

// Of a tag of a component, "<Tabs items={x}>", or of HTML with a value in braces.
size_t ComponentSize(std::string_view text) {
  const size_t name = text.starts_with("</") ? 2 : 1;
  if (!text.starts_with('<') || name >= text.size()) return 0;
  const bool jsx = IsOfJsx(text);
  if (jsx && text[name] == '>') return name + 1;
  const bool upper = absl::ascii_isupper(static_cast<unsigned char>(text[name]));
  if (!absl::ascii_isalpha(static_cast<unsigned char>(text[name]))) return 0;
  const bool in_line = IsAmong(NameAt(text, name), " a button input label span ");
  bool braces = false;  // or what only Vue has in a tag
  text = text.substr(0, kMostKept);
  for (size_t at = name; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '>') return upper || jsx || braces ? at + 1 : 0;
    if (c == '<') return 0;
    if (c == '@' && in_line && text[at - 1] == ' ') braces = true;
    if (c == '"' || c == '\'') {
      const size_t close = text.find(c, at + 1);
      if (close == text.npos) return 0;
      at = close;
    } else if (c == '{') {
      const size_t size = BracesSize(text.substr(at));
      if (size == 0) return 0;
      braces = true;
      at += size - 1;
    }
  }
  return 0;
}

// Of what stands alone in a line: "[TOC]", "\newpage", "(the-name-of-a-place)=".
size_t CommandSize(std::string_view text) {
  if (text.starts_with('(')) {
    const size_t close = std::min(text.find_first_of("() \n", 1), text.size());
    return text.substr(close).starts_with(")=") ? close + 2 : 0;
  }
  for (const std::string_view mark : {"[TOC]", "[[TOC]]", "[[_TOC_]]", "[toc]"}) {
    if (text.starts_with(mark)) return mark.size();
  }
  if (!text.starts_with('\\')) return 0;
  size_t size = 1 + NameAt(text, 1).size();
  if (size == 1) return 0;
  while (text.substr(size).starts_with('{')) {
    const size_t braces = BracesSize(text.substr(size));
    if (braces == 0) break;
    size += braces;
  }
  return size;
}

// The size of what is not text, which begins the text.
size_t KeptSize(std::string_view text) {
  if (const size_t size = TemplateTagSize(text); size > 0) return size;
  if (text.starts_with('{')) return AttributesSize(text);
  if (text.starts_with('<')) return ComponentSize(text);
  return 0;
}

class Masker {
 public:
  Masker(std::string_view source, Patience* patience)
      : source_(source), patience_(*patience), mask_(source) {}

  // Whether there are lines of code in it, as in MDX alone.
  bool is_mdx() const { return is_mdx_; }

  std::string Mask() {
    size_t paragraph = 0;
    bool after_blank = true;
    for (size_t line = 0; line < source_.size() && patience_.Lasts(kMostKept / 8);) {
      size_t end = EndOfLine(line);
      const std::string_view text = source_.substr(line, end - line);
      const size_t content = line + std::min(text.find_first_not_of(" \t>"), text.size());
      if (Fence(content, end)) {
        Inline(paragraph, line);
        paragraph = end;
      } else if (IsBlank(source_.substr(content, end - content))) {
        Inline(paragraph, line);
        paragraph = end;
        of_directive_ = false;
      } else if (const size_t kept = Block(line, content, end, after_blank); kept > 0) {
        Inline(paragraph, line);
        end = kept;
        paragraph = end;
      } else {
        Marker(line, content, end);
      }
      after_blank =
          content >= end || IsBlank(std::string_view(mask_).substr(content, end - content));
      line = std::min(end + 1, source_.size());
    }
    Inline(paragraph, source_.size());
    return std::move(mask_);
  }

 private:
  size_t EndOfLine(size_t at) const { return std::min(source_.find('\n', at), source_.size()); }
  std::string_view Line(size_t at) const { return source_.substr(at, EndOfLine(at) - at); }

  // Blanks, but for line ends.
  void Blank(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (mask_[i] != '\n' && mask_[i] != '\r') mask_[i] = ' ';
    }
  }

  void Fill(size_t begin, size_t size, char c) {
    std::fill_n(mask_.begin() + static_cast<std::ptrdiff_t>(begin), size, c);
  }
  void FillMarker(size_t begin, size_t size) {
    Fill(begin, size, MarkdownMask::kMore);
    mask_[begin] = MarkdownMask::kMarker;
  }

  // Whether the line is of a block of code.
  bool Fence(size_t content, size_t end) {
    std::string_view text = source_.substr(content, end - content);
    if (fence_.empty()) {  // "- ```" begins one, too
      const size_t item = text.find_first_not_of("-*+ ");
      if (item != text.npos && item > 0 && text[item - 1] == ' ') text.remove_prefix(item);
    }
    const char c = text.empty() ? '\0' : text[0];
    const size_t size = std::min(text.find_first_not_of(c), text.size());
    const bool marks = (c == '`' || c == '~') && size >= 3;
    if (fence_.empty()) {
      if (!marks || (c == '`' && text.find('`', size) != text.npos)) return false;
      fence_ = std::string(text.substr(0, size));
    } else if (marks && c == fence_[0] && size >= fence_.size() && IsBlank(text.substr(size))) {
      fence_.clear();
    }
    return true;
  }

  // Blanks a block that is no text.  Returns the end of its last line; 0 if it is none.
  size_t Block(size_t line, size_t content, size_t end, bool after_blank) {
    const std::string_view rest = source_.substr(content);
    size_t kept = 0;
    const bool option = of_directive_ && rest.starts_with(':') &&
                        rest.substr(NameAt(rest, 1).size() + 1).starts_with(':');
    of_directive_ = option || (rest.starts_with(":::") && Line(content).find('{') != rest.npos);
    if (option || (after_blank && content == line && rest.starts_with("% "))) {
      kept = end;  // ":class: dropdown"; a comment of MyST, a title of Pandoc
    } else if (const size_t code = TemplateCodeSize(rest); code > 0) {
      kept = content + code;
    } else if (const bool module = content == line && IsModule(Line(content));
               after_blank && (module || IsDrawnTable(content, end))) {
      kept = end;
      while (kept < source_.size() && !IsBlank(Line(kept + 1))) kept = EndOfLine(kept + 1);
      if (module) kept = AfterBraces(line, kept);
      is_mdx_ = is_mdx_ || module;
    } else if (const size_t equation =
                   rest.starts_with("\\[") ? BackslashEquationSize(rest.substr(0, kMostKept)) : 0;
               equation > 0 && IsLabel(Line(content + equation))) {
      kept = content + equation;
    } else if (rest.starts_with("$$") || rest.starts_with("%%") || rest.starts_with("\\begin{")) {
      const std::string_view close = rest[0] == '\\' ? "\\end{" : rest.substr(0, 2);
      const size_t at = rest.substr(0, kMostKept).find(close, 2);
      if (at != rest.npos) kept = content + at + close.size();
      if (kept > 0 && rest[0] == '\\') kept = std::min(source_.find('}', kept), source_.size());
      if (kept > 0 && rest[0] != '\\' && !IsLabel(Line(kept))) kept = 0;
    } else {
      size_t at = content;  // nothing but such things in the line
      while (true) {
        const std::string_view here = source_.substr(at);
        size_t size = KeptSize(here);
        if (size == 0) size = CommandSize(here);
        if (size == 0 && here.starts_with('{')) size = BracesSize(here);
        if (size == 0) break;
        at += size;
        at = std::min(source_.find_first_not_of(kLineSpace, at), source_.size());
      }
      if (at > content && (at == source_.size() || source_[at] == '\n')) kept = at;
    }
    if (kept == 0) return 0;
    kept = EndOfLine(kept);
    Blank(content, kept);
    return kept;
  }

  // Of what is between two template tags and is code, or nothing that is shown: "{{< highlight go
  // >}} ... {{< /highlight >}}", "{% comment %} ... {% endcomment %}", "{::comment} ...
  // {:/comment}".
  static size_t TemplateCodeSize(std::string_view text) {
    if (!text.starts_with('{')) return 0;
    text = text.substr(0, kMostKept);
    const bool kramdown = text.starts_with("{::");
    const size_t name = std::min(text.find_first_not_of("{<%:- "), text.size());
    const std::string_view kind = NameAt(text, name);
    if (!IsAmong(kind,
                 " highlight codeblock code comment nomarkdown mermaid katex math plantuml ") ||
        (!kramdown && TemplateTagSize(text) == 0)) {
      return 0;
    }
    const std::string_view end = kramdown ? "{:/" : text.starts_with("{{") ? "/" : "end";
    for (size_t at = name; (at = text.find(kramdown ? "{:/" : kind, at + 1)) != text.npos;) {
      if (kramdown || text.substr(0, at).ends_with(end)) {
        const size_t close = text.find('}', at);
        return close == text.npos ? 0 : close + 1;
      }
    }
    return 0;
  }

  // Where the last line ends of what begins in these ones: a function with an empty line in it.
  size_t AfterBraces(size_t begin, size_t end) const {
    for (size_t at = begin; (at = source_.find('{', at)) < end; ++at) {
      const size_t size = BracesSize(source_.substr(at));
      if (size == 0) break;
      at += size - 1;
      if (at >= end) end = EndOfLine(at);
    }
    return end;
  }

  // "!!! note", "???+tip"
  static bool IsAdmonition(std::string_view text) {
    if (!text.starts_with("!!!") && !text.starts_with("???")) return false;
    text.remove_prefix(text.starts_with("???+") ? 4 : 3);
    return !NameAt(text, text.starts_with(' ') ? 1 : 0).empty();
  }

  // What may stand behind an equation: "(name)", "{#eq:name}".
  static bool IsLabel(std::string_view line) {
    line = StripWhiteSpace(line);
    return line.empty() || (line[0] == '(' && line.find(')') + 1 == line.size()) ||
           (line[0] == '{' && line.find('}') + 1 == line.size());
  }

  // Of Pandoc: "+----+", or dashes below what begins at `content`, with gaps between columns.
  bool IsDrawnTable(size_t content, size_t end) const {
    if (source_.substr(content).starts_with("+--")) return true;
    if (end >= source_.size()) return false;
    const std::string_view dashes = StripWhiteSpace(Line(end + 1));
    return dashes.find("-- ") != dashes.npos && dashes.find(" --") != dashes.npos &&
           dashes.find_first_not_of("- ") == dashes.npos;
  }

  // "import Tabs from '@theme/Tabs'"
  static bool IsModule(std::string_view line) {
    if (line.starts_with("import ")) {
      const size_t quote = line.find_first_of("'\"{*");
      return quote != line.npos && (quote == 7 || line.find(" from ") != line.npos);
    }
    if (!line.starts_with("export ")) return false;
    const std::string_view what = NameAt(line, 7);
    return IsAmong(what, " const default let function class async ") ||
           line.substr(7).starts_with('{') || line.substr(7).starts_with('*');
  }

  // What begins a line and is no text.
  void Marker(size_t line, size_t content, size_t end) {
    const std::string_view text = source_.substr(content, end - content);
    const bool quoted = source_.substr(line, content - line).find('>') != source_.npos;
    const size_t size = text.size();
    if (text.starts_with(":::")) {
      const size_t colons = text.find_first_not_of(':');
      size_t title = colons == text.npos ? size : text.find_first_not_of(' ', colons);
      title = std::min(title == text.npos ? size : title, size);
      title = std::min(text.find_first_of(" \t\r[{", title), size);
      if (title < size && text[title] == '{') title += BracesSize(text.substr(title));
      Title(content, content + title, end);
    } else if (IsAdmonition(text) || text.starts_with("=== \"") || text.starts_with("===+ \"") ||
               text.starts_with("===! \"")) {
      const size_t quote = std::min(text.find('"'), size);
      Title(content + 2, content + quote, end);
      mask_[content] = '-';
      mask_[content + 1] = ' ';
    } else if (text.starts_with("///")) {
      // "/// tip | Title" begins a block of Python-Markdown, and "///" ends it.
      const size_t name = std::min(text.find_first_not_of("/ "), size);
      const std::string_view kind = NameAt(text, name);
      const size_t bar = name + kind.size();
      const bool titled = kind != "html" && text.substr(bar).starts_with(" | ");
      if (titled) {
        Title(content, content + bar + 3, end);
      } else if (StripWhiteSpace(text.substr(bar)).empty() || kind == "html") {
        Blank(content, end);
      }
    } else if (quoted && text.starts_with("[!") && text.find(']') != text.npos) {
      size_t after = text.find(']') + 1;
      if (after < size && (text[after] == '+' || text[after] == '-')) ++after;
      Title(content, content + after, end);
    } else if (size > 2 && text[0] == ':' && (text[1] == ' ' || text[1] == '\t')) {
      mask_[content] = '-';
    } else if ((text.starts_with("[^") && text.find("]:") < text.find(' ')) ||
               (text.starts_with("*[") && text.find("]:") != text.npos)) {
      mask_[content] = '-';
      mask_[content + 1] = ' ';
      Fill(content + 2, text.find("]:"), MarkdownMask::kKept);
    } else if (size > 1 && text[0] == '|' && IsLineBlock(line, end)) {
      mask_[content] = '-';
    } else if (const size_t item = ItemSize(text);
               item > 0 && (text[item - 1] != '.' || text[0] == '#' || MayBeginList(line))) {
      Blank(content, content + item);
      mask_[content] = '-';
    }
  }

  // Whether an empty line or an item is before: not of "see\np. 5".
  bool MayBeginList(size_t line) const {
    if (line < 2) return true;
    const size_t before = source_.rfind('\n', line - 2);
    const size_t first = mask_.find_first_not_of(" \t>\r\n", before == source_.npos ? 0 : before);
    return first >= line || mask_[first] == '-';
  }

  // Of the marker of an item that CommonMark does not know: "#.", "(1)", "a)", "iv.", "•".
  static size_t ItemSize(std::string_view text) {
    constexpr size_t kMost = 3;  // bytes in front of the last one, which are no spaces of code then
    if (text.starts_with("#. ")) return 2;
    for (const std::string_view bullet : {"• ", "◦ ", "▪ ", "‣ ", "· "}) {
      if (text.starts_with(bullet)) return bullet.size() - 1;
    }
    const size_t stop = std::min(text.find_first_not_of("ivx"), text.size());
    const bool small = !text.empty() && absl::ascii_islower(static_cast<unsigned char>(text[0]));
    for (const size_t size : {small ? size_t{1} : 0, stop}) {
      if (size > 0 && size <= kMost && text.substr(size).starts_with(". ")) return size + 1;
    }
    const size_t close = text.find(')');
    if (close == 0 || close > kMost || !text.substr(close).starts_with(") ")) return 0;
    const bool open = text[0] == '(';
    const std::string_view name = text.substr(open ? 1 : 0, close - (open ? 1 : 0));
    const auto is = [&](auto&& kind) {
      return !name.empty() && std::all_of(name.begin(), name.end(), kind);
    };
    const bool letter = name.size() == 1 && is(absl::ascii_isalpha);
    const bool roman = name.find_first_not_of("ivx") == name.npos && !name.empty();
    return letter || roman || (open && is(absl::ascii_isdigit)) ? close + 1 : 0;
  }

  // Makes a heading of the title that begins somewhere after `at`.
  void Title(size_t at, size_t title, size_t end) {
    const std::string_view rest = source_.substr(title, end - title);
    size_t last = end;
    const size_t first = std::min(rest.find_first_not_of(" \"["), rest.size());
    const size_t text_end = rest.find_last_not_of(" \t\r") + 1;
    Blank(at, title + first);
    mask_[at] = '#';
    // The bracket or quote that ends it, and attributes.
    const char open = first > 0 ? rest[first - 1] : ' ';
    if (open == '[' || open == '"') {
      const size_t close = rest.find(open == '[' ? ']' : '"', first);
      if (close != rest.npos) last = title + close;
    }
    Blank(std::min(last, title + std::max(text_end, first)), end);
  }

  // Lines that each begin with a bar, and are no table.
  bool IsLineBlock(size_t line, size_t end) const {
    if (line >= 2) {
      const size_t before = source_.rfind('\n', line - 2);
      const size_t begin = before == source_.npos ? 0 : before + 1;
      const size_t bar = source_.find_first_not_of(" \t>", begin);
      if (bar < line && source_[bar] == '|') return mask_[bar] == '-';
    }
    if (end >= source_.size()) return false;
    std::string_view next = Line(end + 1);
    next.remove_prefix(std::min(next.find_first_not_of(" \t>"), next.size()));
    return next.starts_with('|') && next.find_first_not_of("|:- \t\r") != next.npos &&
           source_[end - 1] != '|';
  }

  // What is kept within the lines of a paragraph, outside of code.
  void Inline(size_t begin, size_t end) {
    const size_t first = source_.substr(0, end).find_first_not_of(" \t\r\n>", begin);
    in_table_ = first < end && source_[first] == '|' && mask_[first] == '|';
    for (size_t at = begin; at < end;) at = std::max(Step(begin, at, end), at + 1);
  }

  // Of the marker of a span: the size of the span, with both; 0 if it is none.
  size_t SpanSize(std::string_view line, std::string_view marker) const {
    const size_t close = line.find(marker, marker.size() + 1);
    if (close == line.npos || absl::ascii_isspace(line[marker.size()])) return 0;
    const size_t end = close + marker.size();
    const bool apart = end == line.size() || !IsWordByte(line[end]);
    const bool same = end < line.size() && line[end] == marker[0];
    return absl::ascii_isspace(line[close - 1]) || !apart || same ? 0 : end;
  }

  // Whether a line within begins an item, a heading, a quotation or a row.
  static bool HasBlocks(std::string_view text) {
    for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) {
      const size_t first = text.find_first_not_of(" \t", at + 1);
      if (first != text.npos && std::string_view("-*+#>|").find(text[first]) != text.npos) {
        return true;
      }
    }
    return false;
  }

  bool Keep(size_t at, size_t size, size_t end) {
    if (size == 0 || size > end - at || HasBlocks(source_.substr(at, size))) return false;
    Fill(at, size, MarkdownMask::kKept);
    return true;
  }

  // Masks what begins at `at`; returns where to go on.
  size_t Step(size_t begin, size_t at, size_t end) {
    const char c = mask_[at];
    if (std::string_view("\\`{<$[]^~@=+|%").find(c) == std::string_view::npos) return at + 1;
    if (!patience_.Lasts(kMostSpan / 8)) return end;
    const std::string_view rest = source_.substr(at, std::min(end - at, kMostSpan));
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const char before = at > begin ? source_[at - 1] : ' ';
    // What may go on in further lines.
    const std::string_view lines = in_table_ ? line : rest;
    if (c == '\\') {
      const size_t equation = IsWordByte(before) ? 0 : BackslashEquationSize(lines);
      if (Keep(at, equation, end)) return at + equation;
      if (line.size() > 1 && absl::ascii_ispunct(line[1])) return at + 2;
      const size_t size = CommandSize(line);
      const bool known = IsAmong(NameAt(line, 1),
                                 " newline linebreak newpage pagebreak noindent hfill LaTeX TeX ");
      return (known || line.find('{') < size) && Keep(at, size, end) ? at + size : at + 1;
    }
    if (c == '`') {
      const size_t marks = std::min(rest.find_first_not_of('`'), rest.size());
      size_t close = rest.find(rest.substr(0, marks), marks);
      while (close != rest.npos) {
        const size_t run = std::min(rest.find_first_not_of('`', close), rest.size());
        if (run - close == marks) return at + run;
        close = rest.find(rest.substr(0, marks), run);
      }
      return at + marks;
    }
    if (c == '{' || c == '<') {
      const size_t size = c == '{' && RoleSize(line) > 0 ? RoleSize(line) : KeptSize(lines);
      const std::string_view tag_bytes = lines.substr(0, size);
      const bool of_html = tag_bytes.find('{') == lines.npos &&
                           tag_bytes.find(" @") == lines.npos &&
                           tag_bytes.find(" #") == lines.npos && !IsOfJsx(tag_bytes) &&
                           TemplateTagSize(tag_bytes) == 0;
      if (c == '<' && size > 0 && of_html) return at + size;
      if (Keep(at, size, end)) return at + size;
      const bool tag = c == '<' && line.size() > 1 && !absl::ascii_isspace(line[1]);
      return tag && line.find('>') != line.npos ? at + line.find('>') + 1 : at + 1;
    }
    if (c == '$') {
      const size_t size = EquationSize(line);
      return Keep(at, size, end) ? at + size : at + 1;
    }
    if (c == '[') return Bracket(at, line);
    if (c == ']') {
      return line.starts_with("](") || line.starts_with("]: ") ? Destination(at, line) : at + 1;
    }
    if (c == '^') {
      const size_t name = NameAt(line, 1).size() + 1;  // of a block, at its end
      const bool named =
          name > 1 && absl::ascii_isspace(before) && StripWhiteSpace(line.substr(name)).empty();
      if (named && Keep(at, name, end)) return at + name;
      if (!line.starts_with("^[")) return Script(begin, at, end);
      size_t close = 2;
      for (int depth = 1; close < line.size(); ++close) {
        depth += line[close] == '[' ? 1 : line[close] == ']' ? -1 : 0;
        if (depth == 0) break;
      }
      if (close == line.size() || line.substr(close + 1).starts_with('(')) return at + 1;
      FillMarker(at, 2);
      FillMarker(at + close, 1);
      return at + 2;
    }
    if (c == '@') {
      const size_t kind = NameAt(line, 1).size() + 1;
      const size_t name =
          kind < line.size() && line[kind] == ':' ? NameAt(line, kind + 1).size() : 0;
      const std::string_view after = line.substr(kind);
      const size_t close = after.starts_with(" [") ? after.find(']') + 1 : 0;
      const bool locates = after.substr(0, close).find_first_of("0123456789") != after.npos;
      if (kind > 1 && locates && !IsWordByte(before) && !after.substr(close).starts_with('(')) {
        Fill(at, kind + close, MarkdownMask::kKept);  // "@name [p. 5]"
        return at + kind + close;
      }
      if (before == '(' && kind > 1 && line.substr(kind).starts_with(')')) {
        Fill(at - 1, kind + 2, MarkdownMask::kKept);  // of an example of Pandoc: "(@name)"
        return at + kind + 1;
      }
      if (name == 0 || IsWordByte(before)) return at + 1;
      Fill(at, kind + 1 + name, MarkdownMask::kKept);
      return at + kind + 1 + name;
    }
    if (c == '~') return Script(begin, at, end);
    if (c == '%') {  // a comment of Obsidian
      const size_t close = line.starts_with("%%") && !IsWordByte(before) ? line.find("%%", 2) : 0;
      return close > 2 && close != line.npos && Keep(at, close + 2, end) ? at + close + 2 : at + 1;
    }
    const std::string_view marker = line.substr(0, 2);
    if (marker.size() < 2 || marker[1] != c || IsWordByte(before) || before == c) return at + 1;
    if (c == '|' && in_table_) return at + 2;
    const size_t size = SpanSize(line, marker);
    if (size == 0) return at + 2;
    if (c == '+' && line.substr(0, size).find(' ') == line.npos) {  // keys: ++ctrl+c++
      Fill(at, size, MarkdownMask::kKept);
      return at + size;
    }
    FillMarker(at, 2);
    FillMarker(at + size - 2, 2);
    return at + 2;
  }

  // "x^2^", "H~2~O", with the letters around it if they are few; "~~gone~~" is none.
  size_t Script(size_t begin, size_t at, size_t end) {
    constexpr size_t kMostLetters = 3;
    const std::string_view line = source_.substr(at, std::min(end - at, kMostSpan));
    const size_t close = line.find(line[0], 1);
    const size_t run = std::min(line.find_first_not_of(line[0]), line.size());
    if (run > 1 || close == line.npos || line.substr(close + 1).starts_with(line[0]) ||
        line.substr(1, close - 1).find_first_of(" \t\r\n") != line.npos) {
      return at + run;
    }
    size_t first = at, last = at + close + 1;
    while (first > begin && IsWordByte(mask_[first - 1])) --first;
    if (at == first) return at + 1;  // "~gone~"
    if (at - first > kMostLetters) first = at;
    while (first < at && last < end && IsWordByte(source_[last])) ++last;
    return Keep(first, last - first, end) ? last : at + 1;
  }

  // Where the destination ends of a link whose text, or name, ends at `at`.  Template tags in it
  // become what the parser takes for one: "](xxxxxxxxxxxx/b)" of "]({{ site.url }}/b)".
  size_t Destination(size_t at, std::string_view line) {
    size_t end = std::min(line.find_first_not_of(" :", 1), line.size() - 1);
    if (line[end] == '(') ++end;
    for (int depth = 1; end < line.size() && !absl::ascii_isspace(line[end]);) {
      const std::string_view rest = line.substr(end);
      size_t size = TemplateTagSize(rest);
      if (size == 0 && rest.starts_with("{{")) size = rest.find("}}") + 2;
      if (rest[0] == '<' || size == 1) break;
      if (size > 0) Fill(at + end, size, 'x');
      depth += rest[0] == '(' ? 1 : rest[0] == ')' ? -1 : 0;
      if (depth == 0) break;
      end += rest[0] == '\\' ? 2 : std::max<size_t>(size, 1);
    }
    return at + std::min(end, line.size());
  }

  // "[^1]", "[[page|text]]", "[@cited, p. 5]"
  size_t Bracket(size_t at, std::string_view line) {
    if (line.starts_with("[[")) {
      const size_t close = line.find("]]");
      if (close == line.npos || line.find('[', 2) < close) return at + 2;
      const size_t bar = line.find('|');
      if (bar > close) {
        Fill(at, close + 2, MarkdownMask::kKept);
        return at + close + 2;
      }
      FillMarker(at, bar + 1);
      FillMarker(at + close, 2);
      return at + bar + 1;
    }
    const size_t close = line.find(']');
    if (close == line.npos) return at + 1;
    const std::string_view inside = line.substr(1, close - 1);
    if (inside.starts_with('^')) {
      Fill(at, close + 1, MarkdownMask::kKept);
      return at + close + 1;
    }
    const std::string_view after = line.substr(close + 1);
    // "[text]{.small}", "[text][id]"
    const size_t label = after.starts_with('[') ? after.find_first_of("[]^", 1) : 0;
    const bool named = label > 1 && label < after.size() && after[label] == ']';
    const size_t behind = named ? label + 1 : after.starts_with('{') ? AttributesSize(after) : 0;
    const bool image = at > 0 && source_[at - 1] == '!';
    if (behind > 0 && !image && inside.find('[') == inside.npos) {
      FillMarker(at, 1);
      FillMarker(at + close, 1 + behind);
      return at + 1;
    }
    const size_t sign = inside.find('@');
    const bool cites =
        sign != inside.npos && sign + 1 < inside.size() &&
        (sign == 0 || std::string_view(" -;").find(inside[sign - 1]) != std::string_view::npos) &&
        IsWordByte(inside[sign + 1]) && inside.find('[') == inside.npos;
    if (!cites || after.starts_with('(') || after.starts_with('[')) return at + 1;
    Fill(at, close + 1, MarkdownMask::kKept);
    return at + close + 1;
  }

  const std::string_view source_;
  Patience& patience_;
  std::string mask_;
  bool in_table_ = false;
  bool is_mdx_ = false;
  bool of_directive_ = false;  // the line before: ":::{note}", or an option of it
  std::string fence_;          // that began the block of code; "": none
};

}  // namespace

size_t EquationSize(std::string_view text) {
  text = text.substr(0, kMostSpan);
  const size_t marks = text.starts_with("$$") ? 2 : 1;
  const auto space = [&](size_t at) { return absl::ascii_isspace(text[at]); };
  if (text.size() < 2 * marks + 1 || text[marks] == '$') return 0;
  if (marks == 1 && space(1)) return 0;
  for (size_t at = marks; (at = text.find('$', at)) != text.npos; ++at) {
    if (text[at - 1] == '\\') continue;
    if (marks == 2) {
      if (text.substr(at).starts_with("$$")) return at + 2;
      continue;
    }
    const bool digit =
        at + 1 < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[at + 1]));
    if (space(at - 1)) return 0;
    if (!digit) return at + 1;
  }
  return 0;
}

MarkdownMask MaskMarkdown(std::string_view source, Patience* patience) {
  Masker masker(source, patience);
  std::string bytes = masker.Mask();
  return {std::move(bytes), masker.is_mdx()};
}

}  // namespace dragoman
