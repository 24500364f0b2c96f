// The words of a sentence and of its translation, and how much they have to do with each other.
//
//             The   big   cat   .
//   Der       0.9   0.1
//   grosse          1.0
//   Kater           0.1   0.9
//   .                           1.0       punctuation goes with punctuation alone
//
// A row is a target word's attention, sharpened and shared out among the source words.

#ifndef DRAGOMAN_ENGINE_TEXT_WORD_LINKS_H_
#define DRAGOMAN_ENGINE_TEXT_WORD_LINKS_H_

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "engine/text/placement.h"
#include "engine/text/text_span.h"

namespace dragoman {

class WordLinks {
 public:
  struct Word {
    TextSpan span;
    std::string_view text;     // as the model reads or writes it
    char32_t punctuation = 0;  // its kind; 0 for anything else
    bool opaque = false;       // what an opaque mark covers is one word
  };

  // The sentence and the marks must outlive it.
  WordLinks(const AlignedSentence& sentence, absl::Span<const SentenceMark> marks);

  const std::vector<Word>& source() const { return source_; }
  const std::vector<Word>& target() const { return target_; }

  // The part of target word `t` that comes from source word `s`; a row adds up to 1, or to 0 if the
  // word comes from nothing.
  float At(size_t t, size_t s) const { return links_[t * source_.size() + s]; }
  bool IsStray(size_t t) const {
    return std::all_of(Row(t), Row(t) + source_.size(), [](float share) { return share == 0.0f; });
  }

 private:
  float* Row(size_t t) { return links_.data() + t * source_.size(); }
  const float* Row(size_t t) const { return links_.data() + t * source_.size(); }
  void AddAttention(const AlignedSentence& sentence);
  void AddByPosition();
  void LinkPunctuation();
  void Sharpen();
  void LinkCopies();

  std::vector<Word> source_, target_;
  std::vector<float> links_;  // [target, source]
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_WORD_LINKS_H_
