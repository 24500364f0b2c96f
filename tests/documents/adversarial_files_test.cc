// The laws of text (docs/markup.md) in a file of every format that is one part, against a
// translator that does the worst (tests/request/bad_translation.h): whatever it says of a generated
// text,
//
//   - the file can be read again, and has words;
//   - every literal, and every sign of a string, is in it as often as before, and what belongs
//     together does not cross;
//   - no number is in it that was not.
//
// DRAGOMAN_ADVERSARIAL sets how many texts (300), DRAGOMAN_SEED the first seed.

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "documents/document.h"
#include "documents/program_text.h"
#include "engine/base/xml_events.h"
#include "engine/text/html_reader.h"
#include "engine/text/literal_marks.h"
#include "engine/text/xml_reader.h"
#include "gtest/gtest.h"
#include "tests/documents/scripted_reader.h"
#include "tests/request/bad_translation.h"

namespace dragoman::adversarial_files_test {
namespace {

// A file with one text.  If the format does not put the text there itself, as a translation of "x
// y", it is "@".
struct Sample {
  std::string_view format, file;
  enum Spelling { kOwn, kRaw, kXml, kQuoted } spelling = kOwn;
  int copies = 1;  // of the text, when it is translated
};

constexpr Sample kSamples[] = {
    {"text", "x y\n"},
    {"html", "<p>@</p>", Sample::kXml},
    {"markdown", "@\n", Sample::kRaw},
    {"srt", "1\n00:00:01,000 --> 00:00:09,000\n@\n", Sample::kXml},
    {"vtt", "WEBVTT\n\n00:01.000 --> 00:09.000\nx y\n"},
    {"po", "msgid \"@\"\nmsgstr \"\"\n", Sample::kQuoted, 2},
    {"xliff",
     "<xliff version='1.2'><file source-language='en' target-language='de'><body><trans-unit "
     "id='a'><source>@</source>"
     "</trans-unit></body></file></xliff>",
     Sample::kXml, 2},
    {"tmx",
     "<tmx version='1.4'><header srclang='en'/><body><tu><tuv "
     "xml:lang='en'><seg>@</seg></tuv></tu></body></tmx>",
     Sample::kXml, 2},
    {"ts",
     "<TS><context><message><source>@</source><translation "
     "type='unfinished'/></message></context></TS>",
     Sample::kXml, 2},
    {"ass",
     "[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
     "Dialogue: 0,0:00:01.00,0:00:03.20,Default,,0,0,0,,x y\n"},
    {"json", "{\"a\": \"x y\"}"},
    {"arb", "{\"a\": \"x y\"}"},
    {"properties", "a = x y\n"},
    {"yaml", "a: x y\n"},
    {"android", "<resources><string name=\"a\">x y</string></resources>"},
    {"strings", "\"a\" = \"x y\";\n"},
    {"stringsdict",
     "<plist><dict><key>a</key><dict><key>NSStringLocalizedFormatKey</key><string>%#@n@</"
     "string><key>n</key><dict>"
     "<key>NSStringFormatSpecTypeKey</key><string>NSStringPluralRuleType</string><key>other</"
     "key><string>x y</string>"
     "</dict></dict></dict></plist>"},
    {"csv", "text\nx y\n"},
    {"tsv", "text\nx y\n"},
    {"dita", "<topic><title>@</title></topic>", Sample::kXml},
    {"xcstrings", "{\"sourceLanguage\": \"en\", \"strings\": {\"@\": {}}, \"version\": \"1.0\"}",
     Sample::kQuoted, 2},
    {"resx", "<root><data name=\"a\"><value>x y</value></data></root>"},
    {"ftl", "a = x y\n"},
    {"php", "<?php return ['a' => 'x y'];\n"},
};

const Sample* SampleOf(const DocumentFormat& format) {
  const auto sample = std::find_if(std::begin(kSamples), std::end(kSamples),
                                   [&](const Sample& each) { return each.format == format.name; });
  return sample == std::end(kSamples) ? nullptr : sample;
}

std::vector<Passage> PassagesOf(const DocumentFormat& format, std::string_view part) {
  auto passages = format.reader(part, ReaderOptions(format));
  if (!passages.ok()) return {};
  Patience patience{DocumentOptions()};
  for (Passage& passage : *passages) {
    if (format.strings) passage = ProgramText(std::move(passage), &patience);
  }
  return *std::move(passages);
}

std::string FileWith(const DocumentFormat& format, const Sample& sample, const std::string& text) {
  if (sample.spelling == Sample::kOwn) {
    const std::vector<Passage> passages = PassagesOf(format, sample.file);
    return Splice(sample.file, passages, PassageTranslations(passages.size(), text));
  }
  std::string spelled = text;
  if (sample.spelling == Sample::kXml) spelled = EscapeXml(text);
  if (sample.spelling == Sample::kQuoted) {
    spelled = absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}});
  }
  return absl::StrReplaceAll(std::string(sample.file), {{"@", spelled}});
}

