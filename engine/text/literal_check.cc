// Three passes.  Literals are looked up.  Then numbers with the same value are paired: whole ones
// first, then groups of digits ("12.05.2024" and "12 May 2024").  For each number that is left
// over, a list of reasons is asked why a good translation might not have it in digits.

#include "engine/text/literal_check.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engine/base/utf8.h"
#include "engine/text/literals.h"
#include "engine/text/number_words.h"
#include "engine/text/numbers.h"
#include "engine/text/spelled_numbers.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

constexpr char kTaken = '\n';  // in place of the bytes of a literal: no number goes on over it

void Take(TextSpan span, std::string* text) {
  text->replace(span.begin, span.size(), span.size(), kTaken);
}

bool IsAsciiDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

bool StartsWithAny(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return text.starts_with(beginning); });
}

// "1.5" and "1500000" have the same.
std::string SignificantDigits(std::string_view value) {
  std::string digits;
  for (const char c : value) {
    if (c != '.' && (c != '0' || !digits.empty())) digits += c;
  }
  return digits.substr(0, digits.find_last_not_of('0') + 1);
}

// The value of a whole number up to 9999; negative for others.
int SmallValue(const std::string& value) {
  return value.size() > 4 || value.find('.') != value.npos ? -1 : std::atoi(value.c_str());
}

// The hour on the clock of twelve hours, for one on that of twenty-four, and the other way round.
int OtherHour(int hour) { return hour > 12 ? hour - 12 : hour == 12 ? 0 : hour + 12; }

// A number, or a group of its digits.
struct Item {
  TextSpan span;
  std::vector<std::string> values;
  TextSpan whole;        // the number that it belongs to, or is
  bool grouped = false;  // it is a group of a number that has a value, too
  bool matched = false;

  bool is_whole() const { return span == whole; }
  bool Matches(const Item& other) const {
    // The groups of two numbers are not compared: 2.5 is not 5.2.
    return !matched && !other.matched && !(grouped && other.grouped) &&
           std::find_first_of(values.begin(), values.end(), other.values.begin(),
                              other.values.end()) != values.end();
  }
};

std::vector<Item> ItemsOf(const Number& number) {
  std::vector<Item> items = {{number.span, number.values, number.span}};
  for (const Number& group : number.groups) {
    items.push_back({group.span, group.values, number.span, !number.values.empty()});
  }
  return items;
}

// The literals of the source that are not in the target.  Those that are, and these, are taken out
// of both texts.
std::vector<LiteralFault> CompareLiterals(std::string* source, std::string* target) {
  std::vector<Literal> missing;
  for (const Literal& literal : FindLiterals(*source)) {
    const std::string text = source->substr(literal.span.begin, literal.span.size());
    const size_t found = target->find(text);
    if (found != target->npos) {
      Take(literal.span, source);
      Take({found, found + text.size()}, target);
    } else if (literal.kind != LiteralKind::kCode) {  // which is compared as numbers
      Take(literal.span, source);
      missing.push_back(literal);
    }
  }
  if (missing.empty()) return {};
  std::vector<Literal> others = FindLiterals(*target);
  std::vector<LiteralFault> faults;
  for (const Literal& literal : missing) {
    faults.push_back({.source = literal.span});
    const auto other = std::find_if(others.begin(), others.end(), [&](const Literal& candidate) {
      return candidate.kind == literal.kind;
    });
    if (other == others.end()) continue;
    faults.back().target = other->span;
    Take(other->span, target);
    others.erase(other);
  }
  return faults;
}

// A number that the target does not have in digits.
struct Missing {
  TextSpan span;
  bool may_be_spelled = false;
};

class NumberComparison {
 public:
  // REQUIRES: the texts outlive it.
  NumberComparison(std::string_view source, std::string_view target, std::string_view language)
      : source_(source), target_(target), spelled_(target, language) {}

  void Run(std::vector<LiteralFault>* faults);

 private:
  std::vector<Number> MatchWholeNumbers(const std::vector<Number>& source);
  bool MatchOther(const Item& item, bool apart = false);
  bool MatchOther(int value, bool apart = false) {
    return MatchOther(Item{{}, {absl::StrCat(value)}, {}}, apart);
  }
  void Match(const Item& other);
  void AddMissing(const Number& number, std::vector<Missing>* missing);
  bool IsExcused(const Item& number);
  bool MayBeSpelled(const Item& number) const;
  bool IsScaled(const Item& number);
  bool IsOnAnotherClock(int value);
  bool IsSpelledAsTime(TextSpan number, int value) const;
  bool IsInDate(TextSpan number) const;
  bool Joins(size_t at, std::string_view marks) const;

  const std::string_view source_, target_;
  const SpelledNumbers spelled_;
  std::vector<Item> others_;  // what else the target has: numbers, each before its groups
};

