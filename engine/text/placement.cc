// For a mark, the inside of an interval of target cells is how much of them comes from the source
// cells in the mark.  The best interval has the highest
//
//   F = 2 x inside / (cells of the interval + inside of the whole target)
//
// the harmonic mean of how much of the interval belongs to the mark, and how much of the mark lies
// in the interval.  It is found by Dinkelbach's method ("On Nonlinear Fractional Programming",
// 1967): the interval with the largest sum of 2 x inside - F x cells, for the F of the interval
// before, until F no longer rises.

#include "engine/text/placement.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "engine/base/utf8.h"
#include "engine/text/cell_links.h"
#include "engine/text/gaps.h"
#include "engine/text/numbers.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

constexpr float kLeastShare = 0.2f;  // of a cell of the target that has something of a mark
constexpr float kMostlyInside = 0.5f;
constexpr int kSteps = 12;  // F converges in fewer

void Blank(TextSpan span, std::string* text) {
  text->replace(span.begin, span.size(), span.size(), ' ');
}

// Whether it is punctuation, "…" or "—", which the model reads and may say in another way.
bool IsSign(const SentenceMark& mark) {
  return mark.kind == MarkKind::kOpaque && !mark.stand_in && !mark.read.empty() &&
         !HasLetterOrDigit(mark.read);
}

// Cells [begin, end) of the target.
using Interval = TextSpan;

class Placer {
 public:
  Placer(const AlignedSentence& sentence, absl::Span<const SentenceMark> marks)
      : sentence_(sentence),
        marks_(marks),
        links_(sentence, marks),
        intervals_(marks.size()),
        spans_(marks.size()),
        children_(ChildrenOf(marks)),
        gaps_(&links_, marks) {}

  Placement Place() {
    for (size_t parent = 0; parent < children_.size(); ++parent) PlaceChildren(parent);
    std::vector<TextSpan> removed = StrayCopies();
    AddBrackets(&removed);
    AddSpaces(&removed);
    return {std::move(spans_), std::move(removed)};
  }

 private:
  // A mark that is being placed: what each target cell has of it.
  struct Candidate {
    size_t mark = 0;
    std::vector<float> inside;  // [target cells], weighted
    float total = 0.0f;
    Interval best;
    float found = 0.0f;  // the inside of `best`
  };

  TextSpan SaidOf(const SentenceMark& mark) const;
  Candidate CandidateOf(size_t mark) const;
  void Choose(Interval within, const std::vector<char>& taken, Candidate* candidate) const;
  Interval Largest(const Candidate& candidate, float f, Interval within,
                   const std::vector<char>& taken) const;
  void PlaceChildren(size_t parent);
  TextSpan SpanOf(size_t mark, Interval cells) const;
  int EndOf(size_t mark) const;
  bool IsUnread(size_t mark) const;
  bool Touch(size_t mark, size_t next) const {
    return marks_[mark].text.end == marks_[next].text.begin;
  }
  size_t Outside(size_t place, size_t mark, const std::vector<size_t>& siblings) const;
  std::string_view Said(size_t t) const {
    const TextSpan span = links_.target()[t].span;
    return sentence_.target.substr(span.begin, span.size());
  }
  bool HasWords(Interval cells) const;
  Interval NearestWord(size_t place, Interval within, const std::vector<char>& taken) const;
  size_t CopyOf(size_t mark) const;
  std::vector<TextSpan> StrayCopies() const;
  void AddBrackets(std::vector<TextSpan>* removed) const;
  void AddSpaces(std::vector<TextSpan>* removed) const;

  const AlignedSentence& sentence_;
  const absl::Span<const SentenceMark> marks_;
  const CellLinks links_;
  std::vector<Interval> intervals_;  // of the marks
  std::vector<TextSpan> spans_;      // of the marks
  const std::vector<std::vector<size_t>> children_;
  const Gaps gaps_;
};

// Where the translation says the stand-in of an opaque mark, if it does so.
TextSpan Placer::SaidOf(const SentenceMark& mark) const {
  if (!mark.stand_in) return {};
  const size_t begin = sentence_.target.find(mark.read);
  return begin == sentence_.target.npos ? TextSpan() : TextSpan{begin, begin + mark.read.size()};
}

