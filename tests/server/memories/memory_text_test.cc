#include "server/memories/memory_text.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::memory_text_test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// As servers up to version 0.1 wrote them.
std::string DigestOf(const std::string& text) {
  return absl::StrCat(absl::Hex(XXH3_64bits(text.data(), text.size()), absl::kZeroPad16));
}

std::string Lines(const std::vector<MemorySegment>& segments) {
  std::string text;
  for (const MemorySegment& segment : segments) {
    const bool is_escaped = segment.source[0] == '#' || segment.source[0] == '\\';
    absl::StrAppend(&text, is_escaped ? "\\" : "", segment.source, "\t", segment.target);
    if (segment.HasContext()) absl::StrAppend(&text, "\t", segment.previous, "\t", segment.next);
    text += '\n';
  }
  return text;
}

std::string WriteMemory(const MemoryText& memory) {
  const auto& [source, target] = memory.languages;
  const std::string text = absl::StrCat(
      "# name: ", memory.name, "\n", memory.owner.empty() ? "" : "# owner: " + memory.owner + "\n",
      memory.shared ? "# shared: yes\n" : "", "# version: ", memory.version, "\n# created: ",
      absl::FormatTime(absl::RFC3339_full, memory.created, absl::UTCTimeZone()),
      "\n# languages: ", source.empty() ? "*" : source, " ", target.empty() ? "*" : target, "\n",
      Lines(memory.segments));
  return absl::StrCat("# bytes: ", text.size(), " ", DigestOf(text), "\n", text);
}

std::string WriteLearned(const std::vector<MemorySegment>& segments, int64_t version) {
  const std::string text = Lines(segments);
  const std::string line = absl::StrCat("# learn: ", segments.size(), " ", version, " ",
                                        text.size(), " ", DigestOf(text), " ");
  return absl::StrCat(line, DigestOf(line), "\n", text);
}

TEST(MemoryText, IsReadAsItWasWritten) {
  const MemoryText memory = {{.name = "Manuals",
                              .owner = "alice",
                              .shared = true,
                              .version = 3,
                              .created = absl::FromUnixSeconds(1000)},
                             {"en", ""},
                             {{"# One.", "Eins.", "Zero.", ""}, {"\\Two.", "Zwei."}}};
  const std::string text = WriteMemory(memory);
  auto read = ParseMemory(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->segments, memory.segments);
  EXPECT_EQ(read->languages, memory.languages);
  EXPECT_EQ(read->owner, "alice");
  EXPECT_TRUE(read->shared);
  EXPECT_EQ(read->version, 3);
  EXPECT_EQ(read->created, memory.created);
  read = ParseMemory("One.\tEins.\r\n\nTwo.\tZwei.\tOne.");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->segments,
            (std::vector<MemorySegment>{{"One.", "Eins."}, {"Two.", "Zwei.", "One."}}));
  for (const auto& [wrong, message] : {std::pair("One.\tEins.\nTwo.\n", "line 2"),
                                       {"\tEins.\n", "line 1, byte 0: segment.source"},
                                       {"# name: x\n", "has no segments"},
                                       {"", "has no segments"},
                                       {"One.\t\x01\n", "control character"},
                                       {"# version: x\n", "version"},
                                       {"# learn: many 2\n", "learn"},
                                       {"\xff\t\n", "UTF-8"}}) {
    EXPECT_THAT(std::string(ParseMemory(wrong).status().message()), HasSubstr(message));
  }
}

TEST(MemoryText, ALessonCountsAsAWholeOrNotAtAll) {
  const std::string before = WriteMemory({.segments = {{"One.", "Eins."}}});
  const std::vector<MemorySegment> learned = {{"Two.", "Zwei."},
                                              {"Three.", "Drei.", "Two.", "Four."}};
  const std::string after = before + WriteLearned(learned, 2);
  for (size_t end = before.size(); end <= after.size(); ++end) {
    const auto memory = ParseMemory(after.substr(0, end));
    ASSERT_TRUE(memory.ok()) << end << ": " << memory.status();
    const bool whole = end == after.size();
    EXPECT_EQ(memory->version, whole ? 2 : 1) << end;
    EXPECT_THAT(memory->segments, SizeIs(whole ? 3 : 1)) << end;
  }
  // After a crash of the machine, the end may be there without what it consists of.
  std::string zeros = after;
  zeros.replace(before.size() + 15, std::string::npos, 20, '\0');
  EXPECT_THAT(ParseMemory(zeros)->segments, SizeIs(1));
}

