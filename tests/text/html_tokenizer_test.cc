// The cases in tests/golden/html_tokens.json have the form of html5lib's tokenizer tests, a list of
// tokens for each input.  DRAGOMAN_HTML5LIB=DIR runs html5lib's own as well: DIR is the folder
// "tokenizer" of github.com/html5lib/html5lib-tests.

#include "engine/text/html_tokenizer.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "engine/base/utf8.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace dragoman::html_tokenizer_test {
namespace {

using Json = nlohmann::json;

// Half a surrogate pair stays one, in three bytes.
std::string Unescape(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\\u") == 0) {
      AppendUtf8(static_cast<char32_t>(std::stoul(text.substr(i + 2, 4), nullptr, 16)), &plain);
      i += 5;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

Json Unescape(const Json& value) {
  if (value.is_string()) return Unescape(value.get<std::string>());
  if (!value.is_structured()) return value;
  Json plain = value.is_array() ? Json::array() : Json::object();
  for (const auto& [key, item] : value.items()) {
    if (value.is_array()) {
      plain.push_back(Unescape(item));
    } else {
      plain[Unescape(key)] = Unescape(item);
    }
  }
  return plain;
}

class Reading {
 public:
  explicit Reading(std::string html) : html_(std::move(html)) {}

  Json Tokens(const std::string& state, const std::string& last_start_tag) {
    static const std::map<std::string, HtmlContent> kStates = {
        {"Data state", HtmlContent::kData},          {"CDATA section state", HtmlContent::kData},
        {"RCDATA state", HtmlContent::kRcdata},      {"RAWTEXT state", HtmlContent::kRawText},
        {"Script data state", HtmlContent::kScript}, {"PLAINTEXT state", HtmlContent::kPlaintext}};
    const bool in_cdata = state == "CDATA section state";
    if (in_cdata) html_.insert(0, "<![CDATA[");
    HtmlTokenizer tokenizer(html_);
    tokenizer.Enter(kStates.at(state), last_start_tag);
    tokenizer.AllowCdata(in_cdata);
    HtmlToken token;
    while (tokenizer.Next(&token)) {
      tokenizer.AllowCdata(false);
      Add(token);
    }
    return tokens_;
  }

 private:
  std::string Written(TextSpan span) const { return html_.substr(span.begin, span.size()); }
  std::string Plain(TextSpan span, HtmlContent content) const {
    return DecodeHtml(Written(span), content, HtmlPlace::kText);
  }
  Json Id(const std::optional<TextSpan>& id) const {
    return id ? Json(Plain(*id, HtmlContent::kRawText)) : Json();
  }

  void AddText(const std::string& text) {
    if (text.empty()) return;
    if (!tokens_.empty() && tokens_.back()[0] == "Character") {
      tokens_.back()[1] = tokens_.back()[1].get<std::string>() + text;
    } else {
      tokens_.push_back({"Character", text});
    }
  }

  void Add(const HtmlToken& token) {
    const std::string name = HtmlName(Written(token.name));
    switch (token.kind) {
      case HtmlTokenKind::kText:
        return AddText(Plain(token.text, token.content));
      case HtmlTokenKind::kCdata:
        return AddText(Written(token.text));
      case HtmlTokenKind::kStartTag:
        tokens_.push_back({"StartTag", name, Attributes(token)});
        if (token.self_closing) tokens_.back().push_back(true);
        return;
      case HtmlTokenKind::kEndTag:
        return tokens_.push_back({"EndTag", name});
      case HtmlTokenKind::kComment:
        return tokens_.push_back({"Comment", Plain(token.text, HtmlContent::kRawText)});
      case HtmlTokenKind::kDoctype:
        return tokens_.push_back({"DOCTYPE", name.empty() ? Json() : Json(name),
                                  Id(token.public_id), Id(token.system_id), !token.force_quirks});
      case HtmlTokenKind::kTemplate:  // to the standard, <?php ?> is a comment
        return tokens_.push_back({"Comment", Written({token.raw.begin + 1, token.raw.end - 1})});
      case HtmlTokenKind::kNothing:
        return;
    }
  }

  Json Attributes(const HtmlToken& token) const {
    Json attributes = Json::object();
    for (const HtmlAttribute& attribute : token.attributes) {
      attributes.emplace(
          HtmlName(Written(attribute.name)),
          DecodeHtml(Written(attribute.value), HtmlContent::kData, HtmlPlace::kAttribute));
    }
    return attributes;
  }

  std::string html_;
  Json tokens_ = Json::array();
};

int RunCases(const std::filesystem::path& path) {
  std::ifstream file(path);
  const Json cases = Json::parse(file);
  int count = 0;
  for (Json test : cases.value("tests", Json::array())) {
    if (test.value("doubleEscaped", false)) {
      test["input"] = Unescape(test["input"]);
      test["output"] = Unescape(test["output"]);
    }
    for (const std::string& state :
         test.value("initialStates", std::vector<std::string>{"Data state"})) {
      ++count;
      const std::string input = test["input"].get<std::string>();
      const Json tokens = Reading(input).Tokens(state, test.value("lastStartTag", ""));
      EXPECT_TRUE(tokens == test["output"])
          << path.filename() << ": " << test["description"] << " in " << state << ": "
          << testing::PrintToString(input) << "\n  "
          << tokens.dump(-1, ' ', true, Json::error_handler_t::replace) << "\n  want "
          << test["output"].dump(-1, ' ', true, Json::error_handler_t::replace);
    }
  }
  return count;
}

TEST(HtmlTokenizer, ReadsEachCaseAsTheStandardSays) {
  EXPECT_GT(RunCases("tests/golden/html_tokens.json"), 30);
}

// For ./test.sh --all.
TEST(HtmlTokenizer, DISABLED_ReadsThoseOfHtml5lib) {
  const char* const folder = std::getenv("DRAGOMAN_HTML5LIB");
  ASSERT_NE(folder, nullptr) << "DRAGOMAN_HTML5LIB is not set";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".test") count += RunCases(entry.path());
  }
  std::printf("%d cases of html5lib\n", count);
  EXPECT_GT(count, 6000);
}

// Every byte is in one token, whatever the bytes are.
TEST(HtmlTokenizer, TokensCoverTheInput) {
  std::mt19937 random(7);
  static constexpr std::string_view kParts[] = {
      "<",         ">",      "/",      "!",     "--",   "-",         "=",        "\"",  "'",
      " ",         "a",      "script", "<!--",  "]]>",  "<![CDATA[", "&",        "amp", ";",
      "<!doctype", "public", "</",     "title", "\r\n", "\xFF",      "\xC3\xA9", "<?"};
  for (int i = 0; i < 20'000; ++i) {
    std::string html;
    for (int parts = random() % 20; parts >= 0; --parts) {
      html += kParts[random() % std::size(kParts)];
    }
    HtmlTokenizer tokenizer(html);
    tokenizer.Enter(static_cast<HtmlContent>(random() % 5), "title");
    tokenizer.AllowCdata(random() % 2 == 0);
    HtmlToken token;
    size_t at = 0;
    while (tokenizer.Next(&token)) {
      ASSERT_EQ(token.raw.begin, at) << html;
      ASSERT_GT(token.raw.end, at) << html;
      at = token.raw.end;
    }
    ASSERT_EQ(at, html.size()) << html;
  }
}

}  // namespace
}  // namespace dragoman::html_tokenizer_test
