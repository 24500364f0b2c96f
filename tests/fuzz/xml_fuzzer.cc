// Any text as XML, after a byte that sets options: what can be read is translated by scripts, and
// can be read again, with the same tags.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "engine/base/utf8.h"
#include "engine/text/xml_reader.h"
#include "tests/fuzz/fuzzer.h"
#include "tests/request/scripted_translation.h"

namespace dragoman {
namespace {

std::vector<std::string> SortedXmlTags(const MarkedText& text) {
  std::vector<std::string> tags;
  for (const Tag& tag : text.tags) {  // several where they touch, with text that is not translated
    const std::string raw = text.raw.substr(tag.raw.begin, tag.raw.size());
    const std::vector<std::string> parts = absl::StrSplit(raw, '<');
    for (size_t i = 1; i < parts.size(); ++i) {
      tags.push_back(parts[i].substr(0, parts[i].find('>')));
    }
  }
  std::sort(tags.begin(), tags.end());
  return tags;
}

void CheckXml(const std::string& xml, uint8_t flags) {
  MarkupOptions options = {.outline_detection = flags % 2 == 0, .join_lines = (flags & 2) != 0};
  if (flags & 4) options.splitting_tags = {"a"};
  if (flags & 8) options.non_splitting_tags = {"p"};
  if (flags & 16) options.ignore_tags = {"x"};
  const absl::StatusOr<MarkedText> text = ReadXml(xml, options);
  if (!text.ok()) {
    FUZZ_CHECK(absl::IsInvalidArgument(text.status()));
    return;
  }
  FUZZ_CHECK(text->raw == xml);
  for (const Segment& segment : text->segments) {
    FUZZ_CHECK(segment.text.begin < segment.text.end && segment.text.end <= text->text.size());
    FUZZ_CHECK(segment.raw.begin < segment.raw.end && segment.raw.end <= xml.size());
  }
  for (const Script script : {Script::kIdentity, Script::kReversal, Script::kNothing}) {
    const absl::StatusOr<MarkedText> made = ReadXml(TranslateByScript(*text, script), options);
    FUZZ_CHECK(made.ok());
    // Without text, an outline may look different: other tags are marks.
    if (!options.outline_detection) FUZZ_CHECK(SortedXmlTags(*made) == SortedXmlTags(*text));
  }
}

}  // namespace
}  // namespace dragoman

FUZZER(xml) {
  if (size == 0) return;
  const std::string xml(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (dragoman::IsValidUtf8(xml)) dragoman::CheckXml(xml, data[0]);
}
