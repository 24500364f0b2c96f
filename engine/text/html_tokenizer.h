// The tokenizer of HTML (WHATWG, section 13.2.5), which says where each token lies in the bytes
// that came, so that they can be copied instead of written again.
//
//   <p id=x>A &amp; B<!--c-->    start tag "p" {0, 8}, text {8, 17}, comment {17, 25}
//
// Every byte belongs to exactly one token, in order, and every input has tokens: HTML knows no
// syntax error.  The tags of template languages are tokens, too, and part of a quoted value that
// has them; this alone is not the standard's.  Names and values are spans of the input as well;
// what they mean (lower case, references decoded) is said by HtmlName and DecodeHtml.
//
// How a text is read depends on the element it is in, which only the caller knows: after
// <textarea> it calls Enter().

#ifndef DRAGOMAN_ENGINE_TEXT_HTML_TOKENIZER_H_
#define DRAGOMAN_ENGINE_TEXT_HTML_TOKENIZER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/html_references.h"
#include "engine/text/text_span.h"

namespace dragoman {

// How the content of an element is read.
enum class HtmlContent {
  kData,       // tags and references
  kRcdata,     // references; ends with the element's end tag, like the next two
  kRawText,    // text alone
  kScript,     // the same, but <!-- <script> </script> --> does not end it
  kPlaintext,  // text to the end of the input
};

enum class HtmlTokenKind {
  kText,
  kStartTag,
  kEndTag,
  kComment,  // also <?x>, <!x>, </1>
  kDoctype,
  kCdata,
  kTemplate,  // {% if %}, <?php ?>: not HTML, but what becomes of it (template_tags.h)
  kNothing,   // browsers drop it: "</>", and a tag that the input cuts off
};

struct HtmlAttribute {
  TextSpan name;
  TextSpan value;  // without its quotes; empty if there is none
  char quote = 0;  // " or ' or, for an unquoted value or none, 0
};

struct HtmlToken {
  HtmlTokenKind kind = HtmlTokenKind::kNothing;
  TextSpan raw;
  HtmlContent content = HtmlContent::kData;  // of text
  TextSpan text;                             // of text, comment and CDATA: what is in it
  TextSpan name;                             // of tags and doctype
  // As they stand there; of several with one name, the first counts.
  std::vector<HtmlAttribute> attributes;
  bool self_closing = false;
  std::optional<TextSpan> public_id, system_id;  // of a doctype
  bool force_quirks = false;
};

// Takes one text apart.  Not thread-safe.
class HtmlTokenizer {
 public:
  // `html` is not copied.  Any bytes will do.
  explicit HtmlTokenizer(std::string_view html) : html_(html) {}

  // Reads the next token; false at the end of the input.
  bool Next(HtmlToken* token);

  // What follows is the content of `element`, whose name is in lower case.
  void Enter(HtmlContent content, std::string_view element);
  // Whether what follows lies in SVG or MathML, where <![CDATA[ is no comment.
  void AllowCdata(bool allow) { cdata_ = allow; }

 private:
  char At(size_t at) const { return at < html_.size() ? html_[at] : '\0'; }
  size_t TemplateTagAt(size_t at) const;
  size_t Find(std::string_view what, size_t at) const;
  size_t SkipSpace(size_t at) const;
  bool IsMarkup(size_t at) const;
  size_t EndOfData(size_t at) const;
  size_t EndOfText(size_t at, size_t end) const;
  size_t EndOfQuoted(char quote, size_t at) const;
  bool IsOwnEndTag(size_t at) const;
  size_t EndOfContent(size_t at) const;
  size_t EndOfScript(size_t at) const;

  size_t ReadMarkup(HtmlToken* token) const;
  size_t ReadTag(size_t at, HtmlToken* token) const;
  size_t ReadAttribute(size_t at, HtmlToken* token) const;
  size_t ReadComment(size_t at, HtmlToken* token) const;
  size_t ReadBogusComment(size_t at, HtmlToken* token) const;
  size_t ReadCdata(size_t at, HtmlToken* token) const;
  size_t ReadDoctype(size_t at, HtmlToken* token) const;
  size_t ReadDoctypeIds(size_t at, HtmlToken* token) const;
  bool ReadDoctypeId(size_t* at, std::optional<TextSpan>* id) const;

  const std::string_view html_;
  size_t at_ = 0;
  HtmlContent content_ = HtmlContent::kData;
  std::string element_;  // whose end tag ends the content
  bool cdata_ = false;
};

// The name of a tag, an attribute or a doctype, from how it is written.
std::string HtmlName(std::string_view written);

// What text says, from how it is written: references decoded, line breaks as '\n'.
std::string DecodeHtml(std::string_view written, HtmlContent content, HtmlPlace place);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_HTML_TOKENIZER_H_
