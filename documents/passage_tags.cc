#include "documents/passage_tags.h"

#include <charconv>
#include <set>

namespace dragoman {

std::vector<PassageTag> FindPassageTags(std::string_view text) {
  std::vector<PassageTag> tags;
  std::set<std::string_view> copied;  // names
  for (PassageTag tag; (tag.begin = text.find('<', tag.end)) != text.npos;) {
    const size_t close = text.find('>', tag.begin);
    if (close == text.npos) break;
    tag = {tag.begin, close + 1};
    std::string_view name = text.substr(tag.begin + 1, close - tag.begin - 1);
    tag.closes = name.starts_with('/');
    tag.empty = name.ends_with('/');
    if (tag.closes) name.remove_prefix(1);
    tag.name = name.substr(0, name.find_first_of(" \t\r\n/"));
    size_t number = 0;
    const char* const end = tag.name.data() + tag.name.size();
    if (!tag.name.empty() && std::from_chars(tag.name.data() + 1, end, number).ptr == end) {
      tag.element = number - 1;
    }
    if (name.find("translate=\"no\"") != name.npos) copied.insert(tag.name);
    tag.copied = copied.contains(tag.name);
    tags.push_back(tag);
  }
  return tags;
}

}  // namespace dragoman