Placer::Candidate Placer::CandidateOf(size_t mark) const {
  Candidate candidate = {.mark = mark};
  const TextSpan text = marks_[mark].text;
  if (const TextSpan said = SaidOf(marks_[mark]); said.size() > 0) {
    for (const Cell& cell : links_.target()) {
      const bool inside = cell.span.begin < said.end && said.begin < cell.span.end;
      candidate.inside.push_back(inside ? cell.weight : 0.0f);
      candidate.total += candidate.inside.back();
    }
    return candidate;
  }
  const std::vector<Cell>& source = links_.source();
  const auto first = std::partition_point(
      source.begin(), source.end(), [&](const Cell& cell) { return cell.span.end <= text.begin; });
  const auto end = std::partition_point(
      first, source.end(), [&](const Cell& cell) { return cell.span.begin < text.end; });
  for (size_t t = 0; t < links_.target().size(); ++t) {
    const float share = links_.Share(static_cast<int>(t), static_cast<int>(first - source.begin()),
                                     static_cast<int>(end - source.begin()));
    candidate.inside.push_back(share * links_.target()[t].weight);
    candidate.total += candidate.inside.back();
  }
  return candidate;
}

// The interval that maximizes the sum of 2 x inside - f x weight.
Interval Placer::Largest(const Candidate& candidate, float f, Interval within,
                         const std::vector<char>& taken) const {
  const SentenceMark& mark = marks_[candidate.mark];
  const auto gain = [&](size_t t) {
    return 2.0f * candidate.inside[t] - f * links_.target()[t].weight;
  };
  Interval best = {within.begin, within.begin};
  float most = 0.0f, sum = 0.0f;
  if (!mark.ends) {  // from the end backwards
    best = {within.end, within.end};
    for (size_t t = within.end; t-- > within.begin && !taken[t];) {
      sum += gain(t);
      if (sum > most) best = {t, within.end}, most = sum;
    }
    return best;
  }
  size_t begin = within.begin;
  const bool sign = IsSign(mark);
  for (size_t t = within.begin; t < within.end; ++t) {
    const float inside = candidate.inside[t];
    const bool foreign =
        mark.kind == MarkKind::kOpaque && (inside < kMostlyInside * links_.target()[t].weight ||
                                           (sign && !links_.target()[t].is_punctuation));
    if (taken[t] || foreign || (sum < 0.0f && mark.begins)) {
      if (!mark.begins) break;
      sum = 0.0f;
      begin = taken[t] || foreign ? t + 1 : t;
    }
    if (taken[t] || foreign) continue;
    sum += gain(t);
    if (sum > most) best = {begin, t + 1}, most = sum;
  }
  return best;
}

void Placer::Choose(Interval within, const std::vector<char>& taken, Candidate* candidate) const {
  float f = 0.0f;
  const size_t edge = marks_[candidate->mark].ends ? within.begin : within.end;
  candidate->best = {edge, edge};
  candidate->found = 0.0f;
  for (int step = 0; step < kSteps; ++step) {
    const Interval next = Largest(*candidate, f, within, taken);
    float inside = 0.0f, cells = 0.0f, most = 0.0f;
    for (size_t t = next.begin; t < next.end; ++t) {
      const float weight = links_.target()[t].weight;
      inside += candidate->inside[t];
      cells += weight;
      most = std::max(most, candidate->inside[t] / weight);
    }
    if (most < kLeastShare) return;
    const float next_f = 2.0f * inside / (cells + candidate->total);
    if (next_f <= f) return;
    f = next_f;
    candidate->best = next;
    candidate->found = inside;
  }
}

TextSpan Placer::SpanOf(size_t mark, Interval cells) const {
  const std::vector<Cell>& target = links_.target();
  TextSpan span;
  if (cells.size() > 0) span = {target[cells.begin].span.begin, target[cells.end - 1].span.end};
  if (!marks_[mark].begins) span.begin = 0;
  if (!marks_[mark].ends) {
    span.end = sentence_.target.size();
    if (cells.size() == 0) span.begin = span.end;
  }
  return span;
}

