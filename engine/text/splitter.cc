// One pass over the text, character by character.  At each character that may end a sentence, the
// code looks at both neighbours: the word before it (is the dot part of that word?) and what
// follows the white space (can a sentence begin with it?).  The knowledge of languages is in the
// tables.  Where they do not decide, the text is not split: that hurts a translation less than
// cutting one sentence in two.

#include "engine/text/splitter.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/base/utf8.h"

namespace dragoman {
namespace {

// The full stops of Chinese and Japanese, which end a sentence with or without spaces.
constexpr char32_t kCjkTerminators[] = U"。！？｡";

// Marks that may end a sentence if white space follows.
constexpr char32_t kTerminators[] = U".!?…‥．؟۔।॥։።။។";

// Closing marks belong to the sentence before them.  Quotes that open in some languages and close
// in others are in both tables: the side on which they touch a word decides.
constexpr char32_t kClosers[] = U"\"'”’“‘»«›‹)]}」』）】》〉〕］";
constexpr char32_t kOpeners[] = U"\"'“‘”„‚«»‹›([{¿¡「『（【《〈-–—•*";

// Abbreviations whose dot never ends a sentence: English, German, French and Spanish ones.  Case
// matters.
constexpr std::string_view kAbbreviations[] = {
    // English
    "Adm", "Asst", "Bros", "Brig", "Capt", "Cmdr", "Col", "Cpl", "Dr", "Drs", "Gen", "Gov", "Hon",
    "Lt", "Maj", "Messrs", "Mr", "Mrs", "Ms", "Mt", "Ph", "Prof", "Pvt", "Rep", "Reps", "Rev",
    "Sen", "Sens", "Sgt", "Sr", "St", "Supt", "vs", "viz", "cf", "Cf", "approx", "dept", "Dept",
    "eds", "al", "e.g", "i.e",
    // German
    "Abb", "Abs", "Abt", "allg", "Allg", "bspw", "Bspw", "bzgl", "bzw", "ca", "Ca", "Dipl", "dt",
    "ehem", "engl", "ev", "evtl", "Evtl", "Fr", "Frl", "geb", "gegr", "ggf", "Ggf", "Hr", "Hrn",
    "Hrsg", "inkl", "Inkl", "insb", "jur", "Kap", "lat", "lt", "med", "nat", "phil", "rer", "röm",
    "sog", "Str", "tägl", "Tel", "urspr", "vgl", "Vgl", "zzgl", "Ing", "d.h", "z.B", "u.a", "o.ä",
    // French
    "MM", "Mgr", "Mlle", "Mlles", "Mme", "Mmes", "Ste", "av", "boul", "éd", "env", "ex", "tél",
    // Spanish
    "Sra", "Sras", "Sres", "Srta", "Srtas", "Dra", "Dña", "Ud", "Uds", "Vd", "Vds", "EE", "UU",
    "Gral", "Lic", "Avda", "pág", "Pág", "págs", "núm", "Núm", "p.ej"};

// The same, but only before a number: "No. 5", "Dec. 24".
constexpr std::string_view kBeforeNumber[] = {
    "No",  "no",  "Nos",  "nos",  "Nr",   "nr",   "Nrn",  "Art", "art", "pp",  "Vol",
    "vol", "Fig", "fig",  "Sec",  "sec",  "chap", "Ch",   "ch",  "Eq",  "eq",  "Bd",
    "Jan", "Feb", "Mar",  "Apr",  "Jun",  "Jul",  "Aug",  "Sep", "Oct", "Okt", "Nov",
    "Dec", "Dez", "vers", "Sept", "Ziff", "Rn",   "Aufl", "Tab", "Nº",  "nº"};

// Words that follow or precede a German ordinal: "am 3. Mai", "der 2. Weltkrieg".
constexpr std::string_view kMonths[] = {"Januar",  "Jänner",   "Februar", "März",   "April",
                                        "Mai",     "Juni",     "Juli",    "August", "September",
                                        "Oktober", "November", "Dezember"};
constexpr std::string_view kBeforeOrdinal[] = {
    "ab",    "am",  "Am",   "beim", "bis",  "Das",  "das",   "dem",   "den", "Den", "der",
    "Der",   "des", "die",  "Die",  "ein",  "eine", "einem", "einen", "im",  "Im",  "jeden",
    "jeder", "ihr", "mein", "sein", "seit", "und",  "unser", "vom",   "zum", "Zum", "zur"};

template <typename Table, typename T>
bool In(const Table& table, const T& value) {
  return std::find(std::begin(table), std::end(table), value) != std::end(table);
}

bool IsLineBreak(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || c == 0x85 || c == 0x2028 || c == 0x2029;
}
bool IsDigit(char32_t c) { return c >= '0' && c <= '9'; }
bool IsTerminator(char32_t c) { return In(kTerminators, c) && c != 0; }
bool IsCjkTerminator(char32_t c) { return In(kCjkTerminators, c) && c != 0; }
bool IsCloser(char32_t c) { return In(kClosers, c) && c != 0; }
bool IsOpener(char32_t c) { return In(kOpeners, c) && c != 0; }

// A letter of an alphabet in which names are abbreviated to initials: Latin, Greek, Cyrillic.
bool IsInitial(char32_t c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= 0xC0 && c <= 0x24F) ||
         (c >= 0x370 && c <= 0x52F);
}

// A lower case letter, in alphabets that have case; no sentence begins with one.
bool IsLower(char32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z';
  if (c < 0x100) return c >= 0xDF && c != 0xF7;
  if (c <
      0x180) {  // alternating upper and lower case; in two ranges the upper case letters are odd
    const bool upper_is_odd = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);
    return (c % 2 == 1) != upper_is_odd;
  }
  return (c >= 0x3AC && c <= 0x3CE) || (c >= 0x430 && c <= 0x45F) || (c >= 0x561 && c <= 0x587) ||
         (c >= 0x460 && c <= 0x52F && c % 2 == 1);
}

