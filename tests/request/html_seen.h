// What a reader of HTML sees, to compare texts before and after translation.

#ifndef DRAGOMAN_TESTS_REQUEST_HTML_SEEN_H_
#define DRAGOMAN_TESTS_REQUEST_HTML_SEEN_H_

#include <string>
#include <vector>

namespace dragoman {

struct SeenHtml {
  // Tags, comments and the like.  The values of attributes are decoded, without quotes and white
  // space.
  std::vector<std::string> tags;
  std::string text;  // decoded; without white space, which may collapse
  bool operator==(const SeenHtml&) const = default;
};

SeenHtml SeeHtml(const std::string& html);

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_REQUEST_HTML_SEEN_H_