bool Placer::HasWords(Interval cells) const {
  for (size_t t = cells.begin; t < cells.end; ++t) {
    if (!links_.target()[t].is_punctuation) return true;
  }
  return false;
}

// The word nearest to a place that is not taken; none if all are.
Interval Placer::NearestWord(size_t place, Interval within, const std::vector<char>& taken) const {
  Interval nearest;
  size_t least = sentence_.target.size() + 1;
  for (size_t t = within.begin; t < within.end; ++t) {
    const Cell& cell = links_.target()[t];
    if (taken[t] || cell.is_punctuation) continue;
    const size_t distance = place < cell.span.begin ? cell.span.begin - place
                            : place > cell.span.end ? place - cell.span.end
                                                    : 0;
    if (distance < least) least = distance, nearest = {t, t + 1};
  }
  return nearest;
}

// Whether nothing of it is read: "<b>*</b>".
bool Placer::IsUnread(size_t mark) const {
  if (marks_[mark].kind == MarkKind::kOpaque) return marks_[mark].read.empty();
  const std::vector<size_t>& inside = children_[mark + 1];
  const TextSpan text = marks_[mark].text;
  return !inside.empty() && marks_[inside.front()].kind == MarkKind::kOpaque &&
         marks_[inside.front()].read.empty() &&
         !HasLetterOrDigit(sentence_.source.substr(text.begin, text.size()));
}

// Places the marks in mark number `parent` - 1, which has its place.
void Placer::PlaceChildren(size_t parent) {
  if (children_[parent].empty()) return;
  const Interval within =
      parent == 0 ? Interval{0, links_.target().size()} : intervals_[parent - 1];
  const TextSpan span = parent == 0 ? TextSpan{0, sentence_.target.size()} : spans_[parent - 1];
  std::vector<char> taken(links_.target().size(), 0);
  std::vector<Candidate> candidates;
  for (const size_t m : children_[parent]) {
    if (marks_[m].kind == MarkKind::kEmpty || marks_[m].text.size() == 0 || marks_[m].absent ||
        IsUnread(m)) {
      continue;
    }
    candidates.push_back(CandidateOf(m));
    Choose(within, taken, &candidates.back());
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Candidate& a, const Candidate& b) {
                     const auto rank = [&](const Candidate& c) {
                       const SentenceMark& mark = marks_[c.mark];
                       if (mark.kind == MarkKind::kOpaque) return 0;
                       return !mark.begins || !mark.ends ? 1 : 2;
                     };
                     if (rank(a) != rank(b)) return rank(a) < rank(b);
                     return a.found > b.found;
                   });
  std::vector<size_t> placed;  // with words
  for (Candidate& candidate : candidates) {
    Choose(within, taken, &candidate);
    const SentenceMark& mark = marks_[candidate.mark];
    const bool worded =
        mark.kind == MarkKind::kPaired && mark.begins && mark.ends &&
        HasLetterOrDigit(sentence_.source.substr(mark.text.begin, mark.text.size()));
    Interval best = candidate.best;
    if (worded && !HasWords(best)) {
      best = NearestWord(std::clamp(gaps_.PlaceOf(mark), span.begin, span.end), within, taken);
    }
    // "…" at the end takes the place of the full stop.
    const bool ends = IsSign(mark) && mark.text.end == sentence_.source.size() && within.size() > 0;
    if (best.size() == 0 && ends && !taken[within.end - 1] &&
        links_.target()[within.end - 1].is_punctuation) {
      best = {within.end - 1, within.end};
    }
    if (best.size() == 0) continue;
    intervals_[candidate.mark] = best;
    spans_[candidate.mark] = SpanOf(candidate.mark, best);
    std::fill(taken.begin() + static_cast<std::ptrdiff_t>(best.begin),
              taken.begin() + static_cast<std::ptrdiff_t>(best.end), 1);
    placed.push_back(candidate.mark);
  }
  std::sort(placed.begin(), placed.end(),
            [&](size_t a, size_t b) { return spans_[a].begin < spans_[b].begin; });
  const std::vector<size_t>& siblings = children_[parent];
  for (size_t i = 0; i < siblings.size(); ++i) {
    const size_t m = siblings[i];
    if (intervals_[m].size() > 0) continue;
    if (!marks_[m].begins || !marks_[m].ends) {
      spans_[m] = SpanOf(m, {});
      continue;
    }
    size_t place = std::clamp(gaps_.PlaceOf(marks_[m]), span.begin, span.end);
    if (const int end = EndOf(m); end != 0) place = end < 0 ? span.begin : span.end;
    if (i > 0 && Touch(siblings[i - 1], m)) {  // "%s™", "<b>Ada</b>&reg;"
      place = spans_[siblings[i - 1]].end;
    } else if (i + 1 < siblings.size() && Touch(m, siblings[i + 1]) &&
               intervals_[siblings[i + 1]].size() > 0) {  // "&copy;{year}"
      place = spans_[siblings[i + 1]].begin;
    }
    place = Outside(place, m, placed);
    spans_[m] = {place, place};
  }
}

