// The standard describes some eighty states, one for each position in a token.  Here most of them
// are positions in a function: ReadAttribute is "before attribute name" when it begins and "after
// attribute value" when it ends.  The end of a comment is found by searching for it, which amounts
// to the same as the ten states that count its dashes.

#include "engine/text/html_tokenizer.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "engine/base/template_tags.h"

namespace dragoman {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

bool EndsTagName(char c) { return IsSpace(c) || c == '/' || c == '>'; }

bool BeginsWith(std::string_view text, std::string_view word) {
  return absl::EqualsIgnoreCase({text.data(), std::min(text.size(), word.size())},
                                {word.data(), word.size()});
}

}  // namespace

void HtmlTokenizer::Enter(HtmlContent content, std::string_view element) {
  content_ = content;
  element_ = element;
}

size_t HtmlTokenizer::TemplateTagAt(size_t at) const { return TemplateTagSize(html_.substr(at)); }

size_t HtmlTokenizer::Find(std::string_view what, size_t at) const {
  return std::min(html_.find(what, at), html_.size());
}

size_t HtmlTokenizer::SkipSpace(size_t at) const {
  while (at < html_.size() && IsSpace(html_[at])) ++at;
  return at;
}

bool HtmlTokenizer::Next(HtmlToken* token) {
  if (at_ == html_.size()) return false;
  token->attributes.clear();
  *token = {.raw = {at_, at_}, .content = content_, .attributes = std::move(token->attributes)};
  const bool data = content_ == HtmlContent::kData;
  size_t end = data ? EndOfData(at_) : EndOfContent(at_);
  if (data || content_ == HtmlContent::kRcdata) end = EndOfText(at_, end);
  if (end > at_) {
    token->kind = HtmlTokenKind::kText;
    token->text = {at_, end};
    at_ = end;
  } else if (const size_t size = TemplateTagAt(at_); size > 0) {
    token->kind = HtmlTokenKind::kTemplate;
    at_ += size;
  } else {
    at_ = ReadMarkup(token);
    content_ = HtmlContent::kData;
  }
  token->raw.end = at_;
  return true;
}

// Whether the '<' at `at` begins a token.
bool HtmlTokenizer::IsMarkup(size_t at) const {
  if (at + 1 >= html_.size()) return false;
  const char next = html_[at + 1];
  if (next == '/') return at + 2 < html_.size();
  return next == '!' || next == '?' || absl::ascii_isalpha(next);
}

size_t HtmlTokenizer::EndOfData(size_t at) const {
  size_t end = Find("<", at);
  while (end < html_.size() && !IsMarkup(end)) end = Find("<", end + 1);
  return end;
}

// Of a text that ends at `end`, unless a template tag does so before.
size_t HtmlTokenizer::EndOfText(size_t at, size_t end) const {
  while ((at = std::min(html_.find_first_of("{<", at), end)) < end && TemplateTagAt(at) == 0) ++at;
  return at;
}

// The quote that ends a value which begins at `at`; not one in a template tag.
size_t HtmlTokenizer::EndOfQuoted(char quote, size_t at) const {
  const std::string stops = {quote, '{', '<'};
  while ((at = std::min(html_.find_first_of(stops, at), html_.size())) < html_.size()) {
    if (html_[at] == quote) return at;
    at += std::max<size_t>(TemplateTagAt(at), 1);
  }
  return at;
}

// Whether the end tag of `element_` is at `at`.
bool HtmlTokenizer::IsOwnEndTag(size_t at) const {
  if (element_.empty() || At(at + 1) != '/') return false;
  if (!BeginsWith(html_.substr(at + 2), element_)) return false;
  const size_t end = at + 2 + element_.size();
  return end < html_.size() && EndsTagName(html_[end]);
}

size_t HtmlTokenizer::EndOfContent(size_t at) const {
  if (content_ == HtmlContent::kPlaintext) return html_.size();
  if (content_ == HtmlContent::kScript) return EndOfScript(at);
  size_t end = Find("<", at);
  while (end < html_.size() && !IsOwnEndTag(end)) end = Find("<", end + 1);
  return end;
}

