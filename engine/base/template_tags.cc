#include "engine/base/template_tags.h"

#include <algorithm>

namespace dragoman {
namespace {

struct TemplateTag {
  std::string_view begin, end;
  size_t most;  // bytes, so that a stray beginning is not taken for one
};

// Of those that begin alike, the longer one first.
constexpr TemplateTag kTemplateTags[] = {
    {"{{<", ">}}", 4000}, {"{{%", "%}}", 4000},   {"{%", "%}", 4000},  {"{#", "#}", 4000},
    {"<%", "%>", 40000},  {"<?php", "?>", 40000}, {"<?=", "?>", 4000},
};

}  // namespace

size_t TemplateTagSize(std::string_view text) {
  for (const TemplateTag& tag : kTemplateTags) {
    if (!text.starts_with(tag.begin)) continue;
    const std::string_view most = text.substr(0, tag.most);
    // Not beyond the next one, so that the time is that of the text, whatever it is.
    const size_t next = most.find(tag.begin, tag.begin.size());
    const size_t end = most.substr(0, next).find(tag.end, tag.begin.size());
    if (end != text.npos) return end + tag.end.size();
    // A program may go on to the end of its file.
    if (tag.begin == "<?php" && next == text.npos) return text.size();
  }
  return 0;
}

size_t FindTemplateTag(std::string_view text, size_t at) {
  for (at = text.find_first_of("{<", at); at < text.size(); at = text.find_first_of("{<", at + 1)) {
    if (TemplateTagSize(text.substr(at)) > 0) return at;
  }
  return text.size();
}

}  // namespace dragoman
