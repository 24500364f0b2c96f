#include "engine/text/literals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace dragoman::literals_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Found(std::string_view text, TextSource source = TextSource::kProse) {
  std::vector<std::string> found;
  for (const Literal& literal : FindLiterals(text, source)) {
    found.emplace_back(text.substr(literal.span.begin, literal.span.size()));
  }
  return found;
}

TEST(Literals, AnAddressEndsBeforeThePunctuationOfItsSentence) {
  EXPECT_THAT(Found("See https://example.org/a?b=1#c, please."),
              ElementsAre("https://example.org/a?b=1#c"));
  EXPECT_THAT(Found("(See https://example.org/a_(b).)"), ElementsAre("https://example.org/a_(b)"));
  EXPECT_THAT(Found("Mail ada.l+x@mail.example.org."), ElementsAre("ada.l+x@mail.example.org"));
  EXPECT_THAT(Found("Try www.example.org or example.com!"),
              ElementsAre("www.example.org", "example.com"));
  EXPECT_THAT(Found("请访问https://example.com/x。谢谢"), ElementsAre("https://example.com/x"));
}

TEST(Literals, AnAddressKeepsTheBracketsThatItOpens) {
  EXPECT_THAT(Found("[https://example.org/a_[b](c)](d)."),
              ElementsAre("https://example.org/a_[b](c)](d)"));
  EXPECT_THAT(Found("(https://example.org/{x}}))"), ElementsAre("https://example.org/{x}"));
  const std::string address = "https://example.org/";
  EXPECT_THAT(Found(address + std::string(1'000'000, ')')), ElementsAre(address));
}

TEST(Literals, PlaceholdersOfManyLanguagesAreFound) {
  EXPECT_THAT(Found("%s, %1$s, %-5.2f and %%: %dx%d %lu"),
              ElementsAre("%s", "%1$s", "%-5.2f", "%%", "%dx%d", "%lu"));
  EXPECT_THAT(Found("%(name)s %{ruby} %<x>d %1 %L2 %n %@"),
              ElementsAre("%(name)s", "%{ruby}", "%<x>d", "%1", "%L2", "%n", "%@"));
  EXPECT_THAT(Found("{name} {0:.2f} {} {{count}} {{{raw}}} {% if %} ${HOME} $HOME $(pwd)"),
              ElementsAre("{name}", "{0:.2f}", "{}", "{{count}}", "{{{raw}}}", "{% if %}",
                          "${HOME}", "$HOME", "$(pwd)"));
  EXPECT_THAT(Found("{n, plural, one {# file} other {{n} files}} left"),
              ElementsAre("{n, plural, one {# file} other {{n} files}}"));
}

TEST(Literals, KindsOfFilesAndClassesAreFound) {
  EXPECT_THAT(Found("Images (*.png *.jpg)|*.*, *.{js,ts}"),
              ElementsAre("*.png", "*.jpg", "*.*", "*.{js,ts}"));
  EXPECT_THAT(Found("{!! $raw !!} and {{ $x }}"), ElementsAre("{!! $raw !!}", "{{ $x }}"));
  EXPECT_THAT(Found("Open com.example.Cat or java.util.List."),
              ElementsAre("com.example.Cat", "java.util.List"));
  EXPECT_THAT(Found("Use -o FILE.txt or --output=FILE.txt now.", TextSource::kStrings),
              ElementsAre("-o FILE.txt", "--output=FILE.txt"));
}

