// HTML, read, translated by a script, and written again.  DRAGOMAN_MARKUP_DOCUMENTS sets how many
// random documents (1000), DRAGOMAN_SEED the first seed.

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/text/html_reader.h"
#include "gtest/gtest.h"
#include "tests/request/html_seen.h"
#include "tests/request/scripted_translation.h"

namespace dragoman::html_markup_test {
namespace {

std::string Translate(const std::string& html, Script script, const MarkupOptions& options = {}) {
  return TranslateByScript(ReadHtml(html, options), script);
}

std::string Reversed(const std::string& html) { return Translate(html, Script::kReversal); }

constexpr const char* kWords[] = {"cat",     "Dog.",    "a",    "The",   "ünder", "H2O",
                                  "猫が",    "%1$s",    "x,",   "\"y\"", "e.g.",  "&amp;",
                                  "&#233;",  "&lt;b",   "3.5",  "!",     "(so)",  "…",
                                  "&eacute", "&notin;", "AT&T", "1 < 2", "&nbsp;"};
// Whole elements, and tokens that may stand anywhere.
constexpr const char* kUnits[] = {
    "<br>",
    "<img src=a alt=cat>",
    "<!-- c > <b> -->",
    "<?p i?>",
    "<wbr/>",
    "<hr>",
    "<code>x &lt; <b>y</b></code>",
    "<span translate=no>keep. It</span>",
    "<i class='a notranslate'>so<p>too</p></i>",
    "<script>if (a<b) '<p>'</script>",
    "<svg><path/><![CDATA[<p>]]></svg>",
    "<textarea placeholder='dog'><b></textarea>",
    "<input type=submit value=\"cat\">",
    "<kbd>Q</kbd>",
    "<div translate=no>a <b translate=yes>cat</b> b</div>",
    "<u></u>",
};
// Tags without a partner, and what is no tag.
constexpr const char* kStray[] = {"<b>",        "</b>",  "<i>",   "</i>",     "<p>",     "</p>",
                                  "<li>",       "</li>", "</>",   "</1>",     "<",       "</br>",
                                  "&",          "<td>",  "<div>", "</table>", "<a b=c>", "</a>",
                                  "<textarea>", "<!--",  "<b c='"};
// The last ones end open elements.
constexpr const char* kNames[] = {"b", "i", "a", "x-y", "DIV", "span", "P", "li", "td", "h1"};
constexpr size_t kNestable = 6;

class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed), sound_(Pick(3) > 0) {}

  std::string Document() {
    if (Pick(4) > 0) return Content(0);
    return "<!DOCTYPE html>\r\n<html><head><title>A &amp; cat</title></head><body>" + Content(0) +
           "</body></html>\n";
  }

  MarkupOptions Options() {
    MarkupOptions options = {.join_lines = Pick(2) == 0};
    if (Pick(4) == 0) options.splitting_tags = {"span"};
    if (Pick(4) == 0) options.non_splitting_tags = {"li", "br"};
    if (Pick(4) == 0) options.ignore_tags = {"x-y"};
    return options;
  }

  // Whether each tag has its partner, and none ends another element than its own.
  bool sound() const { return sound_; }

 private:
  size_t Pick(size_t n) { return random_() % n; }

  std::string Content(int depth) {
    std::string content;
    for (size_t parts = Pick(7); parts > 0; --parts) {
      const size_t kind = Pick(10);
      if (kind < 4) content += kWords[Pick(std::size(kWords))];
      if (kind == 4) content += kUnits[Pick(std::size(kUnits))];
      if (kind == 5 || kind == 6) content += Element(depth);
      if (kind == 7 && !sound_) content += kStray[Pick(std::size(kStray))];
      if (Pick(3) > 0) content += Pick(8) == 0 ? "\r\n " : " ";
    }
    return content;
  }

