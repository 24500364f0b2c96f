// A head of a Transformer's attention: of the encoder's tokens to each other, or of the decoder's
// to the source ("Attention Is All You Need", section 3.2.3).

#ifndef DRAGOMAN_ENGINE_MODEL_ATTENTION_HEAD_H_
#define DRAGOMAN_ENGINE_MODEL_ATTENTION_HEAD_H_

namespace dragoman {

enum class AttentionKind {
  kEncoder,  // of source tokens to source tokens
  kCross,    // of target tokens to source tokens
};

struct AttentionHead {
  AttentionKind kind = AttentionKind::kCross;
  int layer = 0;
  int head = 0;

  bool operator==(const AttentionHead& other) const = default;
};

// How many there are of a kind.
struct HeadCounts {
  int layers = 0;
  int heads = 0;  // of each layer
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_ATTENTION_HEAD_H_
