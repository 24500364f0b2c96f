#include "engine/options/options_doc.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "gtest/gtest.h"

namespace dragoman::options_doc_test {
namespace {

constexpr char kFile[] = "docs/options.md";

TEST(OptionsDoc, IsWhatTheTableSays) {
  const std::string want = OptionsAsMarkdown();
  if (std::getenv("DRAGOMAN_WRITE_DOCS") != nullptr) std::ofstream(kFile) << want;
  std::ifstream in(kFile);
  const std::string have((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_EQ(have, want) << "DRAGOMAN_WRITE_DOCS=1 ctest -R options_doc writes it anew";
}

}  // namespace
}  // namespace dragoman::options_doc_test