// -1 or 1 if the mark stands at the beginning or the end of the words of the one around it.
int Placer::EndOf(size_t mark) const {
  if (marks_[mark].parent < 0) return 0;
  const TextSpan text = marks_[mark].text;
  const SentenceMark& parent = marks_[static_cast<size_t>(marks_[mark].parent)];
  if (parent.ends && text.begin == parent.text.end) return 1;
  return parent.begins && text.end == parent.text.begin ? -1 : 0;
}

// The nearest place to `place` that is not within one of the siblings of a mark, which are in
// order.
size_t Placer::Outside(size_t place, size_t mark, const std::vector<size_t>& siblings) const {
  const auto sibling = std::partition_point(siblings.begin(), siblings.end(),
                                            [&](size_t s) { return spans_[s].end < place; });
  for (auto s = sibling; s != siblings.end() && spans_[*s].begin <= place; ++s) {
    const bool within = (place > spans_[*s].begin || !marks_[*s].begins) &&
                        (place < spans_[*s].end || !marks_[*s].ends);
    if (within) return mark < *s ? spans_[*s].begin : spans_[*s].end;
  }
  return place;
}

// The copy of what the model read of an opaque mark that comes from it: the translation may have
// the same word from elsewhere.  The number of cells if there is none.
size_t Placer::CopyOf(size_t mark) const {
  const Candidate candidate = CandidateOf(mark);
  size_t best = candidate.inside.size();
  float most = kLeastShare;
  for (size_t t = 0; t < candidate.inside.size(); ++t) {
    const Cell& cell = links_.target()[t];
    if (Said(t) != marks_[mark].read || candidate.inside[t] < most * cell.weight) continue;
    most = candidate.inside[t] / cell.weight;
    best = t;
  }
  return best;
}

// Copies of what the model read of opaque marks that had to go elsewhere, and of stand-ins beside
// the one that was placed, with the white space before them.
std::vector<TextSpan> Placer::StrayCopies() const {
  std::map<std::string_view, Interval> stand_ins;  // and where they belong
  std::vector<char> stray(links_.target().size() + 1, 0);
  for (size_t m = 0; m < marks_.size(); ++m) {
    if (marks_[m].kind != MarkKind::kOpaque) continue;
    if (marks_[m].stand_in) {
      stand_ins.emplace(marks_[m].read, intervals_[m]);
    } else if (intervals_[m].size() == 0 && !marks_[m].read.empty()) {
      stray[CopyOf(m)] = 1;
    }
  }
  std::vector<TextSpan> copies;
  for (size_t t = 0; t < links_.target().size(); ++t) {
    const auto read = stand_ins.find(Said(t));
    const bool again =
        read != stand_ins.end() && !(t >= read->second.begin && t < read->second.end);
    if (!stray[t] && !again) continue;
    TextSpan span = links_.target()[t].span;
    while (span.begin > 0 && sentence_.target[span.begin - 1] == ' ') --span.begin;
    copies.push_back(span);
  }
  return copies;
}