// A sign and its number are one, on whichever side it stands.
TEST(Literals, PricesAreFound) {
  EXPECT_THAT(Found("It is US$30, R$1,000.50 or NT$9. $5", TextSource::kStrings),
              ElementsAre("US$30", "R$1,000.50", "NT$9", "$5"));
  EXPECT_THAT(Found("In 2020 $5, 2021 $6 or 5 $10 bills, 1234567 €.", TextSource::kStrings),
              ElementsAre("$5", "$6", "$10", "1234567 €"));
  EXPECT_THAT(Found("I have 5 $HOME and $x or %1$s.", TextSource::kStrings),
              ElementsAre("$HOME", "$x", "%1$s"));
  EXPECT_THAT(Found("A $5-a-day ($12) plan: $20/month or $5 million.", TextSource::kStrings),
              ElementsAre("$5", "($12)", "$20", "$5"));
  EXPECT_THAT(Found("It costs $5, 1 000 € or US$30."), ElementsAre("US$30"));
  constexpr const char* kSigns[] = {"$", "€", "£", "¥", "₹", "₽", "₩", "¢"};
  constexpr const char* kAmounts[] = {"5",    "12",    "1,000", "1.000,50", "1 000 000",
                                      "3.50", "1'000", "0",     "12345678"};
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    const std::string sign = kSigns[random() % std::size(kSigns)],
                      amount = kAmounts[random() % std::size(kAmounts)];
    for (const std::string& price :
         {sign + amount, sign + " " + amount, amount + sign, amount + " " + sign,
          amount + "\u00a0" + sign, "-" + sign + amount, sign + amount + "–" + sign + amount}) {
      EXPECT_THAT(Found("The cat costs " + price + ", the dog too.", TextSource::kStrings),
                  ElementsAre(price));
    }
  }
}

TEST(Literals, SignsAndFixedSpacesThatTouchAPlaceholderArePartOfIt) {
  EXPECT_THAT(Found("about ~%s ±%d #%d &%s €{0} {0}€ {0}°C (≈{n})"),
              ElementsAre("~%s", "±%d", "#%d", "&%s", "€{0}", "{0}€", "{0}°C", "(≈{n})"));
  EXPECT_THAT(Found("Total\u00a0%s, total:\u202f%s and %s\u00a0cats"),
              ElementsAre("\u00a0%s", "\u202f%s", "%s\u00a0"));
  EXPECT_THAT(Found("Taille de %s\u00a0: «\u00a0%s\u00a0» ou « %s »"),
              ElementsAre("%s", "«\u00a0%s\u00a0»", "« %s »"));
}

TEST(Literals, QuotesAndBracketsThatTouchAPlaceholderArePartOfIt) {
  for (const std::string literal : {"(\"%s\")", "[(%1$s)]", "&quot;%s&quot;", "&lt;{name}&gt;",
                                    "(&#39;%s&#39;)", "\"US$5\"", "(“{0}”)"}) {
    EXPECT_THAT(Found("The man sees " + literal + "."), ElementsAre(literal));
  }
  EXPECT_THAT(Found("say \\\"%s\\\" now", TextSource::kStrings), ElementsAre("\\\"%s\\\""));
  EXPECT_THAT(Found("&quot;a&quot; %s&quot;"), ElementsAre("&quot;", "&quot;", "%s", "&quot;"));
}

TEST(Literals, InlineCodeIsFoundWithItsRole) {
  EXPECT_THAT(Found("Call `f(x)`, ``a b`` or :py:func:`g` as in `the manual`_."),
              ElementsAre("`f(x)`", "``a b``", ":py:func:`g`", "`the manual`_"));
  EXPECT_THAT(Found(":func:`abs`"), ElementsAre(":func:`abs`"));
  EXPECT_THAT(Found("He said `yes' and ``no'', and (`why?') she said `no'."), IsEmpty());
}

