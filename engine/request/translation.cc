#include "engine/request/translation.h"

#include <algorithm>

namespace dragoman {

void TranslateTimes::AddLater(const TranslateTimes& later) {
  tokenize += later.tokenize;
  queue += later.queue;
  encode += later.encode;
  decode += later.decode;
  detokenize += later.detokenize;
  steps += later.steps;
  kept += later.kept;
}

void TranslateTimes::AddBeside(const TranslateTimes& other) {
  tokenize += other.tokenize;
  queue = std::max(queue, other.queue);
  encode = std::max(encode, other.encode);
  decode = std::max(decode, other.decode);
  detokenize += other.detokenize;
  steps += other.steps;
  kept += other.kept;
}

void AddError(const absl::Status& part, absl::Status* whole) {
  if (absl::IsCancelled(*whole) && !part.ok()) *whole = part;
  whole->Update(part);
}

}  // namespace dragoman