  std::string Element(int depth) {
    if (depth > 5) return "";
    const std::string name = kNames[Pick(sound_ ? kNestable : std::size(kNames))];
    const std::string attributes = Pick(4) == 0 ? " k = \"v>'&amp;\" title=cat" : "";
    return absl::StrCat("<", name, attributes, ">", Content(depth + 1), "</", name, " >");
  }

  std::mt19937_64 random_;
  const bool sound_;
};

std::vector<std::string> Sorted(std::vector<std::string> tags) {
  std::sort(tags.begin(), tags.end());
  return tags;
}

// Each tag with those around it, in any order: the nesting of the elements in kNames.  REQUIRES:
// each of their start tags has an end tag.
std::multiset<std::string> NestingOf(const std::vector<std::string>& tags) {
  std::multiset<std::string> nesting;
  std::vector<std::string> open = {""};
  for (const std::string& tag : tags) {
    const bool closes = tag.starts_with("</");
    const size_t begin = closes ? 2 : 1;
    const std::string name = tag.substr(begin, tag.find_first_of(" >", begin) - begin);
    const bool paired = std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
    nesting.insert(open.back() + tag);
    if (!paired) continue;
    if (!closes) {
      open.push_back(open.back() + tag);
    } else if (open.size() > 1) {
      open.pop_back();
    }
  }
  if (open.size() > 1) nesting.insert("an end is missing");
  return nesting;
}

// Without no-break spaces, which the reversal takes for the space between two words.
std::string LettersOf(std::string text) {
  text = absl::StrReplaceAll(text, {{"\u00A0", ""}});
  std::sort(text.begin(), text.end());
  return text;
}

// What lies between segments, in order.
std::vector<std::string> Outside(const MarkedText& text) {
  std::vector<std::string> outside;
  size_t done = 0;
  for (const Segment& segment : text.segments) {
    if (segment.raw.begin < done) continue;  // an attribute of a tag in the segment
    outside.push_back(text.raw.substr(done, segment.raw.begin - done));
    // Quotes may be added to a value.
    done = segment.raw.end;
  }
  outside.push_back(text.raw.substr(done));
  return outside;
}

bool HasInOrder(const std::string& html, const std::vector<std::string>& parts) {
  size_t at = 0;
  for (const std::string& part : parts) {
    at = html.find(part, at);
    if (at == html.npos) return false;
    at += part.size();
  }
  return html.starts_with(parts.front()) && html.ends_with(parts.back());
}

void Check(const std::string& html, const MarkupOptions& options, bool sound) {
  const MarkedText text = ReadHtml(html, options);
  const SeenHtml before = SeeHtml(html);
  for (const Script script : {Script::kIdentity, Script::kReversal}) {
    const std::string made = TranslateByScript(text, script);
    const SeenHtml after = SeeHtml(made);
    EXPECT_EQ(Sorted(after.tags), Sorted(before.tags)) << made;
    EXPECT_EQ(LettersOf(after.text), LettersOf(before.text)) << made;
    EXPECT_TRUE(HasInOrder(made, Outside(text))) << made;
    if (script == Script::kIdentity) {
      EXPECT_EQ(after, before) << made;
    }
    if (sound) {
      EXPECT_EQ(NestingOf(after.tags), NestingOf(before.tags)) << made;
    }
  }
  EXPECT_EQ(SeeHtml(TranslateByScript(text, Script::kNothing)).tags.size(), before.tags.size());
}

void CheckRandom(uint64_t seed) {
  Writer writer(seed);
  const std::string html = writer.Document();
  SCOPED_TRACE(testing::Message() << "DRAGOMAN_SEED=" << seed
                                  << " DRAGOMAN_MARKUP_DOCUMENTS=1: " << html);
  Check(html, writer.Options(), writer.sound());
}

struct Case {
  const char* html;
  const char* reversed;
};