// In a script, "<!--" begins an escaped part, which "-->" ends.  A script tag in it begins another,
// in which an end tag ends nothing but this.
size_t HtmlTokenizer::EndOfScript(size_t at) const {
  enum { kPlain, kEscaped, kTwiceEscaped } state = kPlain;
  size_t dashes = 0;  // right before `at`, in an escaped part
  const auto is_script = [&](size_t name) {
    return BeginsWith(html_.substr(name), "script") && name + 6 < html_.size() &&
           EndsTagName(html_[name + 6]);
  };
  for (; at < html_.size(); ++at) {
    const char c = html_[at];
    if (c == '>' && dashes >= 2) state = kPlain;
    dashes = c == '-' && state != kPlain ? dashes + 1 : 0;
    if (c != '<') continue;
    if (state != kTwiceEscaped && IsOwnEndTag(at)) return at;
    if (state == kPlain && html_.substr(at).starts_with("<!--")) {
      state = kEscaped;
      dashes = 2;
      at += 3;
    } else if (state == kEscaped && is_script(at + 1)) {
      state = kTwiceEscaped;
    } else if (state == kTwiceEscaped && At(at + 1) == '/' && is_script(at + 2)) {
      state = kEscaped;
    }
  }
  return html_.size();
}

// The token at `at_`, which is '<'.  Like all of these, returns its end.
size_t HtmlTokenizer::ReadMarkup(HtmlToken* token) const {
  const std::string_view rest = html_.substr(at_);
  if (rest.starts_with("<!--")) return ReadComment(at_ + 4, token);
  if (BeginsWith(rest, "<!doctype")) return ReadDoctype(at_ + 9, token);
  if (cdata_ && rest.starts_with("<![CDATA[")) return ReadCdata(at_ + 9, token);
  if (rest[1] == '!') return ReadBogusComment(at_ + 2, token);
  if (rest[1] == '?') return ReadBogusComment(at_ + 1, token);
  if (rest[1] != '/') {
    token->kind = HtmlTokenKind::kStartTag;
    return ReadTag(at_ + 1, token);
  }
  if (rest[2] == '>') return at_ + 3;  // nothing
  if (!absl::ascii_isalpha(rest[2])) return ReadBogusComment(at_ + 2, token);
  token->kind = HtmlTokenKind::kEndTag;
  return ReadTag(at_ + 2, token);
}

size_t HtmlTokenizer::ReadTag(size_t at, HtmlToken* token) const {
  token->name.begin = at;
  while (at < html_.size() && !EndsTagName(html_[at])) ++at;
  token->name.end = at;
  while ((at = SkipSpace(at)) < html_.size()) {
    if (html_[at] == '>') return at + 1;
    if (html_[at] == '/') {
      token->self_closing = At(++at) == '>';
    } else if (const size_t size = TemplateTagAt(at); size > 0) {
      at += size;
    } else {
      at = ReadAttribute(at, token);
    }
  }
  token->kind = HtmlTokenKind::kNothing;
  return at;
}

// Even '=' may begin a name.
size_t HtmlTokenizer::ReadAttribute(size_t at, HtmlToken* token) const {
  HtmlAttribute attribute = {.name = {at, at + 1}};
  size_t& name_end = attribute.name.end;
  while (name_end < html_.size() && !EndsTagName(html_[name_end]) && html_[name_end] != '=') {
    ++name_end;
  }
  attribute.value = {name_end, name_end};
  at = SkipSpace(name_end);
  if (At(at) == '=') {
    at = SkipSpace(at + 1);
    const char quote = At(at);
    if (quote == '"' || quote == '\'') {
      attribute.quote = quote;
      attribute.value = {at + 1, EndOfQuoted(quote, at + 1)};
      at = std::min(attribute.value.end + 1, html_.size());
    } else {
      attribute.value.begin = at;
      while (at < html_.size() && !IsSpace(html_[at]) && html_[at] != '>') {
        at += std::max<size_t>(TemplateTagAt(at), 1);
      }
      attribute.value.end = at;
    }
  }
  token->attributes.push_back(attribute);
  return at;
}

