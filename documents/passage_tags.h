// The tags of a passage in XML, and of its translations.  Each has a name of one letter and the
// number of an element, from 1: "<x12>", "</x12>", "<x12/>", "<x12 translate="no">".

#ifndef DRAGOMAN_DOCUMENTS_PASSAGE_TAGS_H_
#define DRAGOMAN_DOCUMENTS_PASSAGE_TAGS_H_

#include <cstddef>
#include <string_view>
#include <vector>

namespace dragoman {

struct PassageTag {
  size_t begin = 0, end = 0;                // bytes of the text
  std::string_view name;                    // "x12"
  size_t element = std::string_view::npos;  // 11; npos for a name of another kind
  bool closes = false, empty = false;
  bool copied = false;  // its element is not translated
};

// In order; what has no ">" is not one.
std::vector<PassageTag> FindPassageTags(std::string_view text);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_PASSAGE_TAGS_H_
