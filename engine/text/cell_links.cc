#include "engine/text/cell_links.h"

#include <algorithm>
#include <string_view>

#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr float kSurelyLinked = 0.3f;       // of what a word comes from
constexpr float kPunctuationWeight = 0.5f;  // a word counts 1
constexpr float kStrayWeight = 0.1f;        // of punctuation that the source does not have

size_t FirstCharacter(std::string_view word) {
  size_t end = 0;
  NextCodePoint(word, &end);
  return end;
}

// Where the target word is to be divided so that its beginning goes with the first `cut` bytes of
// the source word; 0: nowhere.
size_t CutLike(std::string_view source, size_t cut, std::string_view target) {
  const std::string_view before = source.substr(0, cut), after = source.substr(cut);
  if (target.starts_with(before)) return cut;
  if (target.ends_with(after)) return target.size() - after.size();
  if (cut == FirstCharacter(source)) return FirstCharacter(target);  // an initial
  return 0;
}

}  // namespace

CellLinks::CellLinks(const AlignedSentence& sentence, absl::Span<const SentenceMark> marks) {
  const WordLinks links(sentence, marks);
  DivideSource(links.source(), marks);
  for (size_t t = 0; t < links.target().size(); ++t) AddTarget(links, t);
}

// Divides words where marks begin or end.
void CellLinks::DivideSource(absl::Span<const WordLinks::Word> words,
                             absl::Span<const SentenceMark> marks) {
  std::vector<size_t> borders;
  for (const SentenceMark& mark : marks) {
    borders.insert(borders.end(), {mark.text.begin, mark.text.end});
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  for (const WordLinks::Word& word : words) {
    const size_t first = source_.size();
    const bool punctuation = word.punctuation != 0;
    size_t begin = word.span.begin;
    auto border = std::upper_bound(borders.begin(), borders.end(), begin);
    for (; border != borders.end() && *border < word.span.end && !word.opaque; ++border) {
      source_.push_back({{begin, *border}, punctuation});
      begin = *border;
    }
    source_.push_back({{begin, word.span.end}, punctuation});
    cells_of_words_.push_back({first, source_.size()});
  }
}

// Adds the cells of a word of the target: several if it agrees with the parts of its source word.
void CellLinks::AddTarget(const WordLinks& links, size_t t) {
  const WordLinks::Word& word = links.target()[t];
  const std::vector<WordLinks::Word>& source = links.source();
  const bool punctuation = word.punctuation != 0;
  const float weight = !punctuation ? 1.0f : links.IsStray(t) ? kStrayWeight : kPunctuationWeight;
  size_t best = 0;
  for (size_t s = 1; s < source.size(); ++s) {
    if (links.At(t, s) > links.At(t, best)) best = s;
  }
  const bool linked = !source.empty() && links.At(t, best) >= kSurelyLinked;
  TextSpan cells = linked ? cells_of_words_[best] : TextSpan();  // that are left
  size_t begin = 0;
  const auto add = [&](size_t end, size_t last_cell) {
    const float part = static_cast<float>(end - begin) / static_cast<float>(word.span.size());
    target_.push_back(
        {{word.span.begin + begin, word.span.begin + end}, punctuation, weight * part});
    sums_.push_back(0.0f);
    for (size_t s = 0; s < source.size(); ++s) {
      const TextSpan all = cells_of_words_[s];
      AddShares(links.At(t, s), all, linked && s == best ? TextSpan{cells.begin, last_cell} : all);
    }
    begin = end;
    cells.begin = last_cell;
  };
  for (size_t c = cells.begin + 1; c < cells.end && begin < word.span.size(); ++c) {
    const size_t place = source_[c].span.begin - source[best].span.begin;
    const size_t cut = CutLike(source[best].text, place, word.text);
    if (cut > begin) add(cut, c);
  }
  if (begin < word.span.size()) add(word.span.size(), cells.end);
}

// Shares out what a target cell has of a source word, whose cells are `all`, among some of them.
void CellLinks::AddShares(float share, TextSpan all, TextSpan some) {
  size_t bytes = 0;
  for (size_t c = some.begin; c < some.end; ++c) bytes += source_[c].span.size();
  for (size_t c = all.begin; c < all.end; ++c) {
    const bool inside = c >= some.begin && c < some.end;
    const float part = static_cast<float>(source_[c].span.size()) / static_cast<float>(bytes);
    sums_.push_back(sums_.back() + (inside ? share * part : 0.0f));
  }
}

}  // namespace dragoman
