// The memory that a large document takes is that of its largest part, however large the rest is.

#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/documents/zip_of.h"

namespace dragoman::large_container_test {
namespace {

// A line of /proc/self/status, in bytes.
size_t Status(std::string_view name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) return std::stoul(line.substr(name.size() + 1)) << 10;
  }
  return 0;
}

TEST(LargeContainer, TakesTheMemoryOfItsLargestPart) {
  std::mt19937 random(5);
  std::string body =
      "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">";
  while (body.size() < (10 << 20)) {
    body +=
        "<w:p><w:r><w:t xml:space=\"preserve\">The dog </w:t></w:r><w:r><w:rPr><w:b/></w:rPr>"
        "<w:t>number " +
        std::to_string(random()) + "</w:t></w:r><w:r><w:t> sees house " + std::to_string(random()) +
        ".</w:t></w:r></w:p>\n";
  }
  body += "</w:document>";
  const size_t part = body.size();
  std::string picture(26 << 20, '\0');
  for (char& c : picture) c = static_cast<char>(random());
  const std::string path = TemporaryPath(".docx");
  WriteZip(path, {{"[Content_Types].xml",
                   "<Types><Default Extension=\"xml\" ContentType=\"application/vnd.openxmlformats-"
                   "officedocument.wordprocessingml.document.main+xml\"/></Types>"},
                  {"word/media/image.png", picture, 0},
                  {"word/document.xml", body}});
  body = "";
  body.shrink_to_fit();
  picture = "";
  picture.shrink_to_fit();

  std::ofstream("/proc/self/clear_refs") << 5;  // the peak begins anew
  const size_t before = Status("VmRSS:");
  auto document = OpenDocument(*FindDocumentFormat("docx"), path, path + ".out.docx", {});
  ASSERT_TRUE(document.ok());
  size_t passages = 0;
  while (true) {
    auto next = (*document)->Next();
    ASSERT_TRUE(next.ok()) << next.status();
    if (!next->has_value()) break;
    passages += (*next)->size();
    PassageTranslations translations;
    for (const Passage& passage : **next) translations.push_back(Upper(passage.text));
    ASSERT_TRUE((*document)->Write(translations).ok());
  }
  const size_t peak = Status("VmHWM:") - before;
  std::printf("%zu passages; a part of %zu MB; %zu MB more at the peak\n", passages, part >> 20,
              peak >> 20);
  EXPECT_GT(passages, 30'000);
  EXPECT_LT(peak, 30 * part);
}

// What is counted is about what is taken.
TEST(LargeContainer, OfTinyThingsIsRefusedBeforeItFillsTheMemory) {
  constexpr size_t kMost = 128 << 20;
  std::string body =
      "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">";
  for (int i = 0; body.size() < (20 << 20); ++i) {
    body += "<w:p><w:r><w:t>a" + std::to_string(i) + "</w:t></w:r></w:p>";
  }
  body += "</w:document>";
  const std::string path = TemporaryPath(".docx");
  WriteZip(path, {{"[Content_Types].xml",
                   "<Types><Default Extension=\"xml\" ContentType=\"application/vnd.openxmlformats-"
                   "officedocument.wordprocessingml.document.main+xml\"/></Types>"},
                  {"word/document.xml", body}});
  body = "";
  body.shrink_to_fit();

  std::ofstream("/proc/self/clear_refs") << 5;
  const size_t before = Status("VmRSS:");
  const absl::Status status = TranslateFile(path, Same, {.max_memory = kMost}).status;
  const size_t peak = Status("VmHWM:") - before;
  std::printf("%zu MB more at the peak\n", peak >> 20);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_LT(peak, 2 * kMost);
}

}  // namespace
}  // namespace dragoman::large_container_test
