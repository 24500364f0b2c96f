// Random languages of few tokens for tests of searches: the distribution of the next token is a
// pure function of the prefix.

#ifndef DRAGOMAN_TESTS_SEARCH_RANDOM_LANGUAGE_H_
#define DRAGOMAN_TESTS_SEARCH_RANDOM_LANGUAGE_H_

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace dragoman {

// The logits depend on the seed and the whole prefix.
class RandomLanguage {
 public:
  RandomLanguage(uint64_t seed, int vocabulary) : seed_(seed), vocabulary_(vocabulary) {}
  virtual ~RandomLanguage() = default;

  virtual std::vector<float> Logits(const std::vector<int32_t>& tokens) const {
    uint64_t state = seed_;
    for (const int32_t token : tokens) state = Mix(state + 1 + static_cast<uint64_t>(token));
    std::vector<float> logits(vocabulary_);
    for (float& logit : logits) {
      state = Mix(state);
      // One of 64 values, so that some hypotheses tie.
      logit = static_cast<float>(state >> 58) / 16.0f;
    }
    return logits;
  }

  // The language after a prefix.
  RandomLanguage After(const std::vector<int32_t>& tokens) const {
    uint64_t state = seed_;
    for (const int32_t token : tokens) state = Mix(state + 1 + static_cast<uint64_t>(token));
    return RandomLanguage(state, vocabulary_);
  }

  double Probability(const std::vector<int32_t>& tokens) const {
    double probability = 1.0;
    std::vector<int32_t> before;
    for (const int32_t token : tokens) {
      double sum = 0.0;
      const std::vector<float> logits = Logits(before);
      for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
      probability *= std::exp(static_cast<double>(logits[token])) / sum;
      before.push_back(token);
    }
    return probability;
  }

 private:
  static uint64_t Mix(uint64_t x) {  // SplitMix64
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  uint64_t seed_;
  int vocabulary_;
};

// A language with the same distribution after every prefix.
class ConstantLanguage : public RandomLanguage {
 public:
  explicit ConstantLanguage(std::vector<float> logits)
      : RandomLanguage(0, static_cast<int>(logits.size())), logits_(std::move(logits)) {}
  std::vector<float> Logits(const std::vector<int32_t>&) const override { return logits_; }

 private:
  std::vector<float> logits_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_SEARCH_RANDOM_LANGUAGE_H_