// Adds the brackets of marks that should touch them, and do not, with the white space inside:
// "(see x)" for "see (<b>x</b>)".  If the source has no other ones, all are such.
void Placer::AddBrackets(std::vector<TextSpan>* removed) const {
  constexpr std::string_view kOpening = "([", kBoth = "([)]";
  const std::string_view target = sentence_.target;
  std::string source(sentence_.source);
  std::vector<size_t> lost, kept;  // marks; bytes of the target
  ptrdiff_t own = 0;               // brackets of the source that are no mark's
  for (size_t m = 0; m < marks_.size(); ++m) {
    if (marks_[m].kind == MarkKind::kOpaque) Blank(marks_[m].text, &source);
    if (!marks_[m].bracketed) continue;
    own -= 2;
    if (IsBracketed(target, spans_[m])) {
      kept.insert(kept.end(), {spans_[m].begin - 1, spans_[m].end});
    } else {
      lost.push_back(m);
    }
  }
  if (own == 0) return;
  const auto is_bracket = [&](char c) { return kBoth.find(c) != kBoth.npos; };
  own += std::count_if(source.begin(), source.end(), is_bracket);
  std::sort(kept.begin(), kept.end());
  const auto remove = [&](size_t at, bool opens) {
    if (at == target.npos || opens != (kOpening.find(target[at]) != kOpening.npos)) return;
    const size_t begin = opens ? at : target.substr(0, at).find_last_not_of(' ') + 1;
    const size_t end =
        opens ? std::min(target.find_first_not_of(' ', at + 1), target.size()) : at + 1;
    removed->push_back({begin, end});
  };
  for (size_t at = 0; own <= 0 && at < target.size(); ++at) {
    if (is_bracket(target[at]) && !std::binary_search(kept.begin(), kept.end(), at)) {
      remove(at, kOpening.find(target[at]) != kOpening.npos);
    }
  }
  for (const size_t m : lost) {
    if (own <= 0) break;
    remove(target.substr(0, spans_[m].begin).find_last_of(kBoth), true);
    remove(target.find_first_of(kBoth, spans_[m].end), false);
  }
}

// Adds the spaces between marks without words and what these touch in the source: "( 7005",
// "cat ®", and "7005 here 7716" for "%shere%s".
void Placer::AddSpaces(std::vector<TextSpan>* removed) const {
  const auto ends_word = [](std::string_view text) {
    return !text.empty() && ContinuesWord(LastCodePoint(text));
  };
  const auto begins_word = [](std::string_view text) {
    size_t end = 0;
    return !text.empty() && ContinuesWord(NextCodePoint(text, &end));
  };
  const std::string_view source = sentence_.source, target = sentence_.target;
  for (size_t m = 0; m < marks_.size(); ++m) {
    const SentenceMark& mark = marks_[m];
    const bool unread = mark.kind == MarkKind::kEmpty || IsUnread(m);
    if (mark.kind == MarkKind::kPaired || mark.absent) continue;
    if (IsSign(mark) && spans_[m].size() == 0) {  // in the place of what the model cannot write
      const size_t spaces = target.substr(0, spans_[m].begin).find_last_not_of(' ') + 1;
      removed->push_back({std::min(spaces + 1, spans_[m].begin), spans_[m].begin});
    }
    if (!unread && (!mark.stand_in || spans_[m].size() == 0)) continue;
    const std::string_view before = source.substr(0, mark.text.begin);
    const size_t end = target.substr(0, spans_[m].begin).find_last_not_of(' ') + 1;
    const std::string_view said = target.substr(0, end);
    const bool same = !unread && !said.empty() && !before.empty() && said.back() == before.back();
    size_t first = mark.text.begin;  // white space of its own, "\u00a0%s"
    const bool spaced = !unread && IsWhiteSpace(NextCodePoint(source, &first));
    if (end > 0 && (same || spaced || (ends_word(before) && (unread || ends_word(said))))) {
      removed->push_back({end, spans_[m].begin});
    }
    // Behind a stand-in it may be the ending of a word.
    const bool opens =
        unread || IsWhiteSpace(LastCodePoint(source.substr(0, mark.text.end))) ||
        (m + 1 < marks_.size() && ends_word(source.substr(0, marks_[m + 1].text.begin)));
    const size_t next = target.find_first_not_of(' ', spans_[m].end);
    if (opens && next != target.npos && begins_word(source.substr(mark.text.end)) &&
        begins_word(target.substr(next))) {
      removed->push_back({spans_[m].end, next});
    }
  }
  std::erase_if(*removed, [](TextSpan span) { return span.size() == 0; });
  std::sort(removed->begin(), removed->end(),
            [](TextSpan a, TextSpan b) { return a.begin < b.begin; });
}

