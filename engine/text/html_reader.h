// Reads HTML, a document or a fragment of one, as a text with markup (markup.h).
//
//   <p>A <b>big</b> cat <img alt="asleep"> &mdash; in <code>main()</code>.</p>
//
// Blocks (<p>, <li>, <td>, <label>) and <br> end a sentence; what is part of a line (<b>, <a>,
// elements that browsers do not know) is a mark.  splitting_tags, non_splitting_tags and join_lines
// change that.  White space is read as browsers show it.
//
// Not translated: elements with translate="no" or class="notranslate" (but translate="yes" in them
// is), those in ignore_tags, and code, kbd, samp, var, pre and everything that is not text: script,
// style, textarea, svg, math.  Within a sentence they keep their place in it.  Translated
// besides text: alt, title, placeholder, aria-label, the labels of options, the values of buttons,
// and the description of a page.
//
// The tags of template languages ({% if %}, <?php ?>) end a sentence and are copied.
//
// Tags that are nested wrongly, or lack a partner, stay where they are among the words.

#ifndef DRAGOMAN_ENGINE_TEXT_HTML_READER_H_
#define DRAGOMAN_ENGINE_TEXT_HTML_READER_H_

#include <string>

#include "engine/text/markup.h"

namespace dragoman {

// Never fails.  REQUIRES: raw is valid UTF-8.
MarkedText ReadHtml(std::string raw, const MarkupOptions& options);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_HTML_READER_H_