size_t HtmlTokenizer::ReadComment(size_t at, HtmlToken* token) const {
  token->kind = HtmlTokenKind::kComment;
  token->text = {at, at};
  const std::string_view rest = html_.substr(at);
  if (rest.starts_with(">")) return at + 1;
  if (rest.starts_with("->")) return at + 2;
  for (size_t end = Find("--", at); end < html_.size(); end = Find("--", end + 1)) {
    const size_t close = At(end + 2) == '!' ? end + 3 : end + 2;
    if (At(close) != '>') continue;
    token->text.end = end;
    return close + 1;
  }
  for (const std::string_view cut_off : {"--!", "--", "-", ""}) {
    if (!rest.ends_with(cut_off)) continue;
    token->text.end = html_.size() - cut_off.size();
    break;
  }
  return html_.size();
}

size_t HtmlTokenizer::ReadBogusComment(size_t at, HtmlToken* token) const {
  token->kind = HtmlTokenKind::kComment;
  token->text = {at, Find(">", at)};
  return std::min(token->text.end + 1, html_.size());
}

size_t HtmlTokenizer::ReadCdata(size_t at, HtmlToken* token) const {
  token->kind = HtmlTokenKind::kCdata;
  token->text = {at, Find("]]>", at)};
  return std::min(token->text.end + 3, html_.size());
}

size_t HtmlTokenizer::ReadDoctype(size_t at, HtmlToken* token) const {
  token->kind = HtmlTokenKind::kDoctype;
  at = SkipSpace(at);
  token->name = {at, at};
  while (at < html_.size() && !IsSpace(html_[at]) && html_[at] != '>') ++at;
  token->name.end = at;
  at = SkipSpace(at);
  token->force_quirks = token->name.size() == 0 || at == html_.size();
  if (At(at) != '>') at = Find(">", ReadDoctypeIds(at, token));
  return std::min(at + 1, html_.size());
}

// PUBLIC "..." "...", PUBLIC "..." or SYSTEM "...".
size_t HtmlTokenizer::ReadDoctypeIds(size_t at, HtmlToken* token) const {
  const bool is_public = BeginsWith(html_.substr(at), "public");
  const bool is_system = BeginsWith(html_.substr(at), "system");
  token->force_quirks = true;
  if (!is_public && !is_system) return at;
  at = SkipSpace(at + 6);
  if (is_public) {
    if (!ReadDoctypeId(&at, &token->public_id)) return at;
    if (At(at) == '>') {
      token->force_quirks = token->name.size() == 0;
      return at;
    }
  }
  if (!ReadDoctypeId(&at, &token->system_id)) return at;
  token->force_quirks = at == html_.size();
  return at;
}

// Reads a quoted text and the white space after it; false, at the place, if it is none.
bool HtmlTokenizer::ReadDoctypeId(size_t* at, std::optional<TextSpan>* id) const {
  const char quote = At(*at);
  if (quote != '"' && quote != '\'') return false;
  const size_t begin = ++*at;
  while (*at < html_.size() && html_[*at] != quote && html_[*at] != '>') ++*at;
  *id = {begin, *at};
  if (At(*at) != quote) return false;
  *at = SkipSpace(*at + 1);
  return true;
}

std::string HtmlName(std::string_view written) {
  std::string name;
  for (const char c : written) {
    if (c == '\0') {
      name += kReplacement;
    } else {
      name += absl::ascii_tolower(c);
    }
  }
  return name;
}

std::string DecodeHtml(std::string_view written, HtmlContent content, HtmlPlace place) {
  const bool has_references = content == HtmlContent::kData || content == HtmlContent::kRcdata;
  const bool keeps_nul = content == HtmlContent::kData && place == HtmlPlace::kText;
  std::string text;
  for (size_t i = 0; i < written.size(); ++i) {
    const char c = written[i];
    if (c == '&' && has_references) {
      const size_t length = ReadHtmlReference(written.substr(i), place, &text);
      if (length > 0) {
        i += length - 1;
        continue;
      }
    }
    if (c == '\r') {
      if (i + 1 == written.size() || written[i + 1] != '\n') text += '\n';
    } else if (c == '\0' && !keeps_nul) {
      text += kReplacement;
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace dragoman
