#include "tests/request/html_seen.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engine/text/html_outline.h"
#include "engine/text/html_tokenizer.h"

namespace dragoman {
namespace {

std::string WithoutSpaces(std::string text) {
  std::erase_if(text, [](char c) { return absl::ascii_isspace(c); });
  constexpr std::string_view kNoBreakSpace = "\u00A0";
  for (size_t i; (i = text.find(kNoBreakSpace)) != text.npos;) text.erase(i, kNoBreakSpace.size());
  return text;
}

std::string WithoutQuotes(const std::string& tag) {
  HtmlTokenizer tokenizer(tag);
  HtmlToken token;
  tokenizer.Next(&token);
  const auto written = [&](TextSpan span) { return tag.substr(span.begin, span.size()); };
  std::string plain = absl::StrCat("<", written(token.name));
  for (const HtmlAttribute& attribute : token.attributes) {
    absl::StrAppend(&plain, " ", written(attribute.name), "=",
                    WithoutSpaces(DecodeHtml(written(attribute.value), HtmlContent::kData,
                                             HtmlPlace::kAttribute)));
  }
  return plain;
}

}  // namespace

SeenHtml SeeHtml(const std::string& html) {
  SeenHtml seen;
  for (const HtmlEvent& event : OutlineHtml(html, {}).events) {
    const std::string raw = html.substr(event.raw.begin, event.raw.size());
    if (event.kind == HtmlEvent::kStart || event.kind == HtmlEvent::kVoid) {
      seen.tags.push_back(WithoutQuotes(raw));
    } else if (event.kind != HtmlEvent::kText) {
      seen.tags.push_back(raw);
    } else {
      seen.text += WithoutSpaces(DecodeHtml(raw, event.content, HtmlPlace::kText));
    }
  }
  return seen;
}

}  // namespace dragoman