// The situations in which markup is easily lost, most of which bergamot-translator's tests have,
// too.  Each comes out as it was if its translation is the text itself.
constexpr Case kCases[] = {
    {"", ""},
    {"<p></p>", "<p></p>"},
    {"<P><B>Wa</B>ter<BR>here!</p>", "<P><B>Wa</B>ter<BR>here!</p>"},
    {"<p data-a=\"&quot;&apos;\">One &lt;two&gt; three &amp; four</p>",
     "<p data-a=\"&quot;&apos;\">four &amp; three &lt;two&gt; One</p>"},
    {"<p>One two<br>three four</p>", "<p>two One<br>four three</p>"},
    {"an un<u>der</u>line", "un<u>der</u>line an"},
    {"<p>good <b>day</b></p>\n", "<p><b>day</b> good</p>\n"},
    {"<p>good <b>day &amp; night, friends.</b></p>",
     "<p><b>friends night, &amp; day</b> good.</p>"},
    {"<p>It <b>rains.</b> Take <img> <b>coats <u>and hats.</u></b> Will you go.</p>",
     "<p><b>rains</b> It. <img> <b><u>hats and</u> coats</b> Take. go you Will.</p>"},
    {"<p>one <img> <b>two</b> <u>three <a href=\"#\">four</a></u></p>",
     "<p><u><a href=\"#\">four</a> three</u> <img> <b>two</b> one</p>"},
    {"<p>one<img/>two</p>", "<p>one<img/>two</p>"},
    {"one two <br>", "two one <br>"},
    {"one two <u></u>", "two one <u></u>"},
    {"<p>one two <br></p>", "<p>two one <br></p>"},
    {"<p id=\"1\">one <img id=\"2\"><span id=\"3\"><u id=\"4\"></u><b></b><img>two</span></p>",
     "<p id=\"1\"><img id=\"2\"><span id=\"3\"><u id=\"4\"></u><b></b><img>two</span> one</p>"},
    {"one <script>f(\"<g>\");</script>two", "<script>f(\"<g>\");</script>two one"},
    {"one <!-- <two> -->three", "<!-- <two> -->three one"},
    {"wa<wbr>ter WA<WBR>TER", "WA<WBR>TER wa<wbr>ter"},
    {"one <var><var>two</var></var> three", "three <var><var>two</var></var> one"},
    {"one <var>&amp;</var> two", "two <var>&amp;</var> one"},
    {"<p title=*>one two</p>", "<p title=*>two one</p>"},
    {"<p>I <b>like</b> to <u>sail</u> this boat.</p>",
     "<p>boat this <u>sail</u> to <b>like</b> I.</p>"},
};

TEST(HtmlMarkup, MarkupFollowsTheWords) {
  for (const Case& c : kCases) {
    EXPECT_EQ(Translate(c.html, Script::kIdentity), c.html);
    EXPECT_EQ(Reversed(c.html), c.reversed) << c.html;
  }
}

TEST(HtmlMarkup, WordsThatReadLikeAnOpaqueElementStay) {
  EXPECT_EQ(Translate("<b><u>one<x>one</x></u> </b><i>two<p>three</p></i>", Script::kReversal,
                      {.ignore_tags = {"x"}}),
            "<b><u><x>one</x></u></b><i>two one<p>three</p></i>");
}

TEST(HtmlMarkup, RandomDocumentsKeepTheirMarkup) {
  const auto number = [](const char* name, uint64_t otherwise) {
    const char* const value = std::getenv(name);
    return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
  };
  const uint64_t begin = number("DRAGOMAN_SEED", 1);
  const uint64_t count = number("DRAGOMAN_MARKUP_DOCUMENTS", 1000);
  for (uint64_t seed = begin; seed < begin + count && !testing::Test::HasFailure(); ++seed) {
    CheckRandom(seed);
  }
}

// An opaque element with several words of a script without spaces was translated beside its copy.
TEST(HtmlMarkup, DocumentsThatWereWrongStayRight) { CheckRandom(552774); }

}  // namespace
}  // namespace dragoman::html_markup_test