// How often a text has each run of digits.
std::map<std::string, int> RunsOfDigits(std::string_view text) {
  std::map<std::string, int> runs;
  std::string run;
  for (size_t i = 0; i < text.size();) {
    const int digit = DigitOf(NextCodePoint(text, &i));
    if (digit >= 0) run += static_cast<char>('0' + digit);
    if (!run.empty() && (digit < 0 || i == text.size())) ++runs[std::exchange(run, "")];
  }
  return runs;
}

bool HasLetter(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const char32_t c = NextCodePoint(text, &i);
    if (IsLetterOrDigit(c) && DigitOf(c) < 0) return true;
  }
  return false;
}

bool HasNewDigits(std::string_view source, std::string_view target) {
  const std::map<std::string, int> known = RunsOfDigits(source);
  for (const auto& [run, times] : RunsOfDigits(target)) {
    const auto same = known.find(run);
    if (same == known.end() || same->second < times) return true;
  }
  return false;
}

}  // namespace

bool IsBracketed(std::string_view text, TextSpan span) {
  constexpr std::pair<std::string_view, std::string_view> kBrackets[] = {
      {"(", ")"}, {"[", "]"}, {"（", "）"}};
  return std::any_of(std::begin(kBrackets), std::end(kBrackets), [&](const auto& brackets) {
    return text.substr(0, span.begin).ends_with(brackets.first) &&
           text.substr(span.end).starts_with(brackets.second);
  });
}

std::vector<std::vector<size_t>> ChildrenOf(absl::Span<const SentenceMark> marks) {
  std::vector<std::vector<size_t>> children(marks.size() + 1);
  for (size_t m = 0; m < marks.size(); ++m) {
    children[static_cast<size_t>(marks[m].parent + 1)].push_back(m);
  }
  return children;
}

Placement PlaceMarks(const AlignedSentence& sentence, absl::Span<const SentenceMark> marks) {
  return Placer(sentence, marks).Place();
}

Damage DamageOf(const AlignedSentence& sentence, absl::Span<const SentenceMark> marks,
                const Placement& placement) {
  std::string source(sentence.source), target(sentence.target);
  bool has_stand_ins = false;
  for (size_t m = 0; m < marks.size(); ++m) {
    if (marks[m].kind != MarkKind::kOpaque) continue;
    has_stand_ins = has_stand_ins || marks[m].stand_in;
    Blank(marks[m].text, &source);
    if (m < placement.marks.size()) Blank(placement.marks[m], &target);
  }
  for (const TextSpan removed : placement.removed) Blank(removed, &target);
  if (ContainsWord(source) ? !HasLetter(target) : !HasLetterOrDigit(target)) {
    return Damage::kNoWords;
  }
  for (size_t m = 0; m < placement.marks.size(); ++m) {  // an element that had words
    if (marks[m].kind != MarkKind::kPaired || !marks[m].begins || !marks[m].ends) continue;
    const auto inside = [](const std::string& text, TextSpan span) {
      return std::string_view(text).substr(span.begin, span.size());
    };
    if (ContainsWord(inside(source, marks[m].text)) &&
        !HasLetterOrDigit(inside(target, placement.marks[m]))) {
      return Damage::kNoWords;
    }
  }
  return has_stand_ins && HasNewDigits(source, target) ? Damage::kNumbers : Damage::kNone;
}

}  // namespace dragoman
