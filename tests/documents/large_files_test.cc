// The time that a large file takes grows with its size alone: each of these would take minutes or
// hours if its reader went through all of it for each of its characters, cues or elements.

#include <string>

#include "absl/strings/str_cat.h"
#include "engine/base/xml_events.h"
#include "gtest/gtest.h"
#include "tests/documents/scripted_reader.h"
#include "tests/documents/zip_of.h"

namespace dragoman::large_files_test {
namespace {

constexpr size_t kBytes = 16 << 20;

PassageReader ReaderOf(const char* format) { return FindDocumentFormat(format)->reader; }

std::string Repeat(const std::string& text, size_t bytes = kBytes) {
  std::string out;
  while (out.size() < bytes) out += text;
  return out;
}

TEST(LargeFiles, TextOfXmlIsReadOnce) {
  const std::string text = Repeat("dogs ");
  EXPECT_EQ(XmlText(text), text);
  const std::string marks = Repeat("& ");  // none of them ends
  EXPECT_EQ(XmlText(marks), marks);
}

TEST(LargeFiles, SubtitlesHaveOneKindOfLineBreak) {
  EXPECT_GT(
      TextsOf(ReaderOf("srt"), Repeat("00:00:01,000 --> 00:00:02,000\nDog.\n\n", 4 << 20)).size(),
      (4 << 20) / 40);
}

TEST(LargeFiles, NamesAreFoundAmongManyNamespaces) {
  const std::string path = TemporaryPath(".docx");
  std::string names;
  for (int i = 0; i < 200'000; ++i) absl::StrAppend(&names, " xmlns:n", i, "=\"n\"");
  WriteZip(path, {{"[Content_Types].xml",
                   "<Types><Default Extension=\"xml\" ContentType=\"application/vnd.openxmlformats-"
                   "officedocument.wordprocessingml.document.main+xml\"/></Types>"},
                  {"word/document.xml", absl::StrCat("<a:x xmlns:a=\"a\"", names, ">",
                                                     Repeat("<a:b>1</a:b>", 6 << 20), "</a:x>")}});
  const Translated result = TranslateFile(path, Upper);
  EXPECT_TRUE(result.status.ok()) << result.status;
}

TEST(LargeFiles, TagsOfMarkdownNeedNoEnd) {
  const std::string text = Repeat("<b>dog", 1 << 20) + Repeat("</i>dog", 1 << 20);
  EXPECT_EQ(Unchanged(ReaderOf("markdown"), text), text);
}

TEST(LargeFiles, ACatalogueMayHaveManyHeaders) {
  const std::string text = Repeat("msgid \"\"\nmsgstr \"\"\n\n", 4 << 20);
  EXPECT_EQ(Unchanged(ReaderOf("po"), text), text);
}

TEST(LargeFiles, RowsOfATableAreReadForTheColumnsThatTheyHave) {
  DocumentOptions options;
  for (int i = 1; i <= 1000; ++i) options.columns.push_back(absl::StrCat(i));
  EXPECT_GT(TextsOf(ReaderOf("csv"), Repeat("dog\n", 2 << 20), options).size(), (2 << 20) / 5);
  options.columns.push_back("1001");
  EXPECT_EQ(TextsOf(ReaderOf("csv"), "dog\n", options).front(),
            "1001 columns are named, the most is 1000");
}

}  // namespace
}  // namespace dragoman::large_files_test
