#include "documents/plural_forms.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dragoman {

size_t UsualPluralForms(std::string_view tag) {
  static constexpr std::pair<std::string_view, size_t> kForms[] = {
      {" id ja ka ko lo ms my su th vi yue zh ", 1},
      {" be bs cs hr lt lv mo pl ro ru sh sk sr uk ", 3},
      {" cy gd mt sl ", 4},
      {" ga ", 5},
      {" ar ", 6}};
  const std::string language =
      absl::StrCat(" ", std::string(tag.substr(0, tag.find_first_of("-_"))), " ");
  for (const auto& [languages, count] : kForms) {
    if (languages.find(language) != languages.npos) return count;
  }
  return 2;
}

}  // namespace dragoman
