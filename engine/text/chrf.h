// chrF, the F-score of character n-grams (Popovic 2015): how alike two translations are, from 0 to
// 1.  As sacreBLEU computes it by default: n-grams of 1 to 6 characters, white space left out,
// recall weighing twice as much as precision (beta 2), each the mean over the orders that both
// texts have.

#ifndef DRAGOMAN_ENGINE_TEXT_CHRF_H_
#define DRAGOMAN_ENGINE_TEXT_CHRF_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

// The n-grams of one text, counted once to be compared with many.
class CharacterNgrams {
 public:
  static constexpr int kOrders = 6;

  // REQUIRES: text is valid UTF-8.
  explicit CharacterNgrams(std::string_view text);

 private:
  friend double ChrF(const CharacterNgrams& hypothesis, const CharacterNgrams& reference);

  // Of each order the hashes of all n-grams, sorted.
  std::array<std::vector<uint64_t>, kOrders> hashes_;
};

// 0 if nothing is shared; of two empty texts 1.
double ChrF(const CharacterNgrams& hypothesis, const CharacterNgrams& reference);

// Minimum Bayes risk decoding (Kumar and Byrne 2004): the texts in the order of how much they are
// like all of them on average, as their numbers; of equal ones the first stays first.
std::vector<int> OrderByConsensus(const std::vector<std::string>& texts);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_CHRF_H_
