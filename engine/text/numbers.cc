#include "engine/text/numbers.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "engine/base/utf8.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

// The zeros of the scripts that have decimal digits (Unicode 15, general category Nd).
constexpr char32_t kZeros[] = {'0',    0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6,  0x0A66, 0x0AE6,
                               0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0DE6,  0x0E50, 0x0ED0,
                               0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946,  0x19D0, 0x1A80,
                               0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620,  0xA8D0, 0xA900,
                               0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x11066};

// What may stand between the digits of a number.
enum class Separator { kNone, kDot, kComma, kSpace, kApostrophe, kArabicPoint, kArabicComma };

constexpr std::pair<Separator, std::u32string_view> kSeparators[] = {
    {Separator::kDot, U"."},
    {Separator::kComma, U",\uFF0C"},
    {Separator::kSpace, U" \u00A0\u2009\u202F"},
    {Separator::kApostrophe, U"'\u2019"},
    {Separator::kArabicPoint, U"\u066B"},
    {Separator::kArabicComma, U"\u066C"}};

Separator SeparatorOf(char32_t c) {
  for (const auto& [separator, characters] : kSeparators) {
    if (characters.find(c) != characters.npos) return separator;
  }
  return Separator::kNone;
}

bool SeparatesFraction(Separator separator) {
  return separator == Separator::kDot || separator == Separator::kComma ||
         separator == Separator::kArabicPoint;
}

struct DigitGroup {
  TextSpan span;
  std::string digits;                   // ASCII
  Separator before = Separator::kNone;  // between it and the last group
};

// Without zeros that change nothing.
std::string Value(std::string whole, std::string fraction) {
  whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size() - 1));
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return fraction.empty() ? whole : whole + "." + fraction;
}

// Whether groups [0, end) are the thousands of one number, all with the same separator: 1,000,000
// or, in India, 10,00,000.
bool AreThousands(const std::vector<DigitGroup>& groups, size_t end) {
  const size_t first = groups[0].digits.size();
  if (first > 3 || groups[0].digits[0] == '0' || groups[end - 1].digits.size() != 3) return false;
  bool western = true, indian = first <= 2;
  for (size_t i = 1; i < end; ++i) {
    if (groups[i].before != groups[1].before || groups[i].before == Separator::kArabicPoint) {
      return false;
    }
    western = western && groups[i].digits.size() == 3;
    indian = indian && groups[i].digits.size() == (i + 1 < end ? 2 : 3);
  }
  return western || indian;
}

std::string Joined(const std::vector<DigitGroup>& groups, size_t end) {
  std::string digits;
  for (size_t i = 0; i < end; ++i) digits += groups[i].digits;
  return digits;
}

// Everything that the groups may mean as one number.
std::vector<std::string> ValuesOf(const std::vector<DigitGroup>& groups) {
  const size_t last = groups.size() - 1;
  if (last == 0) return {Value(groups[0].digits, "")};
  std::vector<std::string> values;
  if (AreThousands(groups, last + 1)) values.push_back(Value(Joined(groups, last + 1), ""));
  const Separator point = groups[last].before;
  if (SeparatesFraction(point) &&
      (last == 1 || (groups[1].before != point && AreThousands(groups, last)))) {
    values.push_back(Value(Joined(groups, last), groups[last].digits));
  }
  return values;
}

class NumberFinder {
 public:
  explicit NumberFinder(std::string_view text) : text_(text) {}

  std::vector<Number> Find() {
    while (position_ < text_.size()) {
      size_t next = position_;
      if (DigitOf(NextCodePoint(text_, &next)) < 0) {
        position_ = next;
        continue;
      }
      std::vector<DigitGroup> groups = {ReadGroup()};
      while (ReadMore(&groups)) {
      }
      Add(groups);
    }
    return std::move(numbers_);
  }

 private:
  // The digits at the position.
  DigitGroup ReadGroup() {
    DigitGroup group = {.span = {position_, position_}};
    for (size_t next = position_; next < text_.size(); position_ = group.span.end = next) {
      const int digit = DigitOf(NextCodePoint(text_, &next));
      if (digit < 0) break;
      group.digits += static_cast<char>('0' + digit);
    }
    return group;
  }

