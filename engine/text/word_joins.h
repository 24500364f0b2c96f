// Which tokens of a target vocabulary continue the word of the token before them.
//
//   ▁house  n       one word, "housen"
//   ▁house  ▁n      two words
//   ▁house  's      two: a mark follows a whole word
//   猫      が      two: the script puts no spaces between words

#ifndef DRAGOMAN_ENGINE_TEXT_WORD_JOINS_H_
#define DRAGOMAN_ENGINE_TEXT_WORD_JOINS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/text/tokenizer.h"

namespace dragoman {

// Two bits per token.  Immutable.
class WordJoins {
 public:
  explicit WordJoins(const Tokenizer& tokenizer);
  // For these pieces, by token; "" for a token that writes no text.  `reversed`: the model writes
  // the last token of a text first.
  explicit WordJoins(const std::vector<std::string>& pieces, bool reversed = false);

  // Whether `token` right after `before` belongs to the same word.  False for tokens outside of
  // the vocabulary.
  bool Joins(int32_t before, int32_t token) const;

 private:
  std::vector<bool> open_;     // by token: a word may continue after it
  std::vector<bool> goes_on_;  // by token: it begins within a word
  const bool reversed_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_WORD_JOINS_H_
