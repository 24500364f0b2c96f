// Reads XML, a document or a fragment of one, as a text with markup (markup.h).
//
// Elements whose names are in splitting_tags end a sentence, those in non_splitting_tags do not,
// and the content of those in ignore_tags is not translated.  With outline_detection, the other
// elements are judged by where they stand: those next to text, in the same element, are part of its
// sentence, and all others are boundaries.
//
//   <doc><p>One <b>big</b> cat.</p><p>Two.</p></doc>      <b> is a mark; <doc> and <p> are not
//
// Without it they are all marks.  ITS and XML attributes are respected: translate="no" (and "yes"
// inside it), its:translate, xml:space="preserve".  CDATA sections, comments, processing
// instructions and the document type are copied; white space in text counts as it does in text
// without markup.  Entities other than XML's own five are not expanded.

#ifndef DRAGOMAN_ENGINE_TEXT_XML_READER_H_
#define DRAGOMAN_ENGINE_TEXT_XML_READER_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/text/markup.h"

namespace dragoman {

// INVALID_ARGUMENT, with line and column, if `raw` is not well-formed.  Any number of elements may
// stand side by side, and text next to them.  REQUIRES: raw is valid UTF-8.
absl::StatusOr<MarkedText> ReadXml(std::string raw, const MarkupOptions& options);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_XML_READER_H_
