// What holds for all containers: the file that is made, limits, damage.  The samples in data/ were
// made by LibreOffice from small files written for the purpose.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "documents/container.h"
#include "engine/base/xml_events.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/documents/zip_of.h"

namespace dragoman::containers_test {
namespace {

using ::testing::HasSubstr;

constexpr char kData[] = "tests/documents/data/";
const char* const kSamples[] = {"text.docx", "text.odt",    "text.epub", "sheet.xlsx",
                                "sheet.ods", "slides.pptx", "slides.odp"};

constexpr char kTypes[] =
    "<Types><Default Extension=\"xml\" ContentType=\"application/vnd.openxmlformats-officedocument."
    "wordprocessingml.document.main+xml\"/></Types>";

std::string Body(const std::string& text) {
  return "<w:p "
         "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">\n<w:r><w:t>" +
         text + "</w:t></w:r></w:p>";
}

std::string Docx(const std::vector<ZipMember>& members) {
  const std::string path = TemporaryPath(".docx");
  std::vector<ZipMember> all = {{"[Content_Types].xml", kTypes}};
  all.insert(all.end(), members.begin(), members.end());
  WriteZip(path, all);
  return path;
}

std::string Error(const std::string& path, const DocumentOptions& options = {}) {
  const Translated result = TranslateFile(path, Upper, options);
  if (result.status.ok()) return "";
  EXPECT_EQ(result.status.code(), absl::StatusCode::kInvalidArgument) << result.status;
  return std::string(result.status.message());
}

TEST(Container, MembersKeepTheirOrderAndWhatIsNotTranslatedItsBytes) {
  const std::string noise("\0\x01\xff<w:t>dog", 11);
  const std::string path = Docx({{"b.bin", noise, 0},
                                 {"word/z.xml", Body("dog")},
                                 {"word/vbaProject.bin", std::string(5000, 'x')},
                                 {"word/empty.xml", Body("12")},
                                 {"word/folder/", "", 0}});
  const Translated result = TranslateFile(path, Upper);
  ASSERT_TRUE(result.status.ok()) << result.status;
  const std::vector<ZipMember> before = ReadZip(path), after = ReadZip(result.output);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].name, after[i].name);
    EXPECT_EQ(before[i].method, after[i].method);
    const bool translated = before[i].name == "word/z.xml";
    EXPECT_EQ(before[i].packed == after[i].packed, !translated) << before[i].name;
    EXPECT_EQ(after[i].content == before[i].content, !translated) << before[i].name;
  }
}

TEST(Container, WhatCannotBeReadIsNotWritten) {
  const std::string path = Docx({{"a.xml", Body("dog")}}), output = TemporaryPath(".docx");
  const auto find = [](Container*, const DocumentOptions&) -> absl::StatusOr<MemberReaders> {
    return MemberReaders{{"a.xml", [](std::string_view, Patience*) {
                            return std::vector<Passage>{
                                {.begin = 1, .end = 2, .text = "dog", .write = [](auto) {
                                   return std::string("<");
                                 }}};
                          }}};
  };
  auto document = Container::Open(path, output, {}, find);
  ASSERT_TRUE(document.ok());
  ASSERT_TRUE((*document)->Next().ok());
  const absl::Status status = (*document)->Write({"Hund"});
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("a.xml: the translation is not XML that can be read: "));
}

