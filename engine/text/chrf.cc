#include "engine/text/chrf.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace dragoman {
namespace {

// FNV-1a.
uint64_t Hash(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  return hash;
}

bool IsContinuation(char byte) { return (byte & 0xC0) == 0x80; }

size_t CountShared(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  size_t shared = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      ++shared, ++i, ++j;
    } else if (a[i] < b[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return shared;
}

}  // namespace

CharacterNgrams::CharacterNgrams(std::string_view text) {
  std::string dense;
  for (const char byte : text) {
    if (byte != ' ' && byte != '\t' && byte != '\n' && byte != '\r') dense += byte;
  }
  std::vector<size_t> starts;  // where each character starts, and the end
  for (size_t i = 0; i < dense.size(); ++i) {
    if (!IsContinuation(dense[i])) starts.push_back(i);
  }
  const size_t characters = starts.size();
  starts.push_back(dense.size());
  for (size_t n = 1; n <= kOrders; ++n) {
    std::vector<uint64_t>& hashes = hashes_[n - 1];
    for (size_t c = 0; c + n <= characters; ++c) {
      hashes.push_back(Hash(std::string_view(dense).substr(starts[c], starts[c + n] - starts[c])));
    }
    std::sort(hashes.begin(), hashes.end());
  }
}

double ChrF(const CharacterNgrams& hypothesis, const CharacterNgrams& reference) {
  constexpr double kBeta2 = 4.0;
  double precision = 0.0, recall = 0.0;
  int orders = 0;
  for (int n = 0; n < CharacterNgrams::kOrders; ++n) {
    const std::vector<uint64_t>& have = hypothesis.hashes_[n];
    const std::vector<uint64_t>& want = reference.hashes_[n];
    if (n == 0 && have.empty() && want.empty()) return 1.0;
    if (have.empty() || want.empty()) break;
    const double shared = static_cast<double>(CountShared(have, want));
    precision += shared / static_cast<double>(have.size());
    recall += shared / static_cast<double>(want.size());
    ++orders;
  }
  if (precision + recall == 0.0) return 0.0;
  return (1.0 + kBeta2) * precision * recall / (kBeta2 * precision + recall) / orders;
}

std::vector<int> OrderByConsensus(const std::vector<std::string>& texts) {
  std::vector<CharacterNgrams> ngrams;
  ngrams.reserve(texts.size());
  for (const std::string& text : texts) ngrams.emplace_back(text);
  std::vector<double> alike(texts.size(), 0.0);
  for (size_t i = 0; i < texts.size(); ++i) {
    for (size_t j = 0; j < texts.size(); ++j) {
      if (i != j) alike[i] += ChrF(ngrams[i], ngrams[j]);
    }
  }
  std::vector<int> order(texts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return alike[a] > alike[b]; });
  return order;
}

}  // namespace dragoman
