// chrF, the F-score of character n-grams (Popovic 2015): how similar two translations are, from 0
// to 1.  Computed with sacreBLEU's defaults: n-grams of 1 to 6 characters, without white space;
// recall weighs twice as much as precision (beta 2); averaged over the orders that both texts have.

#ifndef DRAGOMAN_ENGINE_TEXT_CHRF_H_
#define DRAGOMAN_ENGINE_TEXT_CHRF_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

// The n-grams of one text, counted once and compared with many texts.
class CharacterNgrams {
 public:
  static constexpr int kOrders = 6;

  // REQUIRES: text is valid UTF-8.
  explicit CharacterNgrams(std::string_view text);

 private:
  friend double ChrF(const CharacterNgrams& hypothesis, const CharacterNgrams& reference);

  // For each order, the sorted hashes of all n-grams.
  std::array<std::vector<uint64_t>, kOrders> hashes_;
};

// 0 if nothing is shared; 1 for two empty texts.
double ChrF(const CharacterNgrams& hypothesis, const CharacterNgrams& reference);

// Minimum Bayes risk decoding (Kumar and Byrne 2004): the indices of the texts, ordered by their
// mean similarity to all of them, most similar first.  Ties keep their order.
std::vector<int> OrderByConsensus(const std::vector<std::string>& texts);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_CHRF_H_
