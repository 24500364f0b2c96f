// The files of the pages at /, /status and /api, compiled into the program: the content of this
// folder, which embed.cmake turns into C++.

#ifndef DRAGOMAN_SERVER_PAGE_PAGE_FILES_H_
#define DRAGOMAN_SERVER_PAGE_PAGE_FILES_H_

#include <string_view>
#include <vector>

namespace dragoman {

struct PageFile {
  std::string_view path;  // "/", "/status", "/page/page.css"
  std::string_view content_type;
  std::string_view etag;  // changes with the contents; in quotes
  std::string_view contents;
};

const std::vector<PageFile>& PageFiles();

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_PAGE_PAGE_FILES_H_