  // Reads a separator and the digits after it, if they may belong to the same number.
  bool ReadMore(std::vector<DigitGroup>* groups) {
    const size_t here = position_;
    if (here == text_.size()) return false;
    const Separator separator = SeparatorOf(NextCodePoint(text_, &position_));
    DigitGroup group;
    if (separator != Separator::kNone) group = ReadGroup();
    group.before = separator;
    const bool spaced = separator == Separator::kSpace;
    const bool continues = group.digits.size() == 3 && groups->front().digits.size() <= 3 &&
                           (groups->size() == 1 || groups->back().before == separator);
    if (group.digits.empty() || (spaced && !continues)) {
      position_ = here;
      return false;
    }
    groups->push_back(std::move(group));
    return true;
  }

  void Add(const std::vector<DigitGroup>& groups) {
    Number number = {.span = {groups.front().span.begin, groups.back().span.end},
                     .values = ValuesOf(groups),
                     .groups = {}};
    for (const DigitGroup& group : groups) {
      if (groups.size() == 1) break;
      number.groups.push_back({group.span, {Value(group.digits, "")}, {}});
    }
    numbers_.push_back(std::move(number));
  }

  const std::string_view text_;
  size_t position_ = 0;
  std::vector<Number> numbers_;
};

// Whether there is a letter, a digit or an underscore before or after these bytes.
bool TouchesWord(std::string_view text, TextSpan span) {
  const auto is_of_word = [](char32_t c) { return IsLetterOrDigit(c) || c == '_'; };
  size_t after = span.end;
  return (span.begin > 0 && is_of_word(LastCodePoint(text.substr(0, span.begin)))) ||
         (after < text.size() && is_of_word(NextCodePoint(text, &after)));
}

// The bytes of the ending of an English ordinal number ("17th") that a text begins with.
size_t OrdinalSize(std::string_view text) {
  for (const std::string_view ending : {"st", "nd", "rd", "th"}) {
    if (text.starts_with(ending)) return ending.size();
  }
  return 0;
}

}  // namespace

int DigitOf(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9' ? static_cast<int>(c - '0') : -1;
  const auto after = std::upper_bound(std::begin(kZeros), std::end(kZeros), c);
  const char32_t zero = *std::prev(after);
  return c - zero < 10 ? static_cast<int>(c - zero) : -1;
}

std::vector<Number> FindNumbers(std::string_view text) { return NumberFinder(text).Find(); }

std::vector<TextSpan> FindNumerals(std::string_view text) {
  std::vector<TextSpan> numerals;
  for (const Number& number : FindNumbers(text)) {
    const size_t last = numerals.empty() ? 0 : numerals.back().end;
    if (!numerals.empty() && last + 1 == number.span.begin &&
        std::string_view(":/-").find(text[last]) != std::string_view::npos) {
      numerals.back().end = number.span.end;
    } else {
      numerals.push_back(number.span);
    }
  }
  for (TextSpan& numeral : numerals) numeral.end += OrdinalSize(text.substr(numeral.end));
  std::erase_if(numerals, [&](TextSpan span) { return TouchesWord(text, span); });
  return numerals;
}

std::vector<std::string> FormsOf(const std::string& numeral, const LanguagePair& languages) {
  std::vector<std::string> forms = {numeral};
  const auto add =
      [&](std::initializer_list<std::pair<absl::string_view, absl::string_view>> with) {
        std::string form = absl::StrReplaceAll(numeral, with);
        if (std::find(forms.begin(), forms.end(), form) == forms.end()) forms.push_back(form);
      };
  if (numeral.find_first_not_of("0123456789.,") == numeral.npos) {
    const bool from_english = languages.source.starts_with("en");
    const char *const group = from_english ? "," : ".", *const point = from_english ? "." : ",";
    if (from_english != languages.target.starts_with("en")) {
      add({{group, point}, {point, group}});
      add({{group, " "}, {point, group}});
    }
    add({{group, ""}});
  } else if (absl::ascii_isalpha(static_cast<unsigned char>(numeral.back()))) {
    const std::string digits = numeral.substr(0, numeral.size() - 2);
    forms = {languages.target.starts_with("de") ? digits + "." : digits, digits, numeral};
  } else if (numeral.find_first_not_of("0123456789:") == numeral.npos) {
    for (const char* const mark : {".", " h ", "h"}) add({{":", mark}});
  }
  return forms;
}

TextSpan WithSign(std::string_view text, TextSpan span) {
  for (const std::string_view sign : {"$", "€", "£", "¥"}) {
    if (text.substr(0, span.begin).ends_with(sign)) span.begin -= sign.size();
  }
  for (const std::string_view sign : {"%", "€"}) {
    if (text.substr(span.end).starts_with(sign)) span.end += sign.size();
  }
  return span;
}

}  // namespace dragoman