// A memory that has learned twice, as it was written, and where its parts end.
struct WrittenMemory {
  std::string text;
  std::vector<MemorySegment> segments;
  std::vector<std::pair<size_t, size_t>> ends;  // in bytes and in segments

  WrittenMemory() {
    const std::vector<MemorySegment> parts[] = {
        {{"# One.", "Eins.", "Zero.", ""}, {"Two.", "Zwei."}},
        {{"Three.", "Drei.", "Two.", "Four."}, {"4", "Vier."}},
        {{"Five.", "F\u00fcnf."}}};
    for (const std::vector<MemorySegment>& part : parts) {
      const int64_t version = static_cast<int64_t>(ends.size()) + 1;
      text += version == 1 ? WriteMemory({{.name = "M"}, {"en", "de"}, part})
                           : WriteLearned(part, version);
      segments.insert(segments.end(), part.begin(), part.end());
      ends.emplace_back(text.size(), segments.size());
    }
  }
};

TEST(MemoryText, AnyDamagedByteIsFound) {
  const WrittenMemory written;
  int found = 0;
  for (size_t i = 0; i < written.text.size(); ++i) {
    const char was = written.text[i];
    std::string others = std::string("\n\r\t #:0a", 8) + '\0';
    for (const int bits : {1, 4, 0x20, 0x80, 0xff}) others += static_cast<char>(was ^ bits);
    for (const char c : others) {
      if (c == was) continue;
      std::string damaged = written.text;
      damaged[i] = c;
      const auto read = ParseMemory(damaged);
      if (read.ok()) {
        EXPECT_EQ(read->segments, written.segments) << "byte " << i << ": " << int{c};
        EXPECT_LT(i, 10u);  // the first line was "# bytes: "
        continue;
      }
      ++found;
      EXPECT_THAT(std::string(read.status().message()), HasSubstr(", byte "));
    }
  }
  EXPECT_GT(found, 3000);
}

TEST(MemoryText, OnlyALastLessonMayLackItsEnd) {
  const WrittenMemory written;
  for (size_t end = 0; end <= written.text.size(); ++end) {
    for (const size_t zeros : {0, 2, 100}) {
      const auto read = ParseMemory(written.text.substr(0, end) + std::string(zeros, '\0'));
      size_t whole = 0;  // parts
      while (whole < written.ends.size() && written.ends[whole].first <= end) ++whole;
      ASSERT_EQ(read.ok(), whole > 0) << end << ": " << read.status();
      if (whole == 0) continue;
      const size_t segments = written.ends[whole - 1].second;
      EXPECT_EQ(read->version, static_cast<int64_t>(whole)) << end;
      EXPECT_EQ(read->segments, std::vector<MemorySegment>(written.segments.begin(),
                                                           written.segments.begin() + segments))
          << end;
    }
  }
  EXPECT_FALSE(ParseMemory(written.text + "Six.\tSechs.\n").ok());
  EXPECT_FALSE(ParseMemory(written.text + "# name: Other\n").ok());
  EXPECT_FALSE(ParseMemory(written.text + "# learn: 1 4\nSix.\tSechs.\n").ok());
}

TEST(MemoryText, ALessonWithoutDigestsIsReadButNotPastWhatIsWrongInIt) {
  const std::string before =
      "# name: M\n# version: 1\n# languages: en de\nOne.\tEins.\n# learn: 2 2\nTwo.\tZwei.\n";
  const std::string text = before + "Three.\tDrei.\n# learn: 1 3\nFour.\tVier.\n";
  const auto read = ParseMemory(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->segments, SizeIs(4));
  EXPECT_EQ(read->version, 3);
  EXPECT_THAT(ParseMemory(text.substr(0, text.size() - 1))->segments, SizeIs(3));
  EXPECT_THAT(ParseMemory(before)->segments, SizeIs(1));
  EXPECT_THAT(ParseMemory(text + WriteLearned({{"Five.", "Neu."}}, 4))->segments, SizeIs(5));
  for (const std::string wrong : {"Three. Drei.\n", "Three.\t\x01\n", "# learn: 1 3\n"}) {
    for (const std::string after : {"", "# learn: 1 3\nFour.\tVier.\n"}) {
      EXPECT_THAT(std::string(ParseMemory(before + wrong + after).status().message()),
                  HasSubstr("line 7, byte "));
    }
  }
}

}  // namespace
}  // namespace dragoman::memory_text_test