TEST(Container, DamageIsReportedWithTheMemberAndTheLine) {
  EXPECT_THAT(Error(Docx({{"a.xml", "<a>\n<b></a>"}})),
              HasSubstr("a.xml: line 2: is not well-formed XML"));
  EXPECT_THAT(Error(Docx({{"a.xml", "<!DOCTYPE a [<!ENTITY e SYSTEM 'e.xml'>]><a>&e;</a>"}})),
              HasSubstr("a.xml: line 1: declares the external entity"));
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "<w:p>";
  EXPECT_THAT(Error(Docx({{"a.xml", deep}})), HasSubstr("a.xml: line 1: elements are nested"));

  // Also of a member that is copied.
  const std::string path = Docx({{"a.xml", Body("a dog"), 0}, {"b.png", "a cat", 0}});
  const std::string whole = ReadBytes(path);
  for (const auto& [name, content] : {std::pair("a.xml", "a dog"), std::pair("b.png", "a cat")}) {
    std::string bytes = whole;
    bytes[bytes.find(content)] = 'A';
    WriteBytes(path, bytes);
    EXPECT_THAT(Error(path), HasSubstr(std::string(name) + ": is damaged in the archive"));
  }
}

TEST(Container, WhatIsNoContainerIsRefused) {
  const std::string path = TemporaryPath(".docx");
  WriteBytes(path, "hello");
  EXPECT_THAT(Error(path), HasSubstr("is not a zip"));
  WriteBytes(path, "\xd0\xcf\x11\xe0hello");
  EXPECT_THAT(Error(path), HasSubstr("Office before 2007, or encrypted"));
  WriteZip(path, {{"a.xml", "<a/>"}});
  EXPECT_THAT(Error(path), HasSubstr("has no member [Content_Types].xml"));
  const std::string odt = TemporaryPath(".odt"), epub = TemporaryPath(".epub");
  std::filesystem::copy_file(path, odt);
  std::filesystem::copy_file(path, epub);
  EXPECT_THAT(Error(odt), HasSubstr("has no member content.xml"));
  EXPECT_THAT(Error(epub), HasSubstr("has no member META-INF/container.xml"));
}

TEST(Container, NamesThatLeadOutAreRefused) {
  for (const char* const name : {"../a", "a/../../b", "/a"}) {
    EXPECT_THAT(Error(Docx({{name, "x"}})), HasSubstr(std::string("names \"") + name));
  }
  EXPECT_EQ(Error(Docx({{"a..b", "x"}})), "");
}

TEST(Container, BombsAreRefused) {
  const std::string bomb = Docx({{"a.xml", Body(std::string(8 << 20, 'a'))}});
  EXPECT_THAT(Error(bomb), HasSubstr("a.xml: claims 8388"));
  const std::string large =
      Docx({{"a.xml", Body(std::string(1000, 'a'))}, {"b.xml", Body(std::string(500, 'b'))}});
  EXPECT_THAT(Error(large, {.max_part_bytes = 1000}), HasSubstr("a.xml: has 11"));
  EXPECT_THAT(Error(large, {.max_total_bytes = 1500}), HasSubstr("b.xml: and the parts before it"));

  // Entries that share their bytes.
  const std::string twice = Docx({{"a.bin", std::string(1000, 'a'), 0}, {"b.bin", "", 0}});
  std::string bytes = ReadBytes(twice);
  const size_t listed = bytes.rfind("a.bin"), other = bytes.rfind("b.bin");
  bytes.replace(other - 46, 46, bytes.substr(listed - 46, 46));
  WriteBytes(twice, bytes);
  EXPECT_NE(Error(twice), "");
}

TEST(Container, EncryptedAndRepeatedMembersAreRefused) {
  const std::string path = Docx({{"a.bin", "aaa", 0}, {"b.bin", "bbb", 0}});
  const std::string whole = ReadBytes(path);
  std::string bytes = whole;
  bytes[bytes.rfind("a.bin") - 46 + 8] |= 1;
  WriteBytes(path, bytes);
  EXPECT_THAT(Error(path), HasSubstr("a.bin is encrypted"));
  bytes = whole;
  for (size_t at = bytes.find("b.bin"); at != bytes.npos; at = bytes.find("b.bin")) bytes[at] = 'a';
  WriteBytes(path, bytes);
  EXPECT_THAT(Error(path), HasSubstr("a.bin occurs twice"));
}

