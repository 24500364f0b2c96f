#include "engine/text/inner_boundaries.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "engine/base/utf8.h"
#include "engine/text/splitter_tables.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

// Kinds of places, best first.
enum BoundaryKind {
  kSentenceEnd,
  kColon,
  kClause,
  kComma,
  kSpace,
  kBadSpace,  // after an abbreviation, before a colon or a dash
  kToken,
  kNoBoundary
};

constexpr std::u32string_view kSemicolons = U";；؛;·";
constexpr std::u32string_view kColons = U":：–—";
constexpr std::u32string_view kCommas = U",，、،﹐";

// Words that a clause begins with, in several languages.
constexpr std::string_view kConjunctions[] = {
    "and",  "or",     "but",    "because", "which",    "who",     "that",   "while",   "when",
    "if",   "so",     "then",   "where",   "although", "und",     "oder",   "aber",    "denn",
    "weil", "dass",   "daß",    "wenn",    "während",  "sondern", "sowie",  "obwohl",  "damit",
    "et",   "ou",     "mais",   "car",     "qui",      "que",     "puis",   "donc",    "lorsque",
    "y",    "o",      "pero",   "porque",  "sino",     "aunque",  "cuando", "e",       "ma",
    "che",  "perché", "mentre", "mas",     "quando",   "en",      "maar",   "want",    "dat",
    "och",  "men",    "att",    "i",       "ale",      "że",      "oraz",   "lub",     "a",
    "nebo", "и",      "а",      "но",      "или",      "что",     "если",   "который", "і",
    "але",  "або",    "що"};

bool IsIn(std::u32string_view table, char32_t c) { return table.find(c) != table.npos; }

bool IsUnspaced(char32_t c) { return IsLetterOrDigit(c) && !IsWordCharacter(c); }

// A place: what is before it ends at `end`, what is after it begins at `begin`.
struct Boundary {
  size_t end = 0, begin = 0;
  BoundaryKind kind = kNoBoundary;
  int depth = 0;      // the marks around it
  size_t tokens = 0;  // before it
};

class Divider {
 public:
  explicit Divider(const LongSentence& sentence) : sentence_(sentence), text_(sentence.text) {
    FindBoundaries();
    Drop(sentence.whole);
    CountMarks();
    CountTokens();
  }

  std::vector<TextSpan> Divide(size_t most) {
    std::vector<TextSpan> parts;
    // The boundaries within a part, and its bytes; the next one is the last.
    struct Part {
      size_t first, last;
      TextSpan span;
      size_t begin_tokens, end_tokens;
    };
    std::vector<Part> open = {
        {0, boundaries_.size(), {0, text_.size()}, 0, sentence_.tokens.size()}};
    while (!open.empty()) {
      const Part part = open.back();
      open.pop_back();
      const size_t tokens = part.end_tokens - part.begin_tokens;
      const size_t best = tokens <= most
                              ? part.last
                              : Best(part.first, part.last, part.begin_tokens, part.end_tokens);
      if (best == part.last) {
        parts.push_back(part.span);
        continue;
      }
      const Boundary& at = boundaries_[best];
      open.push_back({best + 1, part.last, {at.begin, part.span.end}, at.tokens, part.end_tokens});
      open.push_back({part.first, best, {part.span.begin, at.end}, part.begin_tokens, at.tokens});
    }
    return parts;
  }

 private:
  void FindBoundaries() {
    size_t token = 0;
    char32_t before = 0;
    for (size_t i = 0; i < text_.size();) {
      const size_t end = i;
      while (token < sentence_.tokens.size() && sentence_.tokens[token].end < end) ++token;
      const bool token_ends = token < sentence_.tokens.size() && sentence_.tokens[token].end == end;
      size_t next = i;
      char32_t c = NextCodePoint(text_, &next);
      bool breaks_line = false;
      while (IsWhiteSpace(c) && next < text_.size()) {
        breaks_line = breaks_line || c == '\n';
        i = next;
        c = NextCodePoint(text_, &next);
      }
      if (end > 0) {
        const BoundaryKind kind =
            breaks_line ? kSentenceEnd : BoundaryKindOf(before, c, i > end, token_ends, i);
        if (kind != kNoBoundary) boundaries_.push_back({end, i, kind});
      }
      before = c;
      i = next;
    }
  }

