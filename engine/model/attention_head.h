// A head of a Transformer's attention ("Attention Is All You Need", section 3.2.3): of the
// encoder's tokens to each other, of the decoder's to the source, or of the decoder's to the
// earlier ones.

#ifndef DRAGOMAN_ENGINE_MODEL_ATTENTION_HEAD_H_
#define DRAGOMAN_ENGINE_MODEL_ATTENTION_HEAD_H_

#include <cstddef>

#include "absl/types/span.h"

namespace dragoman {

enum class AttentionKind {
  kEncoder,  // of source tokens to source tokens
  kCross,    // of target tokens to source tokens
  kDecoder,  // of the decoder's inputs to those up to themselves
};

struct AttentionHead {
  AttentionKind kind = AttentionKind::kCross;
  int layer = 0;
  int head = 0;

  bool operator==(const AttentionHead& other) const = default;
};

// Heads of a kind whose attention is wanted for a row, and where it goes: for each head, `stride`
// numbers, of which as many are written as there are tokens to look at.
struct HeadRequest {
  absl::Span<const AttentionHead> heads = {};
  float* to = nullptr;  // null: none are wanted
  size_t stride = 0;
};

// How many there are of a kind.
struct HeadCounts {
  int layers = 0;
  int heads = 0;  // of each layer
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_ATTENTION_HEAD_H_