void NumberComparison::Run(std::vector<LiteralFault>* faults) {
  const std::vector<Number> source = FindNumbers(source_);
  if (source.empty()) return;
  std::vector<Missing> missing;
  for (const Number& number : MatchWholeNumbers(source)) AddMissing(number, &missing);
  // If the target has another number, that is wrong, rather than new beside one that is a word; but
  // it is wrong in the place of one that cannot be a word, if there is any.
  std::stable_partition(missing.begin(), missing.end(),
                        [](const Missing& number) { return !number.may_be_spelled; });
  for (const Missing& number : missing) {
    const auto other = std::find_if(others_.begin(), others_.end(),
                                    [](const Item& item) { return !item.matched; });
    const bool has_other = other != others_.end();
    if (number.may_be_spelled && !has_other) continue;
    faults->push_back({.source = number.span});
    if (!has_other) continue;
    faults->back().target = other->span;
    Match(*other);
  }
}

// Appends what the target does not have of a number: all of it, if it is one, or some of its
// groups.
void NumberComparison::AddMissing(const Number& number, std::vector<Missing>* missing) {
  const std::vector<Item> items = ItemsOf(number);
  const bool has_value = !number.values.empty();
  if (has_value && (MatchOther(items[0]) || IsExcused(items[0]))) return;
  std::vector<Item> left;
  for (size_t i = 1; i < items.size(); ++i) {
    if (!MatchOther(items[i])) left.push_back(items[i]);
  }
  std::vector<Missing> groups;
  for (const Item& item : left) {
    if (!IsExcused(item)) groups.push_back({item.span, MayBeSpelled(item)});
  }
  if (items.size() > 1 && groups.empty()) return;
  if (has_value) {
    const bool in_groups =
        !groups.empty() && std::all_of(groups.begin(), groups.end(),
                                       [](const Missing& group) { return group.may_be_spelled; });
    groups = {{number.span, in_groups || MayBeSpelled(items[0])}};
  }
  missing->insert(missing->end(), groups.begin(), groups.end());
}

// Returns the numbers of the source whose value none of the target has.
std::vector<Number> NumberComparison::MatchWholeNumbers(const std::vector<Number>& source) {
  std::vector<Number> target = FindNumbers(target_), left;
  for (const Number& number : source) {
    const auto same = std::find_if(target.begin(), target.end(), [&](const Number& other) {
      return std::find_first_of(number.values.begin(), number.values.end(), other.values.begin(),
                                other.values.end()) != number.values.end();
    });
    if (same == target.end()) {
      left.push_back(number);
    } else {
      target.erase(same);
    }
  }
  for (const Number& number : target) {
    const std::vector<Item> items = ItemsOf(number);
    others_.insert(others_.end(), items.begin(), items.end());
  }
  return left;
}

// Matches a number with the same value, if there is one; not a part of a word, "zwanzig24", if it
// is to stand apart.
bool NumberComparison::MatchOther(const Item& item, bool apart) {
  const auto glued = [&](const Item& other) {
    const std::string_view before = target_.substr(0, other.span.begin);
    return !before.empty() && !IsAsciiDigit(before.back()) &&
           IsWordCharacter(LastCodePoint(before));
  };
  const auto same = std::find_if(others_.begin(), others_.end(), [&](const Item& other) {
    return item.Matches(other) && !(apart && glued(other));
  });
  if (same == others_.end()) return false;
  Match(*same);
  return true;
}

// A number is matched as a whole or by groups.
void NumberComparison::Match(const Item& matched) {
  const Item one = matched;
  for (Item& item : others_) {
    if (item.whole != one.whole) continue;
    item.matched = item.matched || item.span == one.span || one.is_whole() || item.is_whole();
  }
}

bool NumberComparison::IsExcused(const Item& number) {
  if (source_.substr(number.span.begin, number.span.size()) == "00") return true;  // 8:00
  if (IsScaled(number)) return true;
  const int small = number.values.empty() ? -1 : SmallValue(number.values.front());
  return small >= 0 && IsOnAnotherClock(small);
}

bool NumberComparison::MayBeSpelled(const Item& number) const {
  // Not beside a sign that is in the target, too: "$5", "$fünf", "5%", "fünf%"; '\n' is in the
  // place of one that is a literal.
  constexpr std::u32string_view kSigns = U"$€£¥\n";
  const std::string_view before = source_.substr(0, number.span.begin);
  const char32_t sign = before.empty() ? 0 : LastCodePoint(before);
  std::string written;
  AppendUtf8(sign, &written);
  if (kSigns.find(sign) != kSigns.npos && target_.find(written) != target_.npos) return false;
  const std::string_view after = source_.substr(number.span.end);
  if (StartsWithAny(after, {"%", " %"}) && target_.find('%') != target_.npos) return false;
  for (const std::string& value : number.values) {
    if (value.find('.') == value.npos && spelled_.MayHave(value)) return true;
  }
  constexpr int kDozen = 12;
  const int small = number.values.empty() ? -1 : SmallValue(number.values.front());
  if (small < 0) return false;
  return (!spelled_.knows_words() && small <= kDozen) || IsSpelledAsTime(number.span, small);
}

