// Lists of names in a line: " area br col ".

#ifndef DRAGOMAN_ENGINE_BASE_NAME_LIST_H_
#define DRAGOMAN_ENGINE_BASE_NAME_LIST_H_

#include <string_view>

namespace dragoman {

// Whether the name is one of `names`, which have a space on either side.
inline bool IsAmong(std::string_view name, std::string_view names) {
  if (name.empty() || name.find(' ') != name.npos) return false;
  for (size_t at = names.find(name); at != names.npos; at = names.find(name, at + 1)) {
    if (names[at - 1] == ' ' && names[at + name.size()] == ' ') return true;
  }
  return false;
}

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_NAME_LIST_H_
