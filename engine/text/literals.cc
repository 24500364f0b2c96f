// One pass with one automaton, which is the alternation of all patterns of the table; where it
// finds something, the patterns are asked in order which of them it was.  What a regular expression
// says badly is said by two more columns: what may stand before a match, and a test of the whole.
//
//   "100%ig"      %i is a placeholder, but not after a digit
//   "12.05.2024"  three numbers with dots are a version, but not a date
//   "(see https://example.org/a_(b).)"  the URL ends before ".)", but keeps its own bracket

#include "engine/text/literals.h"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>

#include "engine/base/utf8.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

// What must not stand directly before a literal.
enum class NotAfter { kNothing, kDigit, kWord };

bool AlwaysTrue(std::string_view) { return true; }

// A number with dots that is neither a date ("12.05.2024") nor grouped by thousands ("1.000.000").
bool IsVersion(std::string_view text) {
  if (text[0] == 'v' || text[0] == 'V') return true;
  std::vector<size_t> groups = {0};
  for (const char c : text) {
    if (c == '.') {
      groups.push_back(0);
    } else if (c >= '0' && c <= '9') {
      ++groups.back();
    } else {
      return true;
    }
  }
  const bool date =
      groups.size() == 3 && groups[0] <= 2 && groups[1] <= 2 && (groups[2] == 4 || groups[2] == 2);
  const bool thousands = groups[0] <= 3 && std::all_of(groups.begin() + 1, groups.end(),
                                                       [](size_t digits) { return digits == 3; });
  return !date && !thousands;
}

// A hash has letters and digits; a word has no digits, and a number no letters.
bool IsHash(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::any_of(text.begin(), text.end(), is_digit) &&
         !std::all_of(text.begin(), text.end(), is_digit);
}

// "d.h" and "i.c" are abbreviations.
bool IsFileName(std::string_view text) {
  constexpr size_t kAbbreviation = 3;
  return text.size() > kAbbreviation;
}

// Not from one quotation `in the old style' to another: none closes in it that did not open in it.
bool IsInlineCode(std::string_view text) {
  bool open = false;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] != '\'') continue;
    size_t next = i + 1;
    const bool after_word = IsWordCharacter(LastCodePoint(text.substr(0, i)));
    const bool before_word = IsWordCharacter(NextCodePoint(text, &next));
    if (after_word && before_word) continue;  // "don't"
    if (after_word && !open) return false;
    open = !open;
  }
  return true;
}

struct Pattern {
  LiteralKind kind;
  NotAfter not_after;
  const char* regex;
  bool (*accepts)(std::string_view match) = AlwaysTrue;
  bool whole_word = false;  // no word character follows
  bool trims = false;       // punctuation at its end belongs to the text
};

#define URL_CHARACTER R"([\w\-.~:/?#\[\]@!$&()*+,;=%{}'\p{Latin}\p{Greek}\p{Cyrillic}])"

