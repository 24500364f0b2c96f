// TMX (version 1.4b): a translation memory as XML, in the form that translators' tools exchange.
//
//   <tu><prop type="prev">It was built in 1900.</prop>
//       <tuv xml:lang="en"><seg>The house is <bpt i="1">&lt;b></bpt>old<ept
//       i="1">&lt;/b></ept>.</seg></tuv> <tuv xml:lang="de"><seg>Das Haus ist alt.</seg></tuv></tu>
//
//   The house is old.    Das Haus ist alt.
//
// Codes of the file that a segment came from (<bpt>, <ph> ...) are left out.  The sentences around
// a segment are properties of the types prev and next, or x-context-pre and x-context-post.

#ifndef DRAGOMAN_DOCUMENTS_TMX_H_
#define DRAGOMAN_DOCUMENTS_TMX_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace dragoman {

struct TmxSegment {
  std::string source, target, previous, next;
};

struct TmxMemory {
  std::string source_language, target_language;
  std::vector<TmxSegment> segments;
};

// The units that have both languages, of which a region may be left out: "en" is also en-US.  ""
// means the language that the file says is its source, and the only other one.  INVALID_ARGUMENT if
// it is no XML in UTF-8, or it does not say which languages are meant.
absl::StatusOr<TmxMemory> ReadTmx(std::string_view text, std::string source_language,
                                  std::string target_language);

std::string WriteTmx(const TmxMemory& memory);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_TMX_H_
