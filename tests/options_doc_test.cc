#include "engine/options/options_doc.h"

#include "gtest/gtest.h"
#include "tests/base/doc_table.h"

namespace dragoman::options_doc_test {
namespace {

TEST(OptionsDoc, IsWhatTheTableSays) { ExpectTable("docs/options.md", OptionsAsMarkdown()); }

}  // namespace
}  // namespace dragoman::options_doc_test