constexpr Pattern kPatterns[] = {
    // Code in Markdown and reStructuredText, with its role: `f(x)`, ``f(x)``, :py:func:`f`,
    // `link`_.
    {LiteralKind::kCode, NotAfter::kNothing, "``[^`\\s](?:[^`\\n]*[^`\\s])?``", IsInlineCode},
    {LiteralKind::kCode, NotAfter::kWord, "(?::[a-z][a-z0-9_.+-]*)+:`[^`\\n]+`"},
    {LiteralKind::kCode, NotAfter::kNothing, "`[^`\\s](?:[^`\\n]*[^`\\s])?`_{0,2}", IsInlineCode},
    {LiteralKind::kTag, NotAfter::kNothing,
     R"(</?[A-Za-z][\w:.-]*(?:\s+[\w:.@-]+(?:=(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+))?)*\s*/?>)"},
    {LiteralKind::kTag, NotAfter::kNothing, R"(</?\d+\s*/?>)"},
    {.kind = LiteralKind::kAddress,
     .not_after = NotAfter::kWord,
     .regex = R"((?:(?i:https?|ftps?|sftp|file|wss?|ssh|git|svn|ldaps?|irc)://|)"
              R"((?:mailto|tel|sms|geo|magnet|data|urn):))" URL_CHARACTER "+",
     .trims = true},
    {.kind = LiteralKind::kAddress,
     .not_after = NotAfter::kWord,
     .regex = R"([\w.+%-]{0,63}[\w+%-]@[\w-]+(?:\.[\w-]+)+)"},
    {.kind = LiteralKind::kAddress,
     .not_after = NotAfter::kWord,
     .regex = R"((?:www\.)" URL_CHARACTER R"(+|)"
              R"((?:[a-z0-9][a-z0-9-]*\.)+(?:com|org|net|edu|gov|info|io|dev|app|ai|eu|de|fr|es|)"
              R"(it|nl|pl|pt|ru|uk|us|ch|at|be|se|br|cn|jp)(?:[/?#:])" URL_CHARACTER R"(*)?))",
     .whole_word = true,
     .trims = true},
    {LiteralKind::kPath, NotAfter::kWord, R"((?:[A-Za-z]:|\\\\[\w.-]+)\\[^\s<>"|?*:;,]*[\w\\])"},
    {LiteralKind::kPath, NotAfter::kWord,
     R"((?:(?:~|\.\.?)/[\w.@+{}$-]+|/[\w.@+{}$-]+/[\w.@+{}$-]*)(?:/[\w.@+*{}$-]+)*/?)", AlwaysTrue,
     false, true},
    {LiteralKind::kPath, NotAfter::kWord,
     R"([\w-]+(?:[./][\w-]+)*\.(?:txt|md|pdf|docx?|xlsx?|pptx?|odt|csv|tsv|json|ya?ml|xml|html?|)"
     R"(css|jsx?|tsx?|py|rb|go|rs|java|c|cc|cpp|h|hpp|sh|sql|log|ini|conf|toml|zip|t?gz|tar|png|)"
     R"(jpe?g|gif|svg|webp|mp[34]|wav|exe|dll|so|apk|deb|rpm))",
     IsFileName, true},
    // Mustache, Jinja, Python's and C#'s format, ICU without and with its cases.
    {LiteralKind::kPlaceholder, NotAfter::kNothing, R"([$#]?\{\{\{?[^{}]*\}?\}\})"},
    {LiteralKind::kPlaceholder, NotAfter::kNothing, R"(\{%[^{}]*%\})"},
    {LiteralKind::kPlaceholder, NotAfter::kNothing,
     R"(\{\s*\w+\s*,\s*(?:plural|select|selectordinal|number|date|time)\b)"
     R"((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})"},
    {LiteralKind::kPlaceholder, NotAfter::kNothing, R"([$#%]?\{[^{}\s]*\})"},
    // Python, Ruby, the shell, printf, Qt.
    {LiteralKind::kPlaceholder, NotAfter::kNothing,
     R"(%(?:\(\w+\)|<\w+>)[-+#0]*\d*(?:\.\d+)?[diouxXeEfFgGcrsa]?)"},
    {LiteralKind::kPlaceholder, NotAfter::kNothing, R"(\$\([^()\s]+\)|\$[A-Za-z_]\w*)"},
    {LiteralKind::kPlaceholder, NotAfter::kNothing, R"(%%)"},
    {LiteralKind::kPlaceholder, NotAfter::kDigit,
     R"(%(?:\d{1,2}\$)?[-+#0']*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh?|ll?|[qjztL])?[diouxXeEfFgGaAcspn@])"},
    {LiteralKind::kPlaceholder, NotAfter::kDigit, R"(%L?\d{1,2})"},
    {LiteralKind::kHandle, NotAfter::kWord, R"(@[A-Za-z_][\w.-]*\w(?:@[\w-]+(?:\.[\w-]+)+)?)"},
    {LiteralKind::kHandle, NotAfter::kWord, R"(#[\p{L}_][\p{L}\p{N}_]*|#[0-9A-Fa-f]{6,8})"},
    {LiteralKind::kHandle, NotAfter::kWord, R"(:[a-z][a-z0-9_+-]*:)"},
    {LiteralKind::kCode, NotAfter::kWord,
     R"([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|0[xX][0-9A-Fa-f]+)", AlwaysTrue, true},
    {LiteralKind::kCode, NotAfter::kWord, R"([0-9A-Fa-f]{12,})", IsHash, true},
    {LiteralKind::kCode, NotAfter::kWord, R"(97[89][- ]?(?:\d[- ]?){9}[\dXx])", AlwaysTrue, true},
    {LiteralKind::kCode, NotAfter::kWord, R"(\+\d[\d ()/-]{5,18}\d)", AlwaysTrue, true},
    {LiteralKind::kCode, NotAfter::kWord,
     R"([vV]\d+(?:\.\d+)*(?:[-+.]?\w+)*|\d+(?:\.\d+){2,}(?:[-+]?[A-Za-z]\w*)?)", IsVersion, true},
    {LiteralKind::kCode, NotAfter::kWord, R"(\d{7,})", AlwaysTrue, true},
    {LiteralKind::kEmoji, NotAfter::kNothing,
     R"((?:[\x{1F000}-\x{1FAFF}\x{2600}-\x{27BF}\x{2B00}-\x{2BFF}\x{2190}-\x{21FF}\x{2300}-\x{23FF}])"
     R"([\x{FE0E}\x{FE0F}\x{200D}\x{20E3}\x{1F3FB}-\x{1F3FF}\x{E0020}-\x{E007F}]*)+|)"
     R"([0-9#*]\x{FE0F}?\x{20E3})"},
};

