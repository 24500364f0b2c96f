#include "engine/text/html_reader.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::html_reader_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The segments, with their tags as they are written, and whatever else is copied in brackets.
std::vector<std::string> Show(const MarkedText& text) {
  std::vector<std::string> shown;
  for (const Segment& segment : text.segments) {
    std::string& line = shown.emplace_back();
    size_t done = segment.text.begin;
    const auto copy = [&](size_t end) {
      if (end > done) line += text.text.substr(done, end - done);
      done = std::max(done, end);
    };
    for (const Tag& tag : text.tags) {
      if (segment.writing != Writing::kText) break;
      if (tag.raw.begin < segment.raw.begin || tag.raw.end > segment.raw.end) continue;
      copy(tag.text);
      const Mark& mark = text.marks[tag.mark];
      const std::string raw = text.raw.substr(tag.raw.begin, tag.raw.size());
      line += mark.kind == MarkKind::kPaired ? raw : "[" + raw + "]";
      if (mark.kind == MarkKind::kOpaque) {
        line += "=" + text.text.substr(mark.text.begin, mark.text.size()) + ";";
        done = mark.text.end;
      }
    }
    copy(segment.text.end);
  }
  return shown;
}

std::vector<std::string> Read(const std::string& html, const MarkupOptions& options = {}) {
  return Show(ReadHtml(html, options));
}