struct Character {
  char32_t c;
  size_t begin;  // its first byte
};

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {
    for (size_t i = 0; i < text.size();) {
      const size_t begin = i;
      const char32_t c = NextCodePoint(text, &i);
      characters_.push_back({c, begin});
    }
  }

  std::vector<TextSpan> Split() {
    for (size_t i = 0; i < size();) {
      const char32_t c = At(i);
      if (IsLineBreak(c)) EndSentence(i);
      if (IsWhiteSpace(c)) {
        ++i;
        continue;
      }
      if (first_ == kNone) first_ = i;
      const size_t dot = i++;
      if (!IsTerminator(c) && !IsCjkTerminator(c)) continue;
      bool is_end = IsCjkTerminator(c);
      for (; i < size() && (IsTerminator(At(i)) || IsCjkTerminator(At(i)) || IsCloser(At(i)));
           ++i) {
        is_end = is_end || IsCjkTerminator(At(i));
      }
      if (is_end || EndsAt(dot, i)) EndSentence(i);
    }
    EndSentence(size());
    return std::move(sentences_);
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  size_t size() const { return characters_.size(); }
  char32_t At(size_t i) const { return characters_[i].c; }
  size_t ByteAt(size_t i) const { return i < size() ? characters_[i].begin : text_.size(); }
  std::string_view Text(size_t begin, size_t end) const {
    return text_.substr(ByteAt(begin), ByteAt(end) - ByteAt(begin));
  }

  // The open sentence, if any, ends before character `end` and the white space before it.
  void EndSentence(size_t end) {
    if (first_ == kNone) return;
    while (IsWhiteSpace(At(end - 1))) --end;
    sentences_.push_back({ByteAt(first_), ByteAt(end)});
    first_ = kNone;
  }

  // Whether the terminators and closers in [dot, end) end a sentence.
  bool EndsAt(size_t dot, size_t end) const {
    if (end == size()) return true;
    if (!IsWhiteSpace(At(end))) return false;
    size_t next = end;
    for (; next < size() && IsWhiteSpace(At(next)); ++next) {
      if (IsLineBreak(At(next))) return true;
    }
    while (next < size() && IsOpener(At(next))) ++next;
    if (next == size()) return true;
    if (IsLower(At(next))) return false;
    const bool is_single_dot = At(dot) == '.' && end == dot + 1;
    return !is_single_dot || !DotIsPartOfWord(dot, next);
  }

  // The first character of the word that ends before `end`.
  size_t WordBefore(size_t end) const {
    while (end > first_ && !IsWhiteSpace(At(end - 1)) && !IsOpener(At(end - 1)) &&
           !IsCloser(At(end - 1))) {
      --end;
    }
    return end;
  }

  // Whether the dot belongs to the word before it (an abbreviation, an initial or an ordinal),
  // given that the next word begins at `next`.
  bool DotIsPartOfWord(size_t dot, size_t next) const {
    const size_t begin = WordBefore(dot);
    if (begin == dot) return false;
    const auto is_digit = [](const Character& character) { return IsDigit(character.c); };
    if (std::all_of(characters_.begin() + begin, characters_.begin() + dot, is_digit)) {
      return IsOrdinal(begin, dot, next);
    }
    size_t part = dot;  // "h" of "d.h"
    while (part > begin && At(part - 1) != '.') --part;
    if (dot - part == 1 && IsInitial(At(part))) return true;
    return In(kAbbreviations, Text(begin, dot)) || In(kAbbreviations, Text(part, dot)) ||
           (IsDigit(At(next)) && In(kBeforeNumber, Text(begin, dot)));
  }

  // Whether the number [begin, dot) and its dot do not end a sentence: "3. 5", "am 3. Mai",
  // "1. Introduction".
  bool IsOrdinal(size_t begin, size_t dot, size_t next) const {
    if (IsDigit(At(next))) return true;
    constexpr size_t kMostDigits = 2;
    if (dot - begin > kMostDigits) return false;
    if (begin == first_) return true;
    size_t end = begin;
    while (end > first_ && IsWhiteSpace(At(end - 1))) --end;
    if (In(kBeforeOrdinal, Text(WordBefore(end), end))) return true;
    end = next;
    while (end < size() && !IsWhiteSpace(At(end)) && !IsTerminator(At(end)) && At(end) != ',')
      ++end;
    return In(kMonths, Text(next, end));
  }

  const std::string_view text_;
  std::vector<Character> characters_;
  size_t first_ = kNone;  // of the open sentence
  std::vector<TextSpan> sentences_;
};

}  // namespace

std::vector<TextSpan> SplitSentences(std::string_view text) { return Splitter(text).Split(); }

}  // namespace dragoman