#undef URL_CHARACTER

// The table, compiled.
struct Automata {
  std::unique_ptr<RE2> any;
  std::vector<std::unique_ptr<RE2>> each;  // as in kPatterns

  Automata() {
    std::string all;
    for (const Pattern& pattern : kPatterns) {
      each.push_back(std::make_unique<RE2>(pattern.regex, RE2::Quiet));
      all.append(all.empty() ? "(?:" : "|(?:").append(pattern.regex).append(")");
    }
    RE2::Options options(RE2::Quiet);
    options.set_max_mem(64 << 20);  // the most; it is taken as texts need it
    any = std::make_unique<RE2>(all, options);
  }
};

const Automata& Compiled() {
  static const Automata* const automata = new Automata();
  return *automata;
}

bool MayFollow(std::string_view before, NotAfter not_after) {
  if (before.empty() || not_after == NotAfter::kNothing) return true;
  const char32_t c = LastCodePoint(before);
  if (c >= '0' && c <= '9') return false;
  return not_after == NotAfter::kDigit || !(IsWordCharacter(c) || c == '_');
}

// The size of `match` without the punctuation and the closing brackets that are not its own.
size_t Trimmed(std::string_view match) {
  constexpr std::string_view kPunctuation = ".,;:!?'", kOpening = "([{", kClosing = ")]}";
  int unopened[kClosing.size()] = {};  // closing brackets of each kind, less the opening ones
  for (const char c : match) {
    if (const size_t kind = kClosing.find(c); kind != kClosing.npos) ++unopened[kind];
    if (const size_t kind = kOpening.find(c); kind != kOpening.npos) --unopened[kind];
  }
  while (!match.empty()) {
    const size_t kind = kClosing.find(match.back());
    const bool foreign = kind != kClosing.npos && unopened[kind]-- > 0;
    if (!foreign && kPunctuation.find(match.back()) == match.npos) break;
    match.remove_suffix(1);
  }
  return match.size();
}

// Which pattern found `match` at `begin` of `text`; null if none accepts it.
const Pattern* PatternOf(std::string_view text, size_t begin, std::string_view match) {
  for (size_t p = 0; p < std::size(kPatterns); ++p) {
    const Pattern& pattern = kPatterns[p];
    if (!RE2::FullMatch(re2::StringPiece(match.data(), match.size()), *Compiled().each[p])) {
      continue;
    }
    if (!MayFollow(text.substr(0, begin), pattern.not_after) || !pattern.accepts(match)) continue;
    if (pattern.whole_word && !EndsWordAt(text, begin + match.size())) continue;
    return &pattern;
  }
  return nullptr;
}

// A search looks ahead this far, so that a text of a million short literals takes linear time.
// Longer literals are found too, as long as they match from their beginning ("https://...").
constexpr size_t kWindow = 1024;  // bytes

// Where to go on if there is no literal in [begin, end): at the last white space, if there is any
// in the second half, and otherwise in the middle.
size_t NextWindow(std::string_view text, size_t begin, size_t end) {
  const size_t middle = begin + (end - begin) / 2;
  const size_t space = text.substr(middle, end - middle).find_last_of(" \t\r\n");
  size_t next = middle + (space == text.npos ? 0 : space + 1);
  while (next < text.size() && (text[next] & 0xC0) == 0x80) ++next;
  return next;
}

}  // namespace

std::vector<Literal> FindLiterals(std::string_view text) {
  std::vector<Literal> literals;
  const re2::StringPiece all(text.data(), text.size());
  re2::StringPiece found;
  size_t window = kWindow;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.size(), begin + window);
    if (!Compiled().any->Match(all, begin, end, RE2::UNANCHORED, &found, 1)) {
      begin = end == text.size() ? end : NextWindow(text, begin, end);
      continue;
    }
    const size_t at = static_cast<size_t>(found.data() - text.data());
    const std::string_view match = text.substr(at, found.size());
    if (at + match.size() == end && end < text.size()) {
      window *= 2;  // it may go on
      continue;
    }
    window = kWindow;
    begin = at + match.size();
    const Pattern* const pattern = PatternOf(text, at, match);
    if (pattern == nullptr) continue;
    const size_t size = pattern->trims ? Trimmed(match) : match.size();
    if (size > 0) literals.push_back({{at, at + size}, pattern->kind});
  }
  return literals;
}

}  // namespace dragoman