// What follows a number.
std::string UnitAfter(std::string_view text, TextSpan number) {
  std::string_view after = text.substr(number.end);
  after.remove_prefix(std::min(after.size(), after.find_first_not_of(" -")));
  constexpr size_t kLongest = 24;
  return InSmallLetters(BeginningOf(after, kLongest));
}

bool HasScale(std::string_view text, TextSpan number) {
  const std::string unit = UnitAfter(text, number);
  return std::any_of(std::begin(kScales), std::end(kScales), [&](std::string_view scale) {
    constexpr size_t kAbbreviation = 3;
    return unit.starts_with(scale) &&
           (scale.size() > kAbbreviation || EndsWordAt(unit, scale.size()));
  });
}

// 1.5 million and 1,500,000.
bool NumberComparison::IsScaled(const Item& number) {
  const bool scaled = HasScale(source_, number.whole);
  for (const Item& other : others_) {
    if (other.matched || (!scaled && !HasScale(target_, other.whole))) continue;
    for (const std::string& a : number.values) {
      for (const std::string& b : other.values) {
        if (SignificantDigits(a) != SignificantDigits(b)) continue;
        Match(other);
        return true;
      }
    }
  }
  return false;
}

// 2 pm and 14:00; '90s and 1990s.
bool NumberComparison::IsOnAnotherClock(int value) {
  if (value <= 24 && MatchOther(OtherHour(value))) return true;
  for (const int century : {1800, 1900, 2000}) {
    if (value < 100 && MatchOther(century + value)) return true;
    if (value >= century && value < century + 100 && MatchOther(value - century, true)) return true;
  }
  return false;
}

// Half past two, eight in the evening, the 3rd of May, the eighties.
bool NumberComparison::IsSpelledAsTime(TextSpan number, int value) const {
  const std::string unit = UnitAfter(source_, number);
  if (value <= 12 && IsInDate(number)) return true;
  const bool quarters = value == 15 || value == 30 || value == 45;
  if (quarters && (Joins(number.begin - 1, ":.") || unit.starts_with("min"))) {
    return spelled_.MayHavePart();
  }
  const std::string_view after = source_.substr(number.end);
  const bool hour =
      StartsWithAny(unit, {":", "uhr", "h ", "heure", "a.m", "p.m", "am ", "pm ", "o'clock"}) ||
      StartsWithAny(after, {".15", ".30", ".45"});
  if (hour && value <= 24) {
    return spelled_.MayHave(absl::StrCat(OtherHour(value))) ||
           spelled_.MayHave(absl::StrCat(value % 12 + 1));
  }
  const bool decade = value > 1000 && value < 2100 && value % 10 == 0;
  return decade && spelled_.MayHave(absl::StrCat(value % 100));
}

// Whether one of these marks is between two digits.
bool NumberComparison::Joins(size_t at, std::string_view marks) const {
  return at > 0 && at < source_.size() && at + 1 < source_.size() &&
         marks.find(source_[at]) != marks.npos && IsAsciiDigit(source_[at - 1]) &&
         IsAsciiDigit(source_[at + 1]);
}

// 27.2., or one of three numbers: 2/27/2024.
bool NumberComparison::IsInDate(TextSpan number) const {
  constexpr std::string_view kJoins = "./-";
  constexpr size_t kYear = 4;  // digits
  TextSpan date = number;
  int numbers = 1;
  bool has_year = false;
  while (Joins(date.begin - 1, kJoins)) {
    const size_t end = --date.begin;
    while (date.begin > 0 && IsAsciiDigit(source_[date.begin - 1])) --date.begin;
    has_year = has_year || end - date.begin == kYear;
    ++numbers;
  }
  const bool is_last_of_two = numbers == 2 && source_.substr(number.end).starts_with('.');
  while (Joins(date.end, kJoins)) {
    const size_t begin = ++date.end;
    while (date.end < source_.size() && IsAsciiDigit(source_[date.end])) ++date.end;
    has_year = has_year || date.end - begin == kYear;
    ++numbers;
  }
  return numbers == 3 ? has_year : numbers == 2 && is_last_of_two;
}

}  // namespace

std::vector<LiteralFault> CheckLiterals(std::string_view source, std::string_view target,
                                        std::string_view language) {
  std::string from(source), to(target);
  std::vector<LiteralFault> faults = CompareLiterals(&from, &to);
  NumberComparison(from, to, language).Run(&faults);
  for (LiteralFault& fault : faults) {
    fault.text = source.substr(fault.source.begin, fault.source.size());
    fault.found = target.substr(fault.target.begin, fault.target.size());
  }
  std::sort(faults.begin(), faults.end(), [](const LiteralFault& a, const LiteralFault& b) {
    return a.source.begin < b.source.begin;
  });
  return faults;
}

}  // namespace dragoman
