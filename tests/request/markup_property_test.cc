// Random XML documents, translated by scripts: the result is well-formed, has the same tags, nested
// in the same way, and the same bytes outside of sentences.  DRAGOMAN_MARKUP_DOCUMENTS sets how
// many (1000), DRAGOMAN_SEED the first seed.

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/text/xml_reader.h"
#include "gtest/gtest.h"
#include "tests/request/scripted_translation.h"

namespace dragoman::markup_property_test {
namespace {

constexpr const char* kWords[] = {"cat",    "Dog.",  "a",   "The",   "ünder", "H2O",
                                  "猫が",   "%1$s",  "x,",  "\"y\"", "e.g.",  "&amp;",
                                  "&#233;", "&lt;b", "3.5", "!",     "(so)",  "…"};
constexpr const char* kEmpties[] = {"<br/>",   "<img src='a'/>",     "<!-- c > <b> -->",
                                    "<?p i?>", "<![CDATA[<c> & ]]>", "<x>keep. It</x>",
                                    "<n></n>"};
constexpr const char* kNames[] = {"b", "i", "a", "p", "split", "in"};

class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  std::string Document() {
    if (Pick(4) == 0) return "<?xml version='1.0'?>\r\n<d>" + Content(0) + "</d>\n";
    return Content(0);
  }

  MarkupOptions Options() {
    return {.splitting_tags = {"split"},
            .non_splitting_tags = {"in"},
            .ignore_tags = {"x"},
            .outline_detection = Pick(2) == 0,
            .join_lines = Pick(2) == 0};
  }

  size_t Pick(size_t n) { return random_() % n; }

 private:
  std::string Content(int depth) {
    std::string content;
    for (size_t parts = Pick(7); parts > 0; --parts) {
      const size_t kind = Pick(10);
      if (kind < 4) content += kWords[Pick(std::size(kWords))];
      if (kind == 4) content += kEmpties[Pick(std::size(kEmpties))];
      if (kind == 5 || kind == 6) content += Element(depth);
      if (Pick(3) > 0) content += Pick(8) == 0 ? "\r\n " : " ";
    }
    return content;
  }

  std::string Element(int depth) {
    if (depth > 5) return "";
    const std::string name = kNames[Pick(std::size(kNames))];
    const std::string attributes = Pick(4) == 0 ? " k = \"v>'&amp;\"" : "";
    return "<" + name + attributes + ">" + Content(depth + 1) + "</" + name + " >";
  }

  std::mt19937_64 random_;
};

// The tags of each element with what is in them, but without text: the nesting of siblings in any
// order.
std::multiset<std::string> ShapesOf(const std::string& xml) {
  std::multiset<std::string> shapes;
  std::vector<std::string> open;  // paths
  for (size_t i = xml.find('<'); i != std::string::npos; i = xml.find('<', i)) {
    size_t end = xml.find('>', i) + 1;
    if (xml.compare(i, 4, "<!--") == 0) end = xml.find("-->", i) + 3;
    if (xml.compare(i, 9, "<![CDATA[") == 0) end = xml.find("]]>", i) + 3;
    if (xml.compare(i, 3, "<x>") == 0) end = xml.find("</x>", i) + 4;
    const std::string tag = xml.substr(i, end - i);
    const std::string path = (open.empty() ? "" : open.back()) + tag;
    if (tag.starts_with("</")) {
      if (open.empty()) return {"an end too many"};
      shapes.insert(path);
      open.pop_back();
    } else {
      shapes.insert(path);
      const bool paired =
          tag[1] != '!' && tag[1] != '?' && tag[tag.size() - 2] != '/' && !tag.starts_with("<x>");
      if (paired) open.push_back(path.substr(0, path.size()));
    }
    i = end;
  }
  if (!open.empty()) shapes.insert("an end is missing");
  return shapes;
}

// White space at the edges of marks may move.
std::string WithoutSpaces(std::string xml) {
  std::erase_if(xml, [](char c) { return c == ' ' || c == '\r' || c == '\n'; });
  return xml;
}

std::string Sorted(std::string text) {
  std::sort(text.begin(), text.end());
  return text;
}

TEST(MarkupProperty, RandomDocumentsKeepTheirMarkup) {
  const char* const documents = std::getenv("DRAGOMAN_MARKUP_DOCUMENTS");
  const char* const first = std::getenv("DRAGOMAN_SEED");
  const uint64_t begin = first != nullptr ? std::strtoull(first, nullptr, 10) : 1;
  const uint64_t count = documents != nullptr ? std::strtoull(documents, nullptr, 10) : 1000;
  for (uint64_t seed = begin; seed < begin + count && !testing::Test::HasFailure(); ++seed) {
    Writer writer(seed);
    const std::string xml = writer.Document();
    const MarkupOptions options = writer.Options();
    SCOPED_TRACE(testing::Message()
                 << "DRAGOMAN_SEED=" << seed << " DRAGOMAN_MARKUP_DOCUMENTS=1: " << xml);
    const absl::StatusOr<MarkedText> text = ReadXml(xml, options);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(WithoutSpaces(TranslateByScript(*text, Script::kIdentity)), WithoutSpaces(xml));
    for (const Script script : {Script::kIdentity, Script::kReversal, Script::kNothing}) {
      const std::string made = TranslateByScript(*text, script);
      EXPECT_TRUE(ReadXml(made, options).ok()) << made;
      EXPECT_EQ(ShapesOf(made), ShapesOf(xml)) << made;
      if (script != Script::kNothing) {
        EXPECT_EQ(Sorted(WithoutSpaces(made)), Sorted(WithoutSpaces(xml))) << made;
      }
    }
  }
}

}  // namespace
}  // namespace dragoman::markup_property_test
