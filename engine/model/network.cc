#include "engine/model/network.h"

#include "engine/base/status.h"

namespace dragoman {

void TokenBatch::Add(absl::Span<const int32_t> sentence) {
  DRAGOMAN_CHECK(!sentence.empty());
  tokens.insert(tokens.end(), sentence.begin(), sentence.end());
  starts.push_back(static_cast<int>(tokens.size()));
}

void TokenBatch::Clear() {
  tokens.clear();
  starts.assign(1, 0);
}

}  // namespace dragoman