std::string Translated(const DocumentFormat& format, std::string_view part, Random& random) {
  const std::vector<Passage> passages = PassagesOf(format, part);
  PassageTranslations translations;
  for (const Passage& passage : passages) {
    MarkedText text = passage.markup == PassageMarkup::kHtml ? ReadHtml(passage.text, {})
                      : passage.markup == PassageMarkup::kXml
                          ? ReadXml(passage.text, {}).value()
                          : ReadPlain(passage.text, /*join_lines=*/false);
    translations.push_back(TranslateBadly(
        std::move(text), format.strings ? TextSource::kStrings : TextSource::kProse, random));
  }
  return Splice(part, passages, translations);
}

// In one line, without the escapes of any format.
std::string Plain(const std::string& file) {
  std::string text = absl::StrReplaceAll(file, {{"\\N", " "},
                                                {"\\ud83d\\ude42", "🙂"},
                                                {"\"\n\"", ""},
                                                {"\n", " "},
                                                {"{\"[\"}", "["},
                                                {"{\"*\"}", "*"},
                                                {"{\".\"}", "."}});
  std::erase(text, '\\');
  for (int i = 0; i < 2; ++i) {
    text =
        absl::StrReplaceAll(text, {{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}});
  }
  return text;
}

int Count(std::string_view text, std::string_view part) {
  int count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// How often a sign stands before no word; a full stop may be behind it.
int Signs(std::string_view text, std::string_view sign) {
  int count = 0;
  for (size_t at = text.find(sign); at != text.npos; at = text.find(sign, at + 1)) {
    const size_t end = at + sign.size();
    count += end == text.size() || (!absl::ascii_isalnum(text[end]) && text[end] != '/');
  }
  return count;
}

std::set<std::string> NumbersIn(std::string_view text) {
  std::set<std::string> numbers = {""};
  std::string run;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      run += c;
    } else {
      numbers.insert(std::exchange(run, ""));
    }
  }
  return numbers;
}

// What is wrong with the translation of a file with this text; "" if nothing is.
std::string FaultOf(const DocumentFormat& format, const Sample& sample, const std::string& text,
                    const std::string& file, const std::string& out) {
  const auto read = format.reader(out, ReaderOptions(format));
  if (!read.ok()) return std::string(read.status().message());
  if (out == file) return "";
  const std::string before = Plain(file), after = Plain(out);
  for (const char* const literal : kSourceLiterals) {
    const std::string plain = Plain(literal);
    if (plain == "({0})" && before.find("[({0})") != before.npos) continue;  // "[": a line's, alone
    if (sample.spelling == Sample::kRaw && plain == "&") continue;           // left to the model
    const int least = sample.copies * std::min(Count(before, plain), Count(Plain(text), plain));
    if (Count(after, plain) < least) return plain + " is lost";
  }
  for (const char* const sign : {"*", "=", " |", " <"}) {
    const int least = sample.copies * std::min(Signs(before, sign), Signs(Plain(text), sign));
    if (Signs(after, sign) < least) return std::string(sign) + " is lost";
  }
  if (sample.copies == 1 && !HasText(*read)) return "the words are lost";
  const bool link = before.find("[u](") != before.npos;  // where "[u]" begins nothing
  const bool paired = AreNested(before) && !CrossTags(before) && !link;
  if (sample.copies == 1 && paired && !AreNested(after)) return "something crosses";
  const std::set<std::string> known = NumbersIn(before);
  for (const std::string& number : NumbersIn(after)) {
    if (!known.contains(number)) return number + " is new";
  }
  return "";
}

class AdversarialFiles : public testing::TestWithParam<DocumentFormat> {};

TEST_P(AdversarialFiles, TheLawsOfTextHold) {
  const char* const texts = std::getenv("DRAGOMAN_ADVERSARIAL");
  const char* const first = std::getenv("DRAGOMAN_SEED");
  const uint64_t begin = first != nullptr ? std::strtoull(first, nullptr, 10) : 1;
  const uint64_t count = texts != nullptr ? std::strtoull(texts, nullptr, 10) : 300;
  const DocumentFormat& format = GetParam();
  if (format.reader == nullptr) return;  // containers_test.cc
  const Sample* const sample = SampleOf(format);
  ASSERT_NE(sample, nullptr) << "has none";
  int translated = 0;
  for (uint64_t seed = begin; seed < begin + count && !HasFailure(); ++seed) {
    Random random(seed);
    std::string text = SourceText(random);
    if (seed % 4 == 1) text.insert(4, seed % 8 == 1 ? " name *" : " a => one | two < four = ");
    if (sample->spelling == Sample::kRaw && Count(text, "$") > 1) continue;  // an equation
    const std::string file = FileWith(format, *sample, text);
    const std::string out = Translated(format, file, random);
    EXPECT_EQ(FaultOf(format, *sample, text, file, out), "") << "DRAGOMAN_SEED=" << seed << ":\n"
                                                             << file << "\n"
                                                             << out;
    if (out != file) ++translated;
  }
  EXPECT_TRUE(HasFailure() || translated > static_cast<int>(count / 3));
}

INSTANTIATE_TEST_SUITE_P(, AdversarialFiles, testing::ValuesIn(DocumentFormats()),
                         [](const auto& format) { return std::string(format.param.name); });

}  // namespace
}  // namespace dragoman::adversarial_files_test