TEST(Literals, WhatStandsAroundWordsIsTwo) {
  EXPECT_THAT(Found("The **big %s** and *small* _old_ ~~cat~~, ***x***."),
              ElementsAre("**", "%s", "**", "*", "*", "_", "_", "~~", "~~", "***", "***"));
  EXPECT_THAT(Found("See [our **rules**](/a_(b) \"c\") and ![it](x.png), [b]x[/b]."),
              ElementsAre("[", "**", "**", "](/a_(b) \"c\")", "![", "](x.png)", "[b]", "[/b]"));
  EXPECT_THAT(Found("2 * 3 * 4, cost* and tax*, and a[1](2"), ElementsAre("[1]"));
  EXPECT_THAT(Found("**%s**"), ElementsAre("**%s**"));
  EXPECT_THAT(Found("cat[1] and [sic] or [see %s]"), ElementsAre("[1]", "[", "]", "[", "%s", "]"));
  EXPECT_THAT(Found("house² and 5 m²"), ElementsAre("²", "m²"));
  EXPECT_THAT(Found("(%s) \"/etc/x\", '{0}' <a@b.example> (see C++) a(%d) [https://a.example]!"),
              ElementsAre("(%s)", "\"/etc/x\"", "'{0}'", "<a@b.example>", "C++", "%d", "[",
                          "https://a.example", "]"));
  EXPECT_THAT(
      Found("$t(a, {\"x\": \"(\\\")\"}) or $t(f(a)) {{ $t('a', {\"n\": 1}) $t(b) }}"),
      ElementsAre("$t(a, {\"x\": \"(\\\")\"})", "$t(f(a))", "{{ $t('a', {\"n\": 1}) $t(b) }}"));
  EXPECT_THAT(Found("[u]an [old](b) [[page]][/u] [of ![it](c)](d)"),
              ElementsAre("[u]", "[", "](b)", "[[page]]", "[/u]", "[", "![", "](c)", "](d)"));
  EXPECT_THAT(Found("%Y-%m-%d %I64u"), ElementsAre("%Y-%m-%d", "%I64u"));
  EXPECT_THAT(Found("^[%d cat](inflect: true)"), ElementsAre("^[", "%d", "](inflect: true)"));
  EXPECT_THAT(Found("<i>({0}) x</i>"), ElementsAre("<i>", "({0})", "</i>"));
  std::vector<std::string> parts;
  for (const Literal& tag :
       FindLiterals("<b c='d'>x</b><br/>&lt;i&gt;**x** {a}x{/a}{/a}{{#if b}}x{{/if}} [x]y[/x]",
                    TextSource::kStrings)) {
    parts.push_back("ABE"[tag.part] + std::string(tag.name));
  }
  EXPECT_THAT(parts, ElementsAre("Bb", "Eb", "Abr", "Bi", "B**", "E**", "Ba", "Ea", "A", "Bif",
                                 "Eif", "Bx", "Ex"));
}

