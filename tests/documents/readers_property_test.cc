// What holds for every format, with the files of tests/documents/data and changes of them: a reader
// accepts a file or says which line is wrong; its passages are in order; and with each text as its
// own translation, the same bytes come out, except where a translation has a place of its own.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "documents/document.h"
#include "gtest/gtest.h"
#include "tests/documents/scripted_reader.h"

namespace dragoman::readers_property_test {
namespace {

// Of each file.  DRAGOMAN_DOCUMENT_CHANGES sets another number.
int Changes() {
  const char* const given = std::getenv("DRAGOMAN_DOCUMENT_CHANGES");
  return given == nullptr ? 500 : std::atoi(given);
}

// The samples that are one part.
std::vector<std::filesystem::path> Files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/documents/data")) {
    const DocumentFormat* const format = FindDocumentFormat(entry.path().string());
    if (format == nullptr || format->open == nullptr) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string BytesOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void Check(const DocumentFormat& format, const std::string& part) {
  ASSERT_EQ(FaultOf(format, part), "");
}

// One of the small changes that find most faults.
void Change(const std::string& other, std::mt19937_64* random, std::string* bytes) {
  const auto below = [&](size_t bound) { return bound == 0 ? 0 : (*random)() % bound; };
  constexpr std::string_view kOdd = "\"'<>&{}[]()\\#*_`|:;,-=\n\r\t \x01\x80\xff%";
  const size_t at = below(bytes->size() + 1);
  const size_t size = below(std::min<size_t>(bytes->size() - at + 1, 40));
  switch (below(6)) {
    case 0:
      if (at < bytes->size()) (*bytes)[at] = kOdd[below(kOdd.size())];
      break;
    case 1:
      bytes->insert(at, 1, kOdd[below(kOdd.size())]);
      break;
    case 2:
      bytes->erase(at, size);
      break;
    case 3:
      bytes->insert(at, bytes->substr(at, size));
      break;
    case 4:
      bytes->insert(at, other.substr(below(other.size() + 1), 20));
      break;
    case 5:
      bytes->resize(at);
      break;
  }
}

TEST(Readers, HaveASampleEach) {
  for (const DocumentFormat& format : DocumentFormats()) {
    if (format.reader == nullptr) continue;
    const auto files = Files();
    EXPECT_TRUE(std::any_of(files.begin(), files.end(), [&](const auto& file) {
      return FindDocumentFormat(file.string()) == &format;
    })) << format.name;
  }
}

TEST(Readers, SamplesComeOutAsTheyAre) {
  for (const std::filesystem::path& file : Files()) {
    SCOPED_TRACE(file);
    const DocumentFormat* const format = FindDocumentFormat(file.string());
    ASSERT_NE(format, nullptr);
    const std::string bytes = BytesOf(file);
    const auto passages = format->reader(bytes, ReaderOptions(*format));
    ASSERT_TRUE(passages.ok()) << passages.status();
    EXPECT_FALSE(passages->empty());
    Check(*format, bytes);
  }
}

TEST(Readers, ChangedSamplesComeOutAsTheyAreOrAreRefused) {
  const std::vector<std::filesystem::path> files = Files();
  std::mt19937_64 random(1);
  for (const std::filesystem::path& file : files) {
    const DocumentFormat* const format = FindDocumentFormat(file.string());
    ASSERT_NE(format, nullptr);
    const std::string bytes = BytesOf(file), other = BytesOf(files[random() % files.size()]);
    for (int i = 0; i < Changes(); ++i) {
      std::string changed = bytes;
      for (size_t changes = 1 + random() % 4; changes > 0; --changes) {
        Change(other, &random, &changed);
      }
      SCOPED_TRACE(file.string() + ":\n" + changed);
      ASSERT_NO_FATAL_FAILURE(Check(*format, changed));
    }
  }
}

}  // namespace
}  // namespace dragoman::readers_property_test