  // The kind of the place between two characters; `after` begins at `place`.
  BoundaryKind BoundaryKindOf(char32_t before, char32_t after, bool spaced, bool token_ends,
                              size_t place) const {
    const bool wide = before >= 0x3000 && before < 0xFF60;  // needs no space after it
    if (spaced || wide) {
      // A dot after which no sentence ended is an abbreviation's.
      if (before != '.' && (IsIn(kTerminators, before) || IsIn(kCjkTerminators, before))) {
        return kSentenceEnd;
      }
      if (IsIn(kSemicolons, before)) return kSentenceEnd;
      if (IsIn(kColons, before) || (before == '-' && spaced)) return kColon;
      if (IsIn(kCommas, before)) return BeginsClause(place) ? kClause : kComma;
      if (spaced && (before == ')' || before == ']')) return kComma;
    }
    if (spaced) {
      return before == '.' || after == '-' || IsIn(kColons, after) ? kBadSpace : kSpace;
    }
    return token_ends && (IsUnspaced(before) || IsUnspaced(after)) && !IsIn(kClosers, after) &&
                   !IsIn(kCommas, after) && !IsIn(kCjkTerminators, after)
               ? kToken
               : kNoBoundary;
  }

  bool BeginsClause(size_t place) const {
    size_t end = place;
    for (size_t next = place; next < text_.size(); end = next) {
      if (!IsLetterOrDigit(NextCodePoint(text_, &next))) break;
    }
    return std::find(std::begin(kConjunctions), std::end(kConjunctions),
                     text_.substr(place, end - place)) != std::end(kConjunctions);
  }

  // Removes the places within these spans.
  void Drop(const std::vector<TextSpan>& spans) {
    auto span = spans.begin();
    std::erase_if(boundaries_, [&](const Boundary& boundary) {
      while (span != spans.end() && span->end <= boundary.end) ++span;
      return span != spans.end() && span->begin < boundary.begin;
    });
  }

  void CountMarks() {
    std::vector<std::pair<size_t, int>> changes;  // of the depth, after a byte
    for (const TextSpan mark : sentence_.marks) {
      changes.push_back({mark.begin, 1});
      changes.push_back({mark.end, -1});
    }
    std::sort(changes.begin(), changes.end());
    size_t next = 0;
    int depth = 0;
    for (Boundary& boundary : boundaries_) {
      // A mark that begins or ends there is not around it.
      while (next < changes.size() && changes[next].first <= boundary.begin &&
             (changes[next].first < boundary.begin || changes[next].second < 0)) {
        depth += changes[next++].second;
      }
      boundary.depth = depth;
    }
  }

  void CountTokens() {
    size_t tokens = 0;
    for (Boundary& boundary : boundaries_) {
      while (tokens < sentence_.tokens.size() && sentence_.tokens[tokens].begin < boundary.begin) {
        ++tokens;
      }
      boundary.tokens = tokens;
    }
  }

  // The best of boundaries [first, last) to divide tokens [begin, end) at; `last` if there is none.
  // Away from the middle, only how near it is counts.
  size_t Best(size_t first, size_t last, size_t begin, size_t end) const {
    const size_t quarter = (end - begin) / 4;
    size_t best = last;
    std::tuple<bool, int, BoundaryKind, size_t> least;
    for (size_t b = first; b < last; ++b) {
      const Boundary& at = boundaries_[b];
      if (at.tokens == begin || at.tokens == end) continue;
      const size_t before = at.tokens - begin, after = end - at.tokens;
      const bool far = before < quarter || after < quarter;
      const size_t off = before > after ? before - after : after - before;
      const std::tuple cost = {far, far ? 0 : at.depth, far ? kSentenceEnd : at.kind, off};
      if (best == last || cost < least) {
        best = b;
        least = cost;
      }
    }
    return best;
  }

  const LongSentence& sentence_;
  const std::string_view text_;
  std::vector<Boundary> boundaries_;
};

}  // namespace

std::vector<TextSpan> DivideSentence(const LongSentence& sentence, size_t most) {
  return Divider(sentence).Divide(most);
}

}  // namespace dragoman