// The number of times that each element occurs in the members of a zip that are XML.
std::map<std::string, int> Count(const std::string& path, const std::regex& names) {
  std::map<std::string, int> counts;
  for (const ZipMember& member : ReadZip(path)) {
    const auto events = ReadXmlEvents(member.content);
    if (!events.ok()) continue;
    for (const XmlEvent& event : *events) {
      const std::string name(event.name);
      if (event.kind == XmlEvent::kStart && std::regex_match(name, names)) ++counts[name];
    }
  }
  return counts;
}

class Sample : public testing::TestWithParam<const char*> {
 public:
  static std::string Path() { return kData + std::string(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Containers, Sample, testing::ValuesIn(kSamples));

TEST(Containers, HaveASampleEach) {
  for (const DocumentFormat& format : DocumentFormats()) {
    if (format.open == nullptr) continue;
    EXPECT_TRUE(std::any_of(std::begin(kSamples), std::end(kSamples), [&](const char* sample) {
      return FindDocumentFormat(sample) == &format;
    })) << format.name;
  }
}

TEST_P(Sample, ThatIsNotChangedHasTheSameBytes) {
  const Translated result = TranslateFile(Path(), Same);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_GT(result.texts.size(), 3);
  const std::vector<ZipMember> before = ReadZip(Path()), after = ReadZip(result.output);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].name, after[i].name);
    EXPECT_EQ(before[i].packed, after[i].packed) << before[i].name;
  }
}

TEST_P(Sample, InUpperCaseHasTheSameStructure) {
  const Translated result = TranslateFile(Path(), Upper);
  ASSERT_TRUE(result.status.ok()) << result.status;
  const std::regex structure(
      "w:(p|tbl|tc|drawing|hyperlink|footnoteReference|endnoteReference|commentReference|bookmark.*"
      "|"
      "fldChar|br|tab|txbxContent)|a:(p|blip|br|hlinkClick)|(x:)?(si|c|comment|f|v)|text:(p|h|a|"
      "note|"
      "list-item|tab|s|line-break|bookmark.*|page-number)|table:.*|draw:.*|office:annotation|h1|p|"
      "a|"
      "img|li|td|tr|table");
  EXPECT_EQ(Count(Path(), structure), Count(result.output, structure));
  // All that is seen again is what was written.
  const Translated again = TranslateFile(result.output, Same);
  ASSERT_TRUE(again.status.ok()) << again.status;
  std::vector<std::string> upper;
  for (const std::string& text : result.texts) upper.push_back(Upper(text));
  EXPECT_EQ(again.texts, upper);
}

// A translation such as no server makes.
std::string Broken(const std::string& text, std::mt19937* random) {
  std::string out = text;
  const auto place = [&] { return out.empty() ? 0 : (*random)() % out.size(); };
  for (int changes = static_cast<int>((*random)() % 3); changes > 0; --changes) {
    const size_t at = place();
    switch ((*random)() % 5) {
      case 0:
        out.erase(at, (*random)() % 5);
        break;
      case 1:
        out.insert(at, "]]>&<");
        break;
      case 2:
        out.insert(at, out.substr(place(), 6));
        break;
      case 3:
        out.insert(at, "&#0;&amp;&x;\x02");
        break;
      default:
        out.insert(at, "dog");
    }
  }
  return out;
}

TEST_P(Sample, IsWellFormedWhateverTheTranslation) {
  std::mt19937 random(17);
  for (int round = 0; round < 20; ++round) {
    const Translated result =
        TranslateFile(Path(), [&](const std::string& text) { return Broken(text, &random); });
    ASSERT_TRUE(result.status.ok()) << result.status;
    const std::vector<ZipMember> before = ReadZip(Path()), after = ReadZip(result.output);
    for (size_t i = 0; i < before.size(); ++i) {
      if (!ReadXmlEvents(before[i].content).ok()) continue;
      EXPECT_TRUE(ReadXmlEvents(after[i].content).ok()) << after[i].content;
    }
    std::filesystem::remove(result.output);
  }
}

