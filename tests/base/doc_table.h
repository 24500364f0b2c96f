// Pages of docs/ in which a table of the program stands among prose.

#ifndef DRAGOMAN_TESTS_BASE_DOC_TABLE_H_
#define DRAGOMAN_TESTS_BASE_DOC_TABLE_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace dragoman {

// The page has this table, which ends at an empty line. With DRAGOMAN_WRITE_DOCS it is written
// there.
inline void ExpectTable(const std::string& page, const std::string& table) {
  std::ifstream in(page);
  const std::string have{std::istreambuf_iterator<char>(in), {}};
  const size_t begin = have.find(table.substr(0, table.find('\n') + 1));
  ASSERT_NE(begin, std::string::npos) << page << " has no such table";
  const size_t end = have.find("\n\n", begin);
  const std::string rest = end == std::string::npos ? "" : have.substr(end + 1);
  const std::string want = have.substr(0, begin) + table + rest;
  if (std::getenv("DRAGOMAN_WRITE_DOCS") != nullptr) std::ofstream(page) << want;
  EXPECT_EQ(have, want) << "DRAGOMAN_WRITE_DOCS=1 writes it anew";
}

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_BASE_DOC_TABLE_H_
