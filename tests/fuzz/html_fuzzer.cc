// Any text as HTML, after a byte that sets options.

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/base/utf8.h"
#include "engine/text/html_reader.h"
#include "engine/text/html_tokenizer.h"
#include "tests/fuzz/fuzzer.h"
#include "tests/request/html_seen.h"
#include "tests/request/scripted_translation.h"

namespace dragoman {
namespace {

void Tokenize(std::string_view html, uint8_t options) {
  HtmlTokenizer tokenizer(html);
  tokenizer.Enter(static_cast<HtmlContent>(options % 5), "title");
  tokenizer.AllowCdata(options >= 128);
  HtmlToken token;
  size_t at = 0;
  for (; tokenizer.Next(&token); at = token.raw.end) {
    FUZZ_CHECK(token.raw.begin == at && token.raw.end > at);
    FUZZ_CHECK(token.text.begin <= token.text.end && token.text.end <= token.raw.end);
    for (const HtmlAttribute& attribute : token.attributes) {
      FUZZ_CHECK(attribute.name.end > attribute.name.begin);
      FUZZ_CHECK(attribute.value.begin <= attribute.value.end);
      FUZZ_CHECK(attribute.value.end <= token.raw.end);
    }
  }
  FUZZ_CHECK(at == html.size());
}

std::vector<std::string> SortedHtmlTags(const std::string& html) {
  std::vector<std::string> tags = SeeHtml(html).tags;
  std::sort(tags.begin(), tags.end());
  return tags;
}

bool HasForbidden(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const char32_t c = NextCodePoint(text, &i);
    if (c < 0x20 && c != '\t' && c != '\n' && c != '\r') return true;
    if (c == 0xFFFE || c == 0xFFFF) return true;
  }
  return false;
}

void CheckHtml(const std::string& html, uint8_t flags) {
  MarkupOptions options = {.join_lines = flags % 2 == 1};
  if (flags & 2) options.splitting_tags = {"span"};
  if (flags & 4) options.non_splitting_tags = {"div"};
  if (flags & 8) options.ignore_tags = {"x"};
  const MarkedText text = ReadHtml(html, options);
  FUZZ_CHECK(text.raw == html);
  for (const Segment& segment : text.segments) {
    FUZZ_CHECK(segment.text.begin < segment.text.end && segment.text.end <= text.text.size());
    FUZZ_CHECK(segment.raw.begin < segment.raw.end && segment.raw.end <= html.size());
  }
  size_t end = 0;
  for (const Tag& tag : text.tags) {
    FUZZ_CHECK(tag.raw.begin >= end && tag.raw.end > tag.raw.begin);
    end = tag.raw.end;
  }
  FUZZ_CHECK(end <= html.size());
  // What XML forbids is left out of what is written, and so of attributes' values.
  if (HasForbidden(text.text)) return;
  const std::vector<std::string> tags = SortedHtmlTags(html);
  FUZZ_CHECK(SortedHtmlTags(TranslateByScript(text, Script::kIdentity)) == tags);
  TranslateByScript(text, Script::kReversal);
}

}  // namespace
}  // namespace dragoman

FUZZER(html) {
  if (size == 0) return;
  const std::string html(reinterpret_cast<const char*>(data) + 1, size - 1);
  dragoman::Tokenize(html, data[0]);
  if (dragoman::IsValidUtf8(html)) dragoman::CheckHtml(html, data[0]);
}
