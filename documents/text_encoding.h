// Files that are not UTF-8: UTF-16, with a byte order mark or not, and what a file says of itself:
//
//   <?xml version="1.0" encoding="ISO-8859-2"?>         XML
//   <meta charset="shift_jis">                          HTML
//   "Content-Type: text/plain; charset=KOI8-R\n"        PO
//
// or what its sender says of it.  Readers get UTF-8, of which the declaration says so; the
// translation is written as the file came.

#ifndef DRAGOMAN_DOCUMENTS_TEXT_ENCODING_H_
#define DRAGOMAN_DOCUMENTS_TEXT_ENCODING_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace dragoman {

struct TextEncoding {
  std::string name;      // as iconv has it; "": UTF-8
  std::string declared;  // as the file has it; "": it declares none
  std::string mark;      // the byte order mark that it begins with
};

// Makes UTF-8 of a file of that format, without a byte order mark.  A byte order mark says more
// than `named`, which is what the sender says, if not empty, and that says more than the file.
// INVALID_ARGUMENT, with the line, if it is not of its encoding, or would not come back byte for
// byte.
absl::StatusOr<TextEncoding> DecodeText(std::string_view format, const std::string& named,
                                        std::string* bytes);

// The bytes of a file from its UTF-8.  A character that the encoding does not have becomes a
// reference in XML and HTML; in other formats, the file then stays UTF-8, and says so.
std::string EncodeText(std::string_view format, const TextEncoding& encoding, std::string text);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_TEXT_ENCODING_H_
