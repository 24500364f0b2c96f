// A part of a text.

#ifndef DRAGOMAN_ENGINE_TEXT_TEXT_SPAN_H_
#define DRAGOMAN_ENGINE_TEXT_TEXT_SPAN_H_

#include <cstddef>

namespace dragoman {

// Bytes [begin, end) of the text.
struct TextSpan {
  size_t begin = 0;
  size_t end = 0;

  size_t size() const { return end - begin; }
  friend bool operator==(const TextSpan&, const TextSpan&) = default;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_TEXT_SPAN_H_