TEST(Literals, TagsWithQuotesInQuotesAndNumbersWithSigns) {
  EXPECT_THAT(Found(R"(<a href="x" title="The \"y\" z">here</a>, #12 of 2024-01-02)"),
              ElementsAre(R"(<a href="x" title="The \"y\" z">)", "</a>", "#12", "2024-01-02"));
}

TEST(Literals, PercentSignsOfProseAreNoPlaceholders) {
  EXPECT_THAT(Found("100% sure, 5% discount, 100%ig, a 50%-ige Lösung, 20 %"), IsEmpty());
}

TEST(Literals, PathsAndFileNamesAreFound) {
  EXPECT_THAT(Found(R"(Open /usr/local/bin, ~/.profile, ./run.sh or C:\Users\ada\a.txt.)"),
              ElementsAre("/usr/local/bin", "~/.profile", "./run.sh", R"(C:\Users\ada\a.txt)"));
  EXPECT_THAT(Found("README.md and his/her and/or 1/2/2024"), ElementsAre("README.md"));
}

TEST(Literals, HandlesTagsAndCodesAreFound) {
  EXPECT_THAT(Found("@ada #Berlin @ada@social.example :smile:"),
              ElementsAre("@ada", "#Berlin", "@ada@social.example", ":smile:"));
  EXPECT_THAT(Found("Click <b class=\"x\">here</b>, <0/> or <br />; 3 < 5 and 7 > 2."),
              ElementsAre("<b class=\"x\">", "</b>", "<0/>", "<br />"));
  EXPECT_THAT(
      Found("ISBN 978-3-16-148410-0, +49 30 1234567, 1234567890, 0xBEEF, deadbeef0123"),
      ElementsAre("978-3-16-148410-0", "+49 30 1234567", "1234567890", "0xBEEF", "deadbeef0123"));
}

TEST(Literals, VersionsAreFoundButDatesAndNumbersAreNot) {
  EXPECT_THAT(Found("1.2.3, v2.0-rc1 and 10.0.0.1"), ElementsAre("1.2.3", "v2.0-rc1", "10.0.0.1"));
  EXPECT_THAT(Found("On 12.05.2024 it cost 1.000.000 euros, 3.5 kg, 12:30, the year 2024."),
              IsEmpty());
}

TEST(Literals, WhatIsAboveAWordIsNoPartOfIt) {
  EXPECT_THAT(Found("The 2<sup>nd</sup> cat<sup>1</sup>"),
              ElementsAre("<sup>", "</sup>", "<sup>", "</sup>"));
}

TEST(Literals, AnEmojiIsOneLiteralWithAllThatBelongsToIt) {
  EXPECT_THAT(Found("👨‍👩‍👧‍👦 and 🇩🇪, 1️⃣ ❤️!"),
              ElementsAre("👨‍👩‍👧‍👦", "🇩🇪", "1️⃣", "❤️"));
}

TEST(Literals, OfAnyTextAreWholeAndAlone) {
  for (const std::string literal : {"%r",
                                    "%I64u",
                                    "%|2$d|",
                                    "{n, duration}",
                                    "%[1]s",
                                    "%[name]s",
                                    "%NAME%",
                                    "%name%",
                                    "$name$",
                                    "#name#",
                                    "@{name}",
                                    "{ name }",
                                    "[[name]]",
                                    "<%= name %>",
                                    "@:key",
                                    "@:(key)",
                                    "foo.bar()",
                                    "snake_case",
                                    "FOO_BAR",
                                    "Ctrl+C",
                                    "Ctrl+Shift+F1",
                                    "C++",
                                    "H2O",
                                    "CO2",
                                    "B2B",
                                    "HTML5",
                                    "C#",
                                    "I/O",
                                    "TCP/IP",
                                    "NODE_ENV=test",
                                    "UTF-8",
                                    "%.2f%%",
                                    "%02d:%02d",
                                    "{m}:{s}m",
                                    "%#@cats@",
                                    "[1]",
                                    ":+1:",
                                    "%1$#@cats@",
                                    "{0}%",
                                    "{0}s",
                                    "%Y-%m-%d",
                                    "%B %d, %Y",
                                    "%-d %b, %l:%M %p",
                                    "yyyy-MM-dd HH:mm",
                                    "dd.MM.yyyy",
                                    "h:mm a",
                                    "#,##0.00",
                                    "_x000D_",
                                    "&amp;",
                                    "&nbsp;",
                                    "&lt;b&gt;",
                                    "&#39;",
                                    "2024-01-02T10:00:00Z",
                                    "({0})",
                                    "“%s”",
                                    "„{name}“",
                                    "« {name} »",
                                    "「%s」",
                                    "<b>%s</b>",
                                    "<i><b>%s</b></i>",
                                    "\u2068{name}\u2069",
                                    "$t(girl, { \"count\": {{girls}} })",
                                    "{\"x\": 1}",
                                    "<kbd>Ctrl</kbd>+<kbd>C</kbd>",
                                    "<code class=\"x\">npm install</code>",
                                    "H<sub>2</sub>O",
                                    "mc<sup>2</sup>",
                                    "CaCO<sub>3</sub>",
                                    "SO<sub>4</sub><sup>2−</sup>",
                                    "m<sup>2</sup>",
                                    "10<sup>-3</sup>",
                                    "x<sub>i</sub>",
                                    "1.2.3-beta.4",
                                    "1.0.0-alpha.1+build.5",
                                    "--dry-run",
                                    "--level=3",
                                    "std::vector",
                                    "common.buttons.save",
                                    "string|null",
                                    "localhost:8080",
                                    "10.0.0.1:80",
                                    "x²",
                                    "C₆H₁₂O₆",
                                    "10⁻³",
                                    "d*mn",
                                    "E=mc²",
                                    "1½",
                                    "②",
                                    "20 °C",
                                    "9–5",
                                    "18+",
                                    "%d+",
                                    "{n}+",
                                    "555-123-4567",
                                    "C:\\",
                                    "/etc",
                                    "AT&T",
                                    "100%%",
                                    "a.out",
                                    "v%s",
                                    "\"v%s\"",
                                    "(C)",
                                    "Makefile.am",
                                    "src/config.h.in",
                                    ".gitignore",
                                    ".env",
                                    ".env.example",
                                    ".eslintrc.json",
                                    "(#592)",
                                    "Ctrl+&S",
                                    "Ctrl+&amp;S",
                                    "$cat->name",
                                    "$this->cats[0]",
                                    "$env:PATH",
                                    "$HOME/.config/cats.toml",
                                    "@angular/core",
                                    "@scope/pkg@1.2.3",
                                    "^[a-z]+$",
                                    "^\\d{3}-\\d{4}$",
                                    "[A-Za-z0-9_]+",
                                    "[a-z]",
                                    "\\w+@\\w+",
                                    "%vd",
                                    "%v",
                                    "%+v",
                                    "%q",
                                    "%0:s",
                                    "{name:>{width}}",
                                    "{:>{}}",
                                    "{:>10}",
                                    "{0!r}",
                                    "{0:yyyy-MM-dd HH:mm}",
                                    "{when:%d %B}",
                                    "${a + {b: 1}}",
                                    "#{x + 1}",
                                    "$(ls -l)",
                                    "{0,choice,0#no cats|1#one cat}",
                                    "en-US",
                                    "zh-Hant-TW",
                                    "es-419",
                                    "application/json",
                                    "image/svg+xml",
                                    "application/vnd.ms-excel",
                                    "%APPDATA%\\Cats\\config.ini",
                                    "HKEY_LOCAL_MACHINE\\Software",
                                    "git@example.com:cat/dog.git",
                                    "<div *ngIf=\"x\" [y]=\"z\" (click)=\"f()\">",
                                    "(555) 123-4567",
                                    "#0f0",
                                    "5e63e41",
                                    "fe80::1",
                                    "s3://cats/old",
                                    "jdbc:mysql://localhost/db",
                                    "doi:10.1000/182",
                                    "sha256:9f86d081",
                                    "1024x768",
                                    "printf(3)",
                                    "E1234",
                                    "DE89 3704 0044 0532 0130 00",
                                    "localhost:3000/api/v1",
                                    "user@host:/tmp/x",
                                    "${HOME}/bin",
                                    "''%s''",
                                    "C:\\Program Files\\Cats\\a.txt",
                                    "00:1A:2B:3C:4D:5E",
                                    "@:{'x'}",
                                    "=SUM(A1:(B2))",
                                    "/^[a-z]+$/i",
                                    "[1][23]",
                                    "$5-$10",
                                    "£1,000–£2,000",
                                    "5-10%",
                                    "16:9",
                                    "12B",
                                    ":)",
                                    ";-P",
                                    "<3",
                                    "5:3-12",
                                    "4711-A",
                                    "-5",
                                    "-12 °C",
                                    "6'2\"",
                                    "100px",
                                    "max-width: 1.5rem",
                                    "© 2019–2024",
                                    "\\n"}) {
    const std::string text = "The man sees " + literal + " in the old house.";
    for (const TextSource source : {TextSource::kProse, TextSource::kStrings}) {
      EXPECT_THAT(Found(text, source), ElementsAre(literal));
    }
  }
}

TEST(Literals, OfStringsAreOrdinaryInProse) {
  for (const std::string literal : {"% d",
                                    "%NAME",
                                    ":name",
                                    ":Name",
                                    "!name",
                                    "__name__",
                                    "~name~",
                                    "^1",
                                    "--help",
                                    "-h",
                                    "-h, --help",
                                    "camelCase",
                                    "F1",
                                    "IEC-9001",
                                    "CVE-2021-44228",
                                    "amd64",
                                    "X-Request-Id",
                                    "Content-Type",
                                    "rgba(0, 0, 0, 0.5)",
                                    "-DBUILD=ON",
                                    "&&",
                                    ".net",
                                    "build:prod",
                                    "user.name",
                                    "foo(bar, 1)",
                                    "a.b->c(f(x), 'y')",
                                    "getElementById('x')",
                                    "Map<String, Integer>",
                                    "List[int]",
                                    "aria-label",
                                    "data-testid",
                                    "git commit -m \"x\"",
                                    "npm install",
                                    "--color[=WHEN]",
                                    "{Binding Name, Converter={StaticResource Upper}}",
                                    "{x:Static p:Names.Ada}"}) {
    const std::string text = "The man sees " + literal + " in the old house.";
    EXPECT_THAT(Found(text, TextSource::kStrings), ElementsAre(literal));
    EXPECT_THAT(Found(text), IsEmpty()) << literal;
  }
  EXPECT_THAT(Found("Delete cats[0][i]? (y/N) No obj.x[0].name", TextSource::kStrings),
              ElementsAre("cats[0][i]", "(y/N)", "obj.x[0].name"));
  EXPECT_THAT(Found("-n, --number=NUM: Map<K, List<V>>", TextSource::kStrings),
              ElementsAre("-n, --number=NUM", "Map<K, List<V>>"));
  EXPECT_THAT(Found("open '{'0'}' or '{0}'", TextSource::kStrings),
              ElementsAre("'{'0'}'", "'{0}'"));
  EXPECT_THAT(Found("[%name] [name] [OPTION]", TextSource::kStrings),
              ElementsAre("[%name]", "[name]", "[OPTION]"));
  EXPECT_THAT(Found("A\\n\\nb \\u2026", TextSource::kStrings), ElementsAre("\\n\\n", "\\u2026"));
  EXPECT_THAT(Found("Bad query: SELECT * FROM cats WHERE id = 1;", TextSource::kStrings),
              ElementsAre("SELECT * FROM cats WHERE id = 1"));
}

TEST(Literals, DotsLeadToThePageOfAChapter) {
  EXPECT_THAT(Found("The cat ........ 5"), ElementsAre("........"));
  EXPECT_THAT(Found("The cat... 5"), IsEmpty());
}

TEST(Literals, TheEndingOfAPluralIsOneBehindItsWord) {
  for (const TextSource source : {TextSource::kProse, TextSource::kStrings}) {
    EXPECT_THAT(Found("the cat(s), box(es) (s) f(x)", source), ElementsAre("(s)", "(es)"));
    EXPECT_THAT(Found("the date(optional) or name (s)", source), IsEmpty());
  }
}

// Whatever arguments a program takes.
TEST(Literals, AUsageLineIsOneBehindItsColon) {
  constexpr const char* kArguments[] = {"[OPTION]...", "FILE", "SOURCE...", "<file>", "[-v]",
                                        "--level=N",   "-o",   "{a|b}",     "N",      "[FILE ...]",
                                        "|",           "...",  "%s",        "-C DIR", "HOST:PORT"};
  constexpr const char* kPrograms[] = {"tool", "%s", "./run.sh", "git clone", "{0}"};
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    std::string line = kPrograms[random() % std::size(kPrograms)];
    for (size_t n = 1 + random() % 5; n > 0; --n) {
      line += std::string(" ") + kArguments[random() % std::size(kArguments)];
    }
    const std::string text = "Usage: " + line + "\n  or: " + line + "\nReads a file.";
    EXPECT_THAT(Found(text, TextSource::kStrings), ElementsAre(line, line));
  }
}

TEST(Literals, ArgumentsAreSomeOnlyBesideTheirOption) {
  const auto found = [](std::string_view text) { return Found(text, TextSource::kStrings); };
  EXPECT_THAT(found("-o FILE, --output=FILE, or --dry-run N2 write to it"),
              ElementsAre("-o FILE", "--output=FILE", "--dry-run N2"));
  EXPECT_THAT(found("%s [OPTION]... SOURCE DEST"), ElementsAre("%s", "[OPTION]... SOURCE DEST"));
  EXPECT_THAT(found("rel=\"self\" and size=large"), ElementsAre("rel=\"self\"", "size=large"));
  EXPECT_THAT(found("Usage: Click the button to go on."), IsEmpty());
  EXPECT_THAT(found("THE FILE IS OLD"), IsEmpty());
}

TEST(Literals, WhatGetsItsValueByItsPlaceIsTold) {
  const auto in_order = [](std::string_view text) { return FindLiterals(text).at(0).in_order; };
  for (const char* text : {"%s", "%d", "%.2f%%", "%02d:%02d", "{}", "{:d}", "%r"}) {
    EXPECT_TRUE(in_order(text)) << text;
  }
  for (const char* text : {"%1$s", "%(name)s", "{0}", "{name}", "%1", "%Y-%m-%d", "%%"}) {
    EXPECT_FALSE(in_order(text)) << text;
  }
}

TEST(Literals, OrdinaryProseHasNone) {
  EXPECT_THAT(Found("Bald, d.h. morgen, v.a. d.h."), IsEmpty());
  for (const char* text :
       {"Dr. Smith's well-known e-mail: 50,000 people (e.g. you) came at 3 p.m.!",
        "Note: this: that. What?! \"Yes\", she said - and/or no; U.S. law 1.",
        "It costs $5 and $100; it's and/or 20 % d'intérêts, Tom & Ann, 12:30:45, 50 % der "
        "Leute, he/she, audio/video.",
        "A 3-year-old, the A-Z of U.S. law, don't, an ex-US mayor, text/speech, $ and €, 5% of it.",
        "A defaced facade, the effaced decade, (see 3) 100% true, 50% today, \\section and \\data.",
        "a,b and well-known iPhone, the years 1990-1995, \"he --but not she-- said\".",
        "At 5:30 we were 3-5 people, 10-12-2024, don\'t, the \'90s; a git commit, cat (or so).",
        "Er sagte: »Nein« – z. B. heute, d. h. am 3. Mai um 14:30 Uhr."}) {
    EXPECT_THAT(Found(text), IsEmpty()) << text;
  }
}

TEST(Literals, APathOrAnAddressEndsWhereAPlaceholderBegins) {
  EXPECT_THAT(Found("{{ dir }}/scratch/skeleton/{{ item }}"),
              ElementsAre("{{ dir }}", "/scratch/skeleton/", "{{ item }}"));
  EXPECT_THAT(Found("git+file://{{ path }}/amazon.aws/.git"),
              ElementsAre("file://", "{{ path }}", "/amazon.aws/.git"));
  EXPECT_THAT(Found("https://example.org/${ id }?x"),
              ElementsAre("https://example.org/", "${ id }"));
  EXPECT_THAT(Found("/home/{user}/x and /home/{user"), ElementsAre("/home/{user}/x", "/home/"));
}

TEST(Literals, NoDayIsZero) {
  EXPECT_THAT(Found("Alabaster 0.7.12 of 1.7.12"), ElementsAre("0.7.12"));
}

TEST(Literals, KindsAreTold) {
  const auto kind = [](std::string_view text) { return FindLiterals(text).at(0).kind; };
  EXPECT_EQ(kind("https://a.example"), LiteralKind::kAddress);
  EXPECT_EQ(kind("/etc/hosts"), LiteralKind::kPath);
  EXPECT_EQ(kind("@ada"), LiteralKind::kHandle);
  EXPECT_EQ(kind("%d"), LiteralKind::kPlaceholder);
  EXPECT_EQ(kind("<br>"), LiteralKind::kTag);
  EXPECT_EQ(kind("1.2.3"), LiteralKind::kCode);
  EXPECT_EQ(kind("🙂"), LiteralKind::kEmoji);
}

// Longer than any window of the search, with and without white space to cut at.
TEST(Literals, LongTextsAndLongLiteralsAreSearchedWhole) {
  const std::string address = "https://example.org/" + std::string(5000, 'a');
  EXPECT_THAT(Found(std::string(3000, ' ') + address + " x"), ElementsAre(address));
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "one %s ";
  EXPECT_EQ(FindLiterals(text).size(), 5000u);
  EXPECT_EQ(FindLiterals(std::string(100'000, '%')).size(), 1u);
}

}  // namespace
}  // namespace dragoman::literals_test
