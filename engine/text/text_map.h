// Which bytes of one text stand for which bytes of another.
//
//   from  A cat &     dog       runs  "A cat " 6 -> 6, "&" 1 -> 5, " dog" 4 -> 4
//   to    A cat &amp; dog
//
// A run of equal length on both sides corresponds byte by byte, any other as a whole.

#ifndef DRAGOMAN_ENGINE_TEXT_TEXT_MAP_H_
#define DRAGOMAN_ENGINE_TEXT_TEXT_MAP_H_

#include <cstddef>
#include <vector>

#include "engine/text/text_span.h"

namespace dragoman {

class TextMap {
 public:
  // The next bytes of `from`.  REQUIRES: from begins where the last run ends, or later.
  void Add(TextSpan from, TextSpan to);
  // The runs of another map, with `offset` added to their bytes of `from`.
  void Add(const TextMap& runs, size_t offset);

  // Keeps the bytes of `from` before `end`.
  void Truncate(size_t end);

  // From the first byte that stands for a part of `span` to the last one.  If nothing does, an
  // empty span: where it would be.
  TextSpan Map(TextSpan span) const;

  bool empty() const { return runs_.empty(); }

 private:
  struct Run {
    TextSpan from, to;
    bool equal() const { return from.size() == to.size(); }
  };
  std::vector<Run> runs_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_TEXT_MAP_H_
