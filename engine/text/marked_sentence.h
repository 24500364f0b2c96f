// The sentences of a text with markup, and the marks within each of them.
//
// The raw bytes of a sentence are those from its first character to its last one, and the tags in
// between.  A tag at its edge belongs to it only if the other one of its pair lies within:
//
//   <i>The <b>cat</b></i> sleeps.       all of it
//   <p><b>The cat sleeps.</b></p>       The cat sleeps.
//   The <b>cat sleeps. The</b> dog...   The <b>cat sleeps.     a mark that ends later

#ifndef DRAGOMAN_ENGINE_TEXT_MARKED_SENTENCE_H_
#define DRAGOMAN_ENGINE_TEXT_MARKED_SENTENCE_H_

#include <bitset>
#include <string>
#include <vector>

#include "engine/text/markup.h"
#include "engine/text/placement.h"
#include "engine/text/text_span.h"

namespace dragoman {

struct MarkedSentence {
  TextSpan text;    // bytes of MarkedText::text
  TextSpan around;  // the same with the white space that its marks begin or end with
  TextSpan raw;     // bytes of MarkedText::raw that a translation replaces
  int segment = 0;
  std::vector<SentenceMark> marks;
  std::vector<int> numbers;  // of these marks, in MarkedText::marks
};

// The sentences of the segments, or the segments if they are not to be split.  A sentence never
// ends inside of an opaque mark.  Those bytes of the text that are `whole`, in order, are a
// sentence each.
std::vector<MarkedSentence> FindSentences(const MarkedText& text, bool split,
                                          const std::vector<TextSpan>& whole = {});

// Makes literals, and nothing else, a part of the sentence's text.
void ForgetLiterals(const MarkedText& text, MarkedSentence* sentence);

// A sentence in parts, whose text these are: spans of it, in order and not in the middle of an
// opaque mark.
std::vector<MarkedSentence> PartsOf(const MarkedText& text, const MarkedSentence& sentence,
                                    const std::vector<TextSpan>& parts);

// Whether there is anything that could be translated, a letter or a digit, apart from opaque marks;
// and whether there is a word (ContainsWord).
bool HasText(const MarkedText& text, const MarkedSentence& sentence);
bool HasWords(const MarkedText& text, const MarkedSentence& sentence);

// The marks of a sentence if the model reads nothing in the place of those that have a stand-in.
std::vector<SentenceMark> WithoutStandIns(std::vector<SentenceMark> marks);

// Numbers that models copy, and that neither the sentence nor another stand-in of it contains.
class StandIns {
 public:
  explicit StandIns(std::string_view sentence);
  std::string At(size_t number) const;

 private:
  std::bitset<10000> said_;  // each four digits in a row of the sentence
};

// What a model reads of a sentence, and which bytes of the sentence that is.
struct ModelInput {
  std::string text;
  TextMap to_sentence;
};
ModelInput InputOf(const MarkedText& text, const MarkedSentence& sentence);
// The same for these bytes of a sentence, and these marks of it.
ModelInput InputOf(std::string_view content, absl::Span<const SentenceMark> marks);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_MARKED_SENTENCE_H_