TEST(HtmlReader, BlocksEndASentence) {
  EXPECT_THAT(Read("<p>One<div>two</div>three<ul><li>four<li>five</ul>six<hr>seven"),
              ElementsAre("One", "two", "three", "four", "five", "six", "seven"));
  EXPECT_THAT(Read("<table><tr><td>a<td>b</table><h1>c</h1><label>d</label><button>e</button>"),
              ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(Read("<i><a href=x>one</a><a href=y>two</a></i> <a>three</a>"),
              ElementsAre("<i><a href=x>one</a>", "<a href=y>two</a></i> <a>three</a>"));
  EXPECT_THAT(Read(""), IsEmpty());
  EXPECT_THAT(Read("<p></p> <br>\n"), IsEmpty());
  EXPECT_THAT(Read("a<!doctype html>b"), ElementsAre("a", "b"));
}

TEST(HtmlReader, WhatHasNoLettersIsCopied) {
  EXPECT_THAT(Read("<td>5</td><td>a <b>1</b></td><td>...</td><td><i>$5</i></td><p>b</p><p>0"),
              ElementsAre("a <b>1</b>", "b"));
}

TEST(HtmlReader, TagsOfTemplatesEndASentence) {
  EXPECT_THAT(Read("<title>{% block x %}a{% endblock %}</title>{% if b < c %}d{# <p>e #}f"),
              ElementsAre("a", "d", "f"));
  EXPECT_THAT(Read("a<% if b > c %>d<?php e('>') ?>f <b>{% g %}h</b>"),
              ElementsAre("a", "d", "f<b>", "h</b>"));
  EXPECT_THAT(Read("a <a href=\"{% url \"b>\" %}\" title='{% c %}'{% d %}>e</a> {{ f }}"),
              ElementsAre("a <a href=\"{% url \"b>\" %}\" title='{% c %}'{% d %}>e</a> {{ f }}"));
  EXPECT_THAT(Read("<p title='a {{ b }}' aria-label=\"{{ c('d') }}\">e</p>"), ElementsAre("e"));
}

TEST(HtmlReader, WhatIsPartOfALineIsAMark) {
  EXPECT_THAT(Read("<P>A <B CLASS=x>big</B> <a href='/'>c<i>a</i>t</a>, <x-y>so</x-y>.</P>"),
              ElementsAre("A <B CLASS=x>big</B> <a href='/'>c<i>a</i>t</a>, <x-y>so</x-y>."));
  EXPECT_THAT(Read("a<img src=x>b<wbr>c<input>d<!-- e -->f<?g?></>h<!-- i -->"),
              ElementsAre("a[<img src=x>]b[<wbr>]c[<input>]d[<!-- e -->]f[<?g?>][</>]h"));
  EXPECT_THAT(Read("<a href=x><div>one</div><div>two</div></a>"), ElementsAre("one", "two"));
}

TEST(HtmlReader, OptionsSayWhatEndsASentence) {
  EXPECT_THAT(Read("one<br>two<BR/>three</br>four"), ElementsAre("one", "two", "three", "four"));
  EXPECT_THAT(Read("one<br>two <br> three", {.join_lines = true}),
              ElementsAre("one[<br>] two [<br>]three"));
  EXPECT_THAT(Read("a<br>b", {.non_splitting_tags = {"br"}}), ElementsAre("a[<br>] b"));
  EXPECT_THAT(
      Read("a<x>b</x>c<div>d</div>", {.splitting_tags = {"x"}, .non_splitting_tags = {"div"}}),
      ElementsAre("a", "b", "c<div>d</div>"));
  EXPECT_THAT(Read("a <x>b <i>c</i></x> d", {.ignore_tags = {"x"}}),
              ElementsAre("a [<x>b <i>c</i></x>]=b c; d"));
}

TEST(HtmlReader, AnotherLanguageIsNotTranslated) {
  const std::string html = "<html lang=fr><p>a <i lang='fr-CA'>b</i> <i LANG=en-US>c</i></p>";
  EXPECT_THAT(Read(html, {.language = "eng_Latn"}),
              ElementsAre("a [<i lang='fr-CA'>b</i>]=b; <i LANG=en-US>c</i>"));
  EXPECT_THAT(Read("<div lang=fr><p>a</p><p lang=en>b</p><p lang=fr translate=yes>c</p></div>",
                   {.language = "en"}),
              ElementsAre("b", "c"));
  const std::string unknown = "a <i lang=''>b</i> <i lang=x-1>c</i>";
  EXPECT_THAT(Read(unknown, {.language = "en"}), ElementsAre(unknown));
  EXPECT_THAT(Read("a <i lang=fr>b</i>"), ElementsAre("a <i lang=fr>b</i>"));
}

TEST(HtmlReader, ReferencesAreCharacters) {
  const MarkedText text = ReadHtml("&lt;caf&eacute;&gt; AT&T&nbsp;&copy 2&#x20AC;&amp;lt;", {});
  EXPECT_THAT(Show(text), ElementsAre("<café> AT&T[&nbsp;] © 2[&#x20AC;]&lt;"));
}

TEST(HtmlReader, ReferencesOfSymbolsAreElementsWithoutText) {
  EXPECT_THAT(Read("a &rsaquo; b&nbsp;c &copy;&#0;&#xD800; &eacute;&ndash;&hellip;&rsquo;&frac12;"),
              ElementsAre("a [&rsaquo;]b[&nbsp;] c [&copy;][&#0;][&#xD800;]é"
                          "[&ndash;]=–;[&hellip;]=…;’½"));
  EXPECT_THAT(Read("a 5&ndash;7"), ElementsAre("a 5–7"));
  EXPECT_THAT(Read("<img alt='a &copy; b'>"), ElementsAre("a © b"));
}

TEST(HtmlReader, WhiteSpaceIsReadAsItIsShown) {
  EXPECT_THAT(Read("<p>\n  one\r\n\ttwo <b> three </b>&#32; four\n</p>"),
              ElementsAre("one two <b>three </b>four"));
  EXPECT_THAT(Read("<pre translate=yes>one\n  <b>two\n</b>a</pre>"),
              ElementsAre("one\n  <b>two\n</b>a"));
}

TEST(HtmlReader, CodeKeepsItsPlaceInASentence) {
  EXPECT_THAT(Read("Call <code>f(<b>x</b>,\n &lt;y)</code> or <kbd>Q</kbd> <var>v</var>."),
              ElementsAre("Call [<code>f(<b>x</b>,\n &lt;y)</code>]=f(x, <y); or [<kbd>Q</kbd>]=Q; "
                          "[<var>v</var>]=v;."));
  EXPECT_THAT(Read("a <code><code>b</code> c</code> d"),
              ElementsAre("a [<code><code>b</code> c</code>]=b c; d"));
  EXPECT_THAT(Read("one <pre>two</pre> three"), ElementsAre("one", "three"));
  EXPECT_THAT(Read("one<code>two<div>three</div></code>four"), ElementsAre("one", "four"));
}

TEST(HtmlReader, WhatIsNoTextIsCopied) {
  EXPECT_THAT(Read("a <script>if (a<b) '</p>'</script>b <style>p>b{}</style>c"),
              ElementsAre("a [<script>if (a<b) '</p>'</script>]b [<style>p>b{}</style>]c"));
  EXPECT_THAT(Read("a <textarea><b>c</textarea> e"), ElementsAre("a [<textarea><b>c</textarea>]e"));
  EXPECT_THAT(Read("a <noscript><p>b <i>c</i></noscript> d"), ElementsAre("a", "b <i>c</i>", "d"));
  EXPECT_THAT(Read("a <svg><title>b</title><text>c</text><path/></svg> d"),
              ElementsAre("a [<svg><title>b</title><text>c</text><path/></svg>]d"));
  EXPECT_THAT(Read("<math><mi>x</mi><mo>=</mo><mn>2</mn></math> holds"),
              ElementsAre("[<math><mi>x</mi><mo>=</mo><mn>2</mn></math>]=x=2; holds"));
  EXPECT_THAT(Read("<!doctype html><title>a &amp; <b></title><p>c<script>d"),
              ElementsAre("a & <b>", "c"));
}

TEST(HtmlReader, CdataIsTextInForeignContentAlone) {
  EXPECT_THAT(Read("a<![CDATA[b>c]]>d"), ElementsAre("a[<![CDATA[b>]c]]>d"));
  EXPECT_THAT(Read("a<svg><![CDATA[</svg>]]></svg>d"),
              ElementsAre("a[<svg><![CDATA[</svg>]]></svg>]d"));
  EXPECT_THAT(Read("a<svg><foreignObject><p><![CDATA[</svg>b"), ElementsAre("a"));
}

TEST(HtmlReader, AnHtmlElementEndsForeignContent) {
  EXPECT_THAT(Read("<svg><style><p>one</p>"), ElementsAre("one"));
  EXPECT_THAT(Read("<svg><g><p>one</p>two"), ElementsAre("one", "two"));
}

TEST(HtmlReader, AnElementMaySayThatItIsNotTranslated) {
  EXPECT_THAT(Read("a <b translate=no>b</b> <i class='x notranslate'>c</i> <u class=y>d</u>"),
              ElementsAre("a [<b translate=no>b</b>]=b; [<i class='x notranslate'>c</i>]=c; "
                          "<u class=y>d</u>"));
  EXPECT_THAT(Read("<div translate=NO><p title=t>a</p></div><p>b"), ElementsAre("b"));
  EXPECT_THAT(Read("<p translate=no>a<p>b"), ElementsAre("[a]=a;", "b"));
  EXPECT_THAT(Read("<p translate=no>a<br>b</p>c"), ElementsAre("c"));
  EXPECT_THAT(Read("a <b translate=no>b<br>c</b> d"),
              ElementsAre("a [<b translate=no>b<br>c</b>]=b c; d"));
  EXPECT_THAT(Read("a <code translate=yes>b</code>"),
              ElementsAre("a <code translate=yes>b</code>"));
}

TEST(HtmlReader, AnElementInsideOfItMaySayThatItIs) {
  EXPECT_THAT(Read("<div translate=no>a <p translate=yes>b <i>c</i></p>d</div>"),
              ElementsAre("[a]=a;", "b <i>c</i>", "[d]=d;"));
  EXPECT_THAT(Read("x <span translate=no> a <b translate>b</b></span>"),
              ElementsAre("x <span translate=no>[a]=a; <b translate>b</b></span>"));
  EXPECT_THAT(Read("<x><b translate=yes>b</b></x>", {.ignore_tags = {"x"}}),
              ElementsAre("[<x><b translate=yes>b</b></x>]=b;"));
}

TEST(HtmlReader, AttributesThatAreTextAreSegments) {
  const MarkedText text = ReadHtml(
      "<p title='one &amp; two'>A <img alt=three src=x> <input placeholder=\"four\nfive\" "
      "aria-label=six alt=''></p>",
      {});
  EXPECT_THAT(Show(text), ElementsAre("one & two",
                                      "A[<img alt=three src=x>][<input "
                                      "placeholder=\"four\nfive\" aria-label=six "
                                      "alt=''>]",
                                      "three", "four five", "six"));
  EXPECT_EQ(text.segments[0].writing, Writing::kSingleQuoted);
  EXPECT_EQ(text.segments[2].writing, Writing::kUnquoted);
  EXPECT_EQ(text.segments[3].writing, Writing::kDoubleQuoted);
}

TEST(HtmlReader, ValuesAreTextInButtonsAndDescriptions) {
  EXPECT_THAT(Read("<input type=Submit value=a><input value=b><input type=text value=c>"
                   "<button value=d>e</button><option label=f value=g>h</option><p label=i>"),
              ElementsAre("a", "e", "f", "h"));
  EXPECT_THAT(Read("<input type=reset value=a><input type=BUTTON value=b><track label=c>"
                   "<optgroup label=d></optgroup>"),
              ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(Read("<x title=a><i translate=yes title=b>c</i></x>", {.ignore_tags = {"x"}}),
              ElementsAre("[<x title=a><i translate=yes title=b>c</i></x>]=c;"));
  EXPECT_THAT(Read("<x title=a><i translate=yes title=b>c</i>", {.ignore_tags = {"x"}}),
              ElementsAre("[<i translate=yes title=b>c</i>]=c;"));
  EXPECT_THAT(Read("<meta name=Description content='a'><meta property='og:title' content=b>"
                   "<meta name=viewport content=c><link title=d><a alt=e ALT=f>"),
              ElementsAre("a", "b", "e"));
  EXPECT_THAT(
      Read("<textarea placeholder=a>b</textarea><code title=c>d</code>"),
      ElementsAre("[<textarea placeholder=a>b</textarea>][<code title=c>d</code>]=d;", "a", "c"));
}

TEST(HtmlReader, TagsWithoutAPartnerStayWhereTheyAre) {
  EXPECT_THAT(Read("<b>a<i>b</b>c</i>d"), ElementsAre("<b>a[<i>]b</b>c[</i>]d"));
  EXPECT_THAT(Read("a</b>b<i>c<u>d</i>"), ElementsAre("a[</b>]b<i>c[<u>]d</i>"));
  EXPECT_THAT(Read("<p>a <b>b<p>c</b> d"), ElementsAre("a [<b>]b", "c[</b>] d"));
  EXPECT_THAT(Read("<i>a<div>b</i>c</div>d"), ElementsAre("[<i>]a", "b[</i>]c", "d"));
  EXPECT_THAT(Read("a<b c='"), ElementsAre("a"));
}

TEST(HtmlReader, WhatWouldSwallowOtherTextStaysInPlace) {
  EXPECT_THAT(Read("a <b c='>"), ElementsAre("a"));
  EXPECT_THAT(Read("a <!-- b"), ElementsAre("a"));
  EXPECT_THAT(Read("a <textarea>b"), ElementsAre("a"));
  EXPECT_THAT(Read("a <svg>b"), ElementsAre("a"));
  EXPECT_THAT(Read("<p translate=no>a &l<b translate>b</b> < <b translate>c"),
              ElementsAre("<b translate>b</b>", "[<b translate>]c"));
}

TEST(HtmlReader, VeryDeepTagsStayWhereTheyAre) {
  std::string html;
  for (int i = 0; i < 300; ++i) html += "<b>";
  html += "a";
  for (int i = 0; i < 300; ++i) html += "</b>";
  const MarkedText text = ReadHtml(html, {});
  ASSERT_EQ(text.marks.size(), 256u + 2 * 44);
  EXPECT_EQ(text.marks[255].kind, MarkKind::kPaired);
  EXPECT_EQ(text.marks[256].kind, MarkKind::kEmpty);
}

TEST(HtmlReader, TheOutermostBlocksMayGetADirection) {
  const std::string html = "<p>a<div class=x><p>b</div><b>c</b><p dir=ltr>d<pre>e</pre><hr>";
  std::string marked;
  size_t done = 0;
  for (const size_t place : ReadHtml(html, {}).direction_places) {
    marked += html.substr(done, place - done) + "*";
    done = place;
  }
  EXPECT_EQ(marked + html.substr(done),
            "<p*>a<div* class=x><p>b</div><b>c</b><p dir=ltr>d<pre>e</pre><hr>");
}

TEST(HtmlReader, AByteOrderMarkIsNotText) {
  EXPECT_THAT(Read("\xEF\xBB\xBFone"), ElementsAre("one"));
}

}  // namespace
}  // namespace dragoman::html_reader_test
