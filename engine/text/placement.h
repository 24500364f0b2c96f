// Where the marks of a sentence go in its translation.
//
//   source  A <b>big</b> cat.       attention  Ein: A   grosser: big   Kater: cat   .: .
//   target  Ein <b>grosser</b> Kater.
//
// A mark covers one stretch of the source, and gets one stretch of the target: the words that agree
// best with it, by how much of their attention lies inside and how little outside.  Marks stay
// nested as they were.  The words of siblings cannot overlap, so that the one with more evidence
// chooses first.  A paired mark that had words and gets none, because the translation has left them
// out, takes the nearest word that no sibling has.  Any other mark without words in the target
// stays next to the word that it was next to, or at its end of the mark around it.
//
// Pure.  The time is proportional to (words of the source + marks) x words of the target, whatever
// the marks are.

#ifndef DRAGOMAN_ENGINE_TEXT_PLACEMENT_H_
#define DRAGOMAN_ENGINE_TEXT_PLACEMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "engine/text/markup.h"
#include "engine/text/text_span.h"

namespace dragoman {

// A mark, as far as it lies in a sentence.
struct SentenceMark {
  MarkKind kind = MarkKind::kPaired;
  TextSpan text;           // bytes of the sentence
  bool begins = true;      // false: in an earlier sentence; then text.begin is 0
  bool ends = true;        // false: in a later one; then text.end is the sentence's
  int parent = -1;         // an earlier mark of the sentence
  std::string read;        // what the model reads of an opaque one
  bool stand_in = false;   // `read` is a number that stands for it
  bool absent = false;     // an opaque one that the model reads as if its neighbours touched
  bool bracketed = false;  // brackets touch it on both sides, and so they do in the translation
};

// Whether brackets that belong together touch these bytes of a text.
bool IsBracketed(std::string_view text, TextSpan span);

// The marks within mark number i - 1, in order, for each i; at 0 those without a parent.
std::vector<std::vector<size_t>> ChildrenOf(absl::Span<const SentenceMark> marks);

// A sentence and its translation.
struct AlignedSentence {
  std::string_view source, target;                     // valid UTF-8
  std::vector<TextSpan> source_tokens, target_tokens;  // in the order of the model
  // [target tokens, source tokens]; empty: unknown, so that words are aligned by their positions.
  absl::Span<const float> attention;
};

struct Placement {
  // For each mark, bytes of the target.  What an opaque mark gets is to be replaced by it.  Marks
  // that begin earlier begin at byte 0, those that end later end at the target's end.  Siblings do
  // not overlap; of those that are at the same place, the earlier one goes first.
  std::vector<TextSpan> marks;
  // What is to be left out, in order: what the model read of opaque marks that had to go elsewhere,
  // stand-ins that are said again, spaces where the source has none, and the brackets of marks that
  // are bracketed, but not there.
  std::vector<TextSpan> removed;
};

Placement PlaceMarks(const AlignedSentence& sentence, absl::Span<const SentenceMark> marks);

// Whether a translation is none: nothing but punctuation, or nothing but numbers where there were
// words, is left of it beside opaque marks, or nothing of the words in an element; or, if some
// marks have stand-ins, a number that the source does not have, which is something of one.
enum class Damage { kNone, kNoWords, kNumbers };
Damage DamageOf(const AlignedSentence& sentence, absl::Span<const SentenceMark> marks,
                const Placement& placement);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_PLACEMENT_H_