void Mutate(std::string* bytes, std::mt19937* random) {
  static const char* const kPieces[] = {
      "<w:p>", "</w:r>", "<",   ">",        "/>",
      "\"",    "&",      "]]>", "<text:p>", "<w:fldChar w:fldCharType=\"end\"/>",
      "\xff"};
  for (int changes = 1 + static_cast<int>((*random)() % 4); changes > 0 && !bytes->empty();
       --changes) {
    const size_t at = (*random)() % bytes->size(), from = (*random)() % bytes->size();
    switch ((*random)() % 5) {
      case 0:
        (*bytes)[at] = static_cast<char>((*random)());
        break;
      case 1:
        bytes->erase(at, (*random)() % 20);
        break;
      case 2:
        bytes->insert(at, bytes->substr(from, (*random)() % 60));
        break;
      case 3:
        bytes->insert(at, kPieces[(*random)() % std::size(kPieces)]);
        break;
      default:
        bytes->resize(bytes->size() - (*random)() % std::min<size_t>(bytes->size(), 9));
    }
  }
}

// Swaps, copies or drops whole elements, so that a member stays well-formed.
void MoveElements(std::string* part, std::mt19937* random) {
  for (int changes = 1 + static_cast<int>((*random)() % 3); changes > 0; --changes) {
    const auto events = ReadXmlEvents(*part);
    if (!events.ok() || events->size() < 4) return;
    const auto element = [&] {
      while (true) {
        const XmlEvent& event = (*events)[(*random)() % events->size()];
        if (event.kind != XmlEvent::kStart || event.begin == (*events)[0].begin) continue;
        return std::make_pair(event.begin, (*events)[event.partner].end);
      }
    };
    const auto [begin, end] = element();
    const auto [from, to] = element();
    if (to - from > 20'000) continue;
    const std::string moved = part->substr(from, to - from);
    if ((*random)() % 2 == 0) {
      part->replace(begin, end - begin, moved);
    } else {
      part->insert(begin, moved);
    }
  }
}

TEST_P(Sample, SurvivesMutations) {
  const char* const runs = std::getenv("DRAGOMAN_FUZZ_RUNS");  // as for tests/fuzz
  const int mutations = runs == nullptr ? 200 : std::atoi(runs);
  std::mt19937 random(23);
  const std::string bytes = ReadBytes(Path());
  const std::vector<ZipMember> members = ReadZip(Path());
  const std::string suffix = std::string(GetParam()).substr(std::string(GetParam()).find('.'));
  const std::string path = TemporaryPath(suffix);
  const DocumentOptions options = {
      .target_language = "de", .max_part_bytes = 4 << 20, .max_total_bytes = 16 << 20};
  int accepted = 0;
  for (int i = 0; i < mutations; ++i) {
    if (i % 3 == 0) {
      std::string mutated = bytes;
      Mutate(&mutated, &random);
      WriteBytes(path, mutated);
    } else {
      std::vector<ZipMember> mutated = members;
      std::string& content = mutated[random() % mutated.size()].content;
      i % 3 == 1 ? Mutate(&content, &random) : MoveElements(&content, &random);
      WriteZip(path, mutated);
    }
    const Translated result = TranslateFile(path, Upper, options);
    if (!result.status.ok()) continue;
    ++accepted;
    const std::vector<ZipMember> before = ReadZip(path), after = ReadZip(result.output);
    ASSERT_EQ(before.size(), after.size());
    for (size_t m = 0; m < before.size(); ++m) {
      if (before[m].content == after[m].content) continue;
      EXPECT_TRUE(ReadXmlEvents(after[m].content).ok()) << "mutation " << i << after[m].name;
    }
    std::filesystem::remove(result.output);
  }
  EXPECT_GT(accepted, mutations / 10);
}

}  // namespace
}  // namespace dragoman::containers_test
