#include "server/page/page_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace dragoman {
namespace {

TEST(PageFiles, EqualTheFolderByteForByte) {
  std::set<std::string> etags;
  for (const PageFile& file : PageFiles()) {
    std::string name(file.path.substr(file.path.rfind('/') + 1));
    if (name.empty()) name = "index";
    if (name.find('.') == std::string::npos) name += ".html";
    std::ifstream stream("server/page/" + name, std::ios::binary);
    const std::string contents(std::istreambuf_iterator<char>(stream), {});
    EXPECT_FALSE(contents.empty()) << file.path;
    EXPECT_EQ(file.contents, contents) << file.path;
    EXPECT_FALSE(file.content_type.empty()) << file.path;
    EXPECT_TRUE(etags.emplace(file.etag).second) << file.path;
  }
  EXPECT_GE(etags.size(), 10);
}

TEST(PageFiles, LoadNothingFromOutsideAndRunNothingInline) {
  for (const PageFile& file : PageFiles()) {
    for (const std::string_view forbidden :
         {"src=\"http", "href=\"http", "url(http", "@import", "style=\"", "onclick=\"", "<style",
          "eval(", "innerHTML"}) {
      EXPECT_EQ(file.contents.find(forbidden), std::string_view::npos)
          << file.path << ": " << forbidden;
    }
    for (size_t at = 0; (at = file.contents.find("<script", at)) != std::string_view::npos; ++at) {
      EXPECT_EQ(file.contents.substr(at, 26), "<script type=\"module\" src=") << file.path;
    }
  }
}

}  // namespace
}  // namespace dragoman
