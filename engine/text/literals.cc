// One pass with one automaton, which is the alternation of all patterns of the table; where it
// finds something, the patterns are asked in order which of them it was.  What a regular expression
// says badly is said by more columns: what may stand before a match, a test of the whole, and
// whether it counts only in the strings of programs.
//
//   "100%ig"      %i is a placeholder, but not after a digit
//   "12.05.2024"  three numbers with dots are a version, but not a date
//   "(see https://example.org/a_(b).)"  the URL ends before ".)", but keeps its own bracket
//   "use --help"  an option in a string of a program; in prose "--" may be a dash
//
// A pattern with a group stands on both sides of what that finds, or behind it, which is searched
// by itself.  A second pass joins placeholders with what touches them.

#include "engine/text/literals.h"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "engine/base/utf8.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

// What must not stand directly before a literal.
enum class NotAfter {
  kNothing,
  kDigit,
  kNumber,  // nor a digit and spaces
  kWord,
  kVisible,  // anything but white space and opening brackets and quotes
};

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
  const bool date = groups.size() == 3 && groups[0] <= 2 && groups[1] <= 2 &&
                    (groups[2] == 4 || groups[2] == 2) && !text.starts_with("0.");
  const bool thousands = groups[0] <= 3 && std::all_of(groups.begin() + 1, groups.end(),
                                                       [](size_t digits) { return digits == 3; });
  return !date && !thousands;
}

// A hash has letters and digits; a word has no digits, and a number no letters.
bool IsHash(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
         std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A'; });
}

// "en-US", not "ex-US".
bool IsLocale(std::string_view text) {
  return !text.starts_with("ex-") && !text.starts_with("un-") && !text.starts_with("co-") &&
         !text.starts_with("re-");
}

// "d.h" and "i.c" are abbreviations.
bool IsFileName(std::string_view text) {
  constexpr size_t kAbbreviation = 3;
  return text.size() > kAbbreviation;
}

// "yyyy-MM-dd", "HH:mm", not "d M": two fields of two letters or more; and "h:mm a".
bool IsDatePattern(std::string_view text) {
  int fields = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(text.find_first_not_of(text[i], i), text.size());
    if (end - i >= 2 && text[i] != ' ') ++fields;
    i = end;
  }
  return fields >= 2 || text.ends_with(" a");
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

bool HasEqualEnds(std::string_view text) {
  return text.find_first_not_of('*') + text.find_last_not_of('*') + 1 == text.size();
}

struct Pattern {
  LiteralKind kind;
  NotAfter not_after;
  const char* regex;
  unsigned flags = 0;
  bool (*accepts)(std::string_view match) = AlwaysTrue;
};

enum : unsigned {
  kWholeWord = 1,  // no word character follows
  kTrims = 2,      // punctuation at its end belongs to the text
  kInStrings = 4,  // only in TextSource::kStrings
  kInOrder = 8,    // Literal::in_order
};

using enum LiteralKind;
using enum NotAfter;

#define BB_TAG "(?:b|i|u|s|url|color|size|quote|center)"
// Words with [[names]] and links, if these begin so, but no other brackets.
#define WORDS_WITH(link) R"(((?:[^\[\]\n]|\[\[[^\[\]\n]+\]\]|)" link R"(\[[^\[\]\n]+\]\()+))"
#define ARGUMENT R"([A-Z][A-Z0-9_:-]*[A-Z0-9])"
#define ARGUMENTS \
  R"((?: (?:\S*[\[\]<>{}|%=…]\S*|-\S+|[A-Z](?:[A-Z0-9_:-]*[A-Z0-9])?(?:\.\.\.)?|\.\.\.))+)"
// An element in which nothing is language, and what is below or above a number or a formula.
#define CODE_IN(name) "<" name R"((?: [^<>]*)?>[^<>{}%\n]+</)" name ">"
#define CODE_ELEMENT                                                                           \
  "(?:" CODE_IN("code") "|" CODE_IN("kbd") "|" CODE_IN("samp") "|" CODE_IN("var") "|" CODE_IN( \
      "tt") ")"
#define SMALL(name, what) "<" name "(?: [^<>]*)?>" what "</" name ">"
#define CLASS R"((?:\[\^?\w-\w[^\[\]\s]*\]|\\[dDwWsS])(?:[+*?]|\{\d+(?:,\d*)?\})?)"
#define SIGNED R"([+\-−]?\d{0,3}[+\-−]?)"
#define URL_CHARACTER R"([\w\-.~:/?#\[\]@!$&()*+,;=%{}'\p{Latin}\p{Greek}\p{Cyrillic}])"
#define SPACE R"([ \x{A0}\x{202F}])"
#define AMOUNT R"((?:\d{1,3}(?:)" SPACE R"(\d{3})+(?:,\d+)?|\d+(?:[.,']\d+)*))"
#define SCALE "(?:[kKMB]|bn|m)?"

constexpr Pattern kPatterns[] = {
    // Files of a kind, "*.txt", which would begin what is emphasized.
    {kPath, kWord, R"(\*\.(?:\*|\w+|\{\w+(?:,\w+)*\}))"},
    // What stands around words in Markdown and in forums: **x**, [x](y), [b]x[/b].
    {kTag, kNothing, R"(\*{2,3}([^*\s](?:[^*\n]*[^*\s])?)\*{2,3})", 0, HasEqualEnds},
    {kTag, kNothing, R"(~~([^~\n]+)~~)"},
    {kTag, kNothing, "'''([^'\\n]+)'''"},
    {kTag, kWord, R"(\*([^*\s](?:[^*\n]*[^*\s])?)\*)", kWholeWord},
    {kTag, kNothing,
     R"([!^]?\[)" WORDS_WITH(
         "!") R"(\]\((?:inflect: true|(?:[^()\s]|\([^()\s]*\))+(?:\s+"[^"\n]*")?)\))"},
    {kTag, kNothing,
     R"(\[)" BB_TAG R"((?:=[^\[\]\n]*)?\])" WORDS_WITH("!?") R"(\[/)" BB_TAG R"(\])"},
    // The ending of a plural, "cat(s)".
    {kTag, kNothing, R"((\pL{2})\((?:e?s|e?n|x)\))"},
    // Code in Markdown and reStructuredText, with its role: `f(x)`, ``f(x)``, :py:func:`f`,
    // `link`_.
    {kCode, kNothing, "``[^`\\s](?:[^`\\n]*[^`\\s])?``", 0, IsInlineCode},
    {kCode, kWord, "(?::[a-z][a-z0-9_.+-]*)+:`[^`\\n]+`"},
    {kCode, kNothing, "`[^`\\s](?:[^`\\n]*[^`\\s])?`_{0,2}", 0, IsInlineCode},
    // <kbd>Ctrl</kbd>+<kbd>C</kbd>, H<sub>2</sub>O, m<sup>2</sup>
    {kCode, kNothing, CODE_ELEMENT R"((?: ?[+/-] ?)" CODE_ELEMENT ")*"},
    {kCode, kWord,
     "(?:(?:[A-Z][a-z]?)+|\\d+|[A-Z]=[a-z]{1,2}|[a-z]|[cdkmµ]m|mc)(?:(?:" SMALL(
         "sub", SIGNED) "|" SMALL("sup", SIGNED) ")(?:[A-Z][a-z]?)*)+|[a-z]" SMALL("sub", "[a-z]"),
     kWholeWord},
    {kTag, kNothing,
     R"(</?[A-Za-z][\w:.-]*(?:\s+(?:[*#]\w|\(\w+\)|\[\w)?[\w:.@\]-]*(?:=(?:"(?:[^"<>]|\\")*"|'[^'<>]*'|\\"[^"<>]*\\"|[^\s"'<>]+))?)*\s*/?>)"},
    {kTag, kNothing, R"(</?\d+\s*/?>)"},
    {kAddress, kWord,
     R"((?:(?i:https?|ftps?|sftp|file|wss?|ssh|git|svn|ldaps?|irc|s3|smb|nfs|rtsp|app|)"
     R"((?:jdbc:)?(?:postgres|postgresql|mysql|mongodb|redis|amqp))://|)"
     R"((?:mailto|tel|sms|geo|magnet|data|urn|doi):))" URL_CHARACTER "+",
     kTrims},
    {kAddress, kWord,
     R"([\w.+%-]{0,63}[\w+%-]@(?:[\w-]+(?:\.[\w-]+)+(?::~?[\w.-]*(?:/[\w.-]*)+)?|[\w-]+:~?/[\w./-]*))",
     kTrims},
    {kAddress, kWord,
     R"((?:www\.)" URL_CHARACTER R"(+|)"
     R"((?:[a-z0-9][a-z0-9-]*\.)+(?:com|org|net|edu|gov|info|io|dev|app|ai|eu|de|fr|es|)"
     R"(it|nl|pl|pt|ru|uk|us|ch|at|be|se|br|cn|jp)(?:[/?#:])" URL_CHARACTER R"(*)?))",
     kWholeWord | kTrims},
    {kPath, kWord,
     R"((?:[A-Za-z]:|\\\\[\w.-]+)\\(?:[^\s<>"|?*:;,\\]+(?: [^\s<>"|?*:;,\\]+){0,2}\\)*)"
     R"((?:[^\s<>"|?*:;,]*[\w\\])?|HKEY_\w+(?:\\\w+)*)"},
    {kPath, kWord,
     R"((?:(?:~|\.\.?)/[\w.@+{}$-]+|/[\w.@+{}$-]+/[\w.@+{}$-]*)(?:/[\w.@+*{}$-]+)*/?)", kTrims},
    {kPath, kWord,
     R"((?:[\w-]+/)*(?:Makefile|configure|config\.h)\.(?:a[cm]|in)|a\.out|)"
     R"([\w-]+(?:[./][\w-]+)*\.(?:txt|md|pdf|docx?|xlsx?|pptx?|od[tps]|csv|tsv|json|ya?ml|xml|html?|)"
     R"(css|jsx?|tsx?|py|rb|go|rs|java|c|cc|cpp|h|hpp|sh|sql|log|ini|conf|toml|zip|t?gz|tar|png|)"
     R"(jpe?g|gif|svg|webp|mp[34]|wav|exe|dll|so|apk|deb|rpm|cfg|mk|cmake|tex|bib|ps1|iso|img|db|)"
     R"(sqlite|kt|vue|scss|epub|srt|vtt|ttf|woff2?|jar|lua|php|ipynb|rst|adoc|pot?|mo|xliff?|xlf|)"
     R"(rtf|bmp|mkv|avi|ogg|flac|7z|xz|bz2|dmg|msi))",
     kWholeWord, IsFileName},
    {kPath, kVisible,
     R"(\.(?:\w+(?:rc|ignore|attributes|modules)|git|env|ssh|config|cache|local|profile|htaccess|)"
     R"(editorconfig|DS_Store)\b(?:[./][\w-]+)*)",
     kWholeWord},
    // Programs in templates: ERB, PHP, Mustache, Jinja.
    {kPlaceholder, kNothing, R"(<%[^<>]*%>|<\?[^<>]*\?>)"},
    {kPlaceholder, kNothing, R"([$#]?\{\{\{?(?:[^{}]|\{[^{}]*\})*\}?\}\})"},
    {kPlaceholder, kNothing, R"(\{%[^{}]*%\}|\{!![^{}]*!!\})"},
    // Python's and C#'s format, ICU without and with its cases, JSON, a name with spaces around it.
    {kPlaceholder, kNothing,
     R"(\{\s*\w+\s*,\s*(?:plural|select|selectordinal|choice|number|date|time|duration|ordinal|spellout|list)\b)"
     R"((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})"},
    {kPlaceholder, kNothing, R"(\{(?:!\w)?(?::[^{}\s]*(?:\{[^{}\s]*\}[^{}\s]*)*)?\})", kInOrder},
    {kPlaceholder, kNothing, R"([$#]\{(?:[^{}\n]|\{[^{}\n]*\})*\}(?:/[\w.@-]*\w)*)"},
    {kPlaceholder, kNothing, R"([$#%@]?\{(?:[^{}\s]*(?:\{[^{}\s]*\}[^{}\s]*)*| *[\w.$-]+ *)\})"},
    {kPlaceholder, kNothing, R"(\{\d+(?:,-?\d+)?:[^{}\n]*\}|\{\w*:[^{}\n]*%[^{}\n]*\})"},
    {kPlaceholder, kNothing, R"(\{\s*"[^{}]*\})"},
    {kPlaceholder, kNothing, R"(\[\[[^\[\]\n]{1,80}\]\])"},
    // i18next's and vue-i18n's references to other strings.
    {kPlaceholder, kNothing,
     R"(\$t\((?:"[^"]*"|[^(){}]|\([^()]*\)|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*\))"},
    {kPlaceholder, kWord, R"(@(?:\.\w+)?:(?:\([\w.]+\)|\{'[^'{}]*'\}|[\w.]*\w))"},
    // Of Apple's dictionaries of plurals.
    {kPlaceholder, kNothing, R"(%(?:\d+\$)?#@[^@\s]+@)"},
    // A number before a literal percent sign; strftime, of which one conversion is not printf's.
    {kPlaceholder, kDigit, R"(%[-+#0']*\d*(?:\.\d+)?l{0,2}[diuxXeEfFgG]%%)", kInOrder},
    {kPlaceholder, kDigit,
     R"((?:%[-_0^#]?[A-Za-z][ ,./:T-]{0,2})*%[-_0^#]?[BbDHIjklmMPRTUVWyYZ])"
     R"((?:[ ,./:T-]{0,2}%[-_0^#]?[A-Za-z])*\b)",
     kWholeWord},
    // Windows, Velocity, and others that put a sign on both sides.
    {kPlaceholder, kDigit, R"(%[A-Za-z_]\w+%(?:\\[A-Zac-egh-mo-qswyz.][\w.-]*(?:\\[\w.-]+)*)?)",
     kWholeWord | kTrims},
    {kPlaceholder, kWord, R"(\$[A-Za-z_]\w*\$|#[A-Za-z_]\w*#)", kWholeWord},
    // Python, Ruby, Go, the shell, printf, Qt.
    {kPlaceholder, kNothing,
     R"(%(?:\(\w+\)|<\w+>|\[\w+\])[-+#0]*\d*(?:\.\d+)?[diouxXeEfFgGcrsa]?)"},
    {kPlaceholder, kNothing,
     R"(\$\([^()\s]+(?: [^()\s]+){0,2}\)|\$[A-Za-z_]\w*(?:(?:->|::?)[A-Za-z_]\w*|\.[a-z_]\w*|\[[^\[\]\s]+\])*(?:/[\w.@-]+)*)",
     kTrims},
    {kPlaceholder, kNothing, R"((?:\d+(?:[.,]\d+)*)?%%)"},
    {kPlaceholder, kDigit,
     R"(%\d{1,2}\$[-+#0']*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh?|ll?|[qjztL])?[diouxXeEfFgGaAcspn@])"},
    {kPlaceholder, kDigit,
     R"(%[-+#0']*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh?|ll?|[qjztL]|I(?:64|32))?)"
     R"([diouxXeEfFgGaAcspn@])",
     kInOrder},
    {kPlaceholder, kDigit, "%[-+#0]*\\d*(?:vd|[rvqtTw])", kWholeWord | kInOrder},
    {kPlaceholder, kDigit, R"(%\d{1,2}:[-\d.]*[sdfgmnux])", kWholeWord},
    {kPlaceholder, kDigit, R"(%L?\d{1,2}|%\|[\d$.+-]*[A-Za-z]?\|)"},
    // Regular expressions.
    {kCode, kVisible, R"(/?\^[^\s$]+\$(?:/[a-z]*)?)"},
    {kCode, kNothing, CLASS "(?:[-.@_]?" CLASS ")*", kWholeWord},
    // Only in strings: "20 % d'intérêts", "said !yes", ":p", "[sic]" are prose.
    {kPlaceholder, kWord, R"('\{'[^{}']*'\}'|'\{[^{}']*\}')", kInStrings},
    // Of XAML.
    {kPlaceholder, kNothing,
     R"(\{(?:(?:Template)?Binding|(?:Static|Dynamic)Resource|x:[A-Z]\w+)\b)"
     R"((?:[^{}]|\{[^{}]*\})*\})",
     kInStrings},
    {kPlaceholder, kNumber, "% [+#0]*\\d*[di]", kWholeWord | kInStrings | kInOrder},
    {kPlaceholder, kDigit, "%[A-Z][A-Z0-9_]+", kWholeWord | kInStrings},
    {kPlaceholder, kWord,
     R"([:!][a-z][a-z0-9]*(?:_[a-z0-9]+)*[a-z0-9]|:[A-Z]\w+|~[A-Za-z]\w*~|\^\d|__[A-Za-z0-9_]+__)",
     kWholeWord | kInStrings},
    {kCode, kWord, R"(\[[A-Z][A-Z_]+\]\.\.\.(?: )" ARGUMENT R"((?:\.\.\.)?)*)", kInStrings},
    {kPlaceholder, kWord, R"(\[%?(?:[a-z_][\w.:-]*|[A-Z][A-Z_]+)\])", kInStrings},
    {kPlaceholder, kNothing, R"(\[/[a-z_][\w.:-]*\])", kInStrings},
    // Patterns of dates and numbers, which a program reads.
    {kCode, kWord,
     R"(h{1,2}:mm(?::ss)? a|)"
     R"((?:[yY]{2,4}|M{1,4}|[dD]{1,2}|E{1,4}|[Hh]{1,2}|m{2}|s{2}|S{1,3}))"
     R"((?:(?:[-./: T]|, ?|'T')(?:[yY]{2,4}|M{1,4}|[dD]{1,2}|E{1,4}|[Hh]{1,2}|m{2}|s{2}|S{1,3}|Z))+)",
     kWholeWord, IsDatePattern},
    {kCode, kWord, R"(#[#,]*0(?:\.[0#]+)?)", kWholeWord},
    {kHandle, kWord, R"(@[A-Za-z_][\w.-]*\w(?:/[\w.-]*\w)*(?:@[\w-]+(?:\.[\w-]+)+)?)"},
    {kHandle, kWord, R"(#[\p{L}_][\p{L}\p{N}_]*|#[0-9A-Fa-f]{6,8})"},
    {kCode, kWord, R"(#(?:[0-9A-Fa-f]{3,8}|\d{1,5})|\d{4}-\d\d-\d\d)", kWholeWord},
    {kCode, kNothing, R"((?:\[\d{1,3}\])+)"},  // notes
    {kTag, kWord, R"(\[([^\[\]\n]*\pL{2}[^\[\]\n]*)\])"},
    {kHandle, kWord, R"(:(?:[a-z][a-z0-9_+-]*|[+-]1|100):)"},
    // Prices: "$5", "US$30–40", "$1.5M", "1 000 €"; of "2020 $5" only the last.  In prose numbers
    // are the model's, which is checked for them (literal_check.h).
    {kCode, kWord,
     R"([-+−]?[A-Z]{0,3}\p{Sc})" SPACE "?" AMOUNT SCALE R"((?:[-–]\p{Sc}?)" AMOUNT SCALE
     ")?|" AMOUNT "(?:[-–]" AMOUNT ")?" SPACE R"(?\p{Sc}\B)",
     kWholeWord | kInStrings},
    {kCode, kWord, R"([A-Z]{1,3}\$\d+(?:[.,]\d+)*)", kWholeWord},
    // "$5-$10", "5-10%", "16:9", "4711-A", "12B", "6'2"", "100px"
    {kCode, kWord, R"(\p{Sc}\d+(?:[.,]\d+)*[-–]\p{Sc}\d+(?:[.,]\d+)*)", kWholeWord},
    {kCode, kWord, R"(\d{1,3}[-–]\d{1,3}%)"},
    {kCode, kWord, R"(\d{1,3}:\d(?:[-–]\d{1,3})?|\d{3,}-[A-Z]{1,3}|\d{1,4}[A-Z])", kWholeWord},
    {kCode, kWord, R"(\d{1,2}'\d{1,2}")"},
    {kCode, kWord,
     R"((?:[a-z]+(?:-[a-z]+)*: ?)?\d+(?:\.\d+)?(?:px|r?em|vh|vw|dpi|fps|[kMG]Hz|[kM]bps))",
     kWholeWord},
    {kCode, kWord, R"([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|0[xX][0-9A-Fa-f]+)",
     kWholeWord},
    {kCode, kWord,
     R"((?:sha\d+|md5):[0-9a-f]+|[0-9A-Fa-f]{12,}|[0-9a-f]{7,}|(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{1,4})",
     kWholeWord, IsHash},
    // Tags of languages, types of media.
    {kCode, kWord, "[a-z]{2}-(?:[A-Z][a-z]{3}-)?(?:[A-Z]{2}|419)", kWholeWord, IsLocale},
    {kCode, kWord,
     R"((?:application|audio|font|image|message|model|multipart|text|video)/)"
     R"((?:[\w.-]+\+(?:xml|json|zip)|(?:x-|vnd\.)[\w.-]*\w|octet-stream|form-data|event-stream|)"
     R"(json|xml|pdf|g?zip|javascript|html|css|plain|csv|markdown|png|jpeg|gif|webp|svg|mpeg|mp[34]|)"
     R"(ogg|wav|\*))",
     kWholeWord},
    {kCode, kWord, R"([A-Z]{2}\d{2}(?: [0-9A-Z]{4}){3,7}(?: [0-9A-Z]{1,3})?)", kWholeWord},  // IBAN
    {kCode, kWord, R"(97[89][- ]?(?:\d[- ]?){9}[\dXx])", kWholeWord},
    {kCode, kWord, R"(\+\d[\d ()/-]{5,18}\d)", kWholeWord},
    {kCode, kWord, R"((?:localhost|\d{1,3}(?:\.\d{1,3}){3})[:/]\d{1,5}(?:/[\w./?=&%#-]*[\w/])?)",
     kWholeWord},
    {kCode, kWord,
     R"([vV]\d+(?:\.\d+)*(?:[-+.]?\w+)*|\d+(?:\.\d+){2,}(?:[-+]?[A-Za-z]\w*(?:[.+-]\w+)*)?)",
     kWholeWord, IsVersion},
    {kCode, kWord, R"(\d{7,})", kWholeWord},
    // Times for machines, encodings; languages, "H2O" and "MP3"; keys, and names of programs.
    {kCode, kWord, R"(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)",
     kWholeWord},
    {kCode, kWord, R"(UTF-?(?:8|16|32)(?:LE|BE)?|ISO[- ]\d{3,5}(?:-\d+)*)", kWholeWord},
    {kCode, kWord,
     R"(C\+\+(?:\d\d)?|[CFJ]#|[A-Z]{1,4}(?:[/&][A-Z]{1,4})+|)"
     R"((?:[A-Z][a-z]?)+\d+(?:[A-Z][a-z]?\d*)+|(?:[A-Z][a-z]?){2,}\d+|[A-Z]\d{2,})",
     kWholeWord},
    {kCode, kWord,
     R"((?:(?:Ctrl|Control|Alt|Shift|Cmd|Command|Meta|Super|Win|Strg|Option|[⌘⌥⇧⌃])\+)+)"
     R"((?:(?:&(?:amp;)?)?\w+|[^\w\s])|Ctrl-\w)",
     kWholeWord},
    {kCode, kWord, R"([A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)*\(\))"},
    {kCode, kWord,
     R"([A-Za-z_]\w*(?:::[A-Za-z_]\w*)+|[a-z_]\w+(?:\.[A-Za-z_]\w+){2,}|)"
     R"([a-z_]\w*(?:\|[a-z_]\w*)+|[A-Z_]{2,}(?:\|[A-Z_]{2,})+)"},
    // What models write as other digits; degrees; "9–5"; "18+"; a telephone number; "-5".
    {kCode, kNothing, R"(\d*[¼-¾⅐-↉①-⓿]+)"},
    {kCode, kWord,
     R"([-+±−]?\d+(?:[.,]\d+)?[ \x{A0}]?°[CF]?|\d+(?:[x×]\d+)+|[a-z_]\w+\([1-8]\)|)"
     R"(\d{1,4}–\d{1,4}|\d+\+|(?:\d{3}-|\(\d{3}\) ?)?\d{3}-\d{4})",
     kWholeWord},
    {kCode, kVisible, R"([-−]\d{1,3})", kWholeWord},
    {kPath, kVisible, "/[a-z][a-z0-9_-]+", kWholeWord},
    // Of a spreadsheet; the years of a copyright.
    {kCode, kVisible, R"(=[A-Z][A-Z.]*\((?:[^()]|\([^()]*\))*\))"},
    {kCode, kWord, R"((?:©|\([cC]\)) ?\d{4}(?:[-–]\d{4})?|\(C\))", kWholeWord},
    // Formulas, "x²", "H₂O", but not the number of a note, "house²"; what is not written out,
    // "d*mn".
    {kCode, kWord, R"([A-Za-z]=[\w²³¹⁰-₎.+*/()-]*[\w²³¹⁰-₎)])"},
    {kCode, kWord, R"((?:\pL{1,2}|\d+)[²³¹⁰-₎]+(?:\w{1,2}[²³¹⁰-₎]*)*)", kWholeWord},
    {kBreak, kNothing, "[²³¹⁰-₎]+"},
    {kCode, kWord, R"(\pL{1,3}\*+\pL{1,3})", kWholeWord},
    {kCode, kWord, R"([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+(?:=[\w./:-]*\w)?)", kWholeWord},
    // What a program is called with, behind "Usage:"; and an option with its argument.
    {kCode, kWord, R"(((?:(?i:usage)|or):[ \t]+)\S+(?: [a-z][a-z-]*)?)" ARGUMENTS "(?m:$)",
     kInStrings | kInOrder},
    {kCode, kVisible, R"((?:--[a-z][a-z0-9-]*|-[A-Za-z])[ =])" ARGUMENT R"((?:\.\w+)?)",
     kWholeWord | kInStrings},
    {kCode, kWord, R"([A-Za-z_][\w.-]*=(?:"[^"\n]*"|'[^'\n]*'|[\w./:-]*\w))",
     kWholeWord | kInStrings},
    {kCode, kVisible,
     R"(--[a-z][a-z0-9]*(?:-[a-z0-9]+)+(?:=[\w./:-]*\w)?|--[a-z][a-z0-9]*=[\w./:-]*\w)"},
    // Calls with arguments, types, queries, commands, attributes.
    {kCode, kWord,
     R"([A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)*\((?:[^()\n]|\([^()\n]*\))*[,'"=_\d])"
     R"((?:[^()\n]|\([^()\n]*\))*\))",
     kInStrings},
    {kCode, kWord,
     R"([A-Z]?\w*(?:List|Map|Set|Array|Dict|Tuple|Vec|Vector|Promise|Option|Optional|Result|Record|)"
     R"(Future|Task|Iterator|Iterable|Collection|Enumerable|Observable|Union)(?:<[\w ,.:?<>]+>|)"
     R"(\[[A-Za-z][\w ,.\[\]]*\]))",
     kInStrings},
    {kCode, kWord,
     R"((?:SELECT [^;\n]* FROM|INSERT INTO|DELETE FROM|CREATE TABLE|DROP TABLE|UPDATE \S+ SET)\b[^;\n]*)",
     kInStrings},
    {kCode, kWord,
     R"((?:git|npm|npx|yarn|pnpm|pip3?|docker|cargo|brew|kubectl|apt-get) (?:install|add|remove|run|)"
     R"(build|test|commit|push|pull|clone|checkout|init|update|up|exec|apply|fetch|ci|publish|login))"
     R"((?: (?:-[\w-]+(?:=\S+)?|"[^"\n]*"|\S*[/@=]\S*))*)",
     kWholeWord | kInStrings},
    {kCode, kWord, R"(aria-[a-z]+|data-(?:test|id|src|name|value|toggle|target)[a-z]*(?:-[a-z]+)*)",
     kWholeWord | kInStrings},
    // Only in strings: "he said --but", "Vitamin -D", ".net", "COVID-19", "so:yes", "so.yes" and
    // "eBay" are prose.
    {kCode, kVisible,
     R"((?:-[A-Za-z?], ?)?--[a-z][a-z0-9]*(?:\[?=[A-Z]\w*\]?)?|-(?:D[A-Z]\w+(?:=\w+)?|[A-Za-z?])|\.[a-z]{2,}(?:[.-][a-z]+)*)",
     kWholeWord | kInStrings},
    {kCode, kWord,
     R"([yY]/[nN]|X(?:-[A-Z]\w+)+|Content-[A-Z]\w+|[a-z_]\w*(?:\.\w+)*(?:\[(?:\d+|[ijkn])\])+(?:\.\w+)*|)"
     R"((?:rgb|hsl)a?\([^()\n]*\)|[A-Z]{2,}-\d+(?:-\d+)*|[a-z]+\d[a-z\d]*|[a-z][a-z0-9]*(?::[a-z][a-z0-9-]*)+|[a-z]\w+(?:\.[a-z]\w+)+|)"
     R"([a-z]{2,}[a-z0-9]*[A-Z][A-Za-z0-9]*|F(?:[1-9]|1[0-2]))",
     kWholeWord | kInStrings},
    // Characters that are written out.  In prose "\n" and "\t" begin commands of TeX.
    {kBreak, kNothing, R"(_x[0-9A-Fa-f]{4}_)"},
    {kTag, kWord, R"(_([^_\s](?:[^_\n]*[^_\s])?)_)", kWholeWord},
    {kTag, kNothing, R"(&lt;/?[A-Za-z][^&<>\n]*(?:&quot;[^&<>\n]*)*&gt;)"},
    {kBreak, kNothing, R"(&(?:[A-Za-z][A-Za-z0-9]{1,31}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});)"},
    {kBetween, kNothing, R"(\.{4,})"},  // of a table of contents
    {kBetween, kNothing, R"((?:\\[nrt])+| {3,})", kInStrings},
    {kBreak, kWord, R"(\\(?:[nrt]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}))", kWholeWord},
    {kBreak, kNothing, R"(\\(?:[bfv0"'\\]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})|&&)", kInStrings},
    {kEmoji, kNothing,
     R"((?:[\x{1F000}-\x{1FAFF}\x{2600}-\x{27BF}\x{2B00}-\x{2BFF}\x{2190}-\x{21FF}\x{2300}-\x{23FF}])"
     R"([\x{FE0E}\x{FE0F}\x{200D}\x{20E3}\x{1F3FB}-\x{1F3FF}\x{E0020}-\x{E007F}]*)+|)"
     R"([0-9#*]\x{FE0F}?\x{20E3})"},
    {kEmoji, kVisible, R"([:;]-?[()DPp]|<3)", kWholeWord},
    {kInvisible, kNothing,
     R"([\x{AD}\x{200B}-\x{200F}\x{202A}-\x{202E}\x{2060}\x{2066}-\x{2069}\x{FEFF}\x{FE0E}\x{FE0F}]+)"},
};

#undef BB_TAG
#undef WORDS_WITH
#undef ARGUMENT
#undef ARGUMENTS
#undef CODE_IN
#undef CODE_ELEMENT
#undef SMALL
#undef CLASS
#undef SIGNED
#undef URL_CHARACTER
#undef SPACE
#undef AMOUNT
#undef SCALE

bool Counts(const Pattern& pattern, TextSource source) {
  return (pattern.flags & kInStrings) == 0 || source == TextSource::kStrings;
}

// Each is compiled when it is first used: all together would take the time of ten sentences.
const RE2& RegexOf(size_t pattern) {
  static std::once_flag once[std::size(kPatterns)];
  static const RE2* regexes[std::size(kPatterns)];
  std::call_once(once[pattern],
                 [pattern] { regexes[pattern] = new RE2(kPatterns[pattern].regex, RE2::Quiet); });
  return *regexes[pattern];
}

// Any of the patterns.
const RE2& AnyOf(TextSource source) {
  static std::once_flag once[2];
  static const RE2* any[2];
  const auto i = static_cast<size_t>(source);
  std::call_once(once[i], [source, i] {
    RE2::Options options(RE2::Quiet);
    options.set_max_mem(128 << 20);  // the most; it is taken as texts need it
    std::string all;
    for (const Pattern& pattern : kPatterns) {
      if (!Counts(pattern, source)) continue;
      all.append(all.empty() ? "(?:" : "|(?:").append(pattern.regex).append(")");
    }
    any[i] = new RE2(all, options);
  });
  return *any[i];
}

bool MayFollow(std::string_view before, NotAfter not_after) {
  if (not_after == kNumber) {
    before = before.substr(0, before.find_last_not_of(' ') + 1);
    not_after = kDigit;
  }
  if (before.empty() || not_after == kNothing) return true;
  const char32_t c = LastCodePoint(before);
  if (not_after == kVisible) {
    return IsWhiteSpace(c) ||
           (c < 0x80 &&
            std::string_view("([{|/,\"'`").find(static_cast<char>(c)) != std::string_view::npos);
  }
  if (c >= '0' && c <= '9') return false;
  return not_after == kDigit || !(IsWordCharacter(c) || c == '_');
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

// The size of an address or path up to a brace that does not close in it: "/etc/{{" of "/etc/{{
// name }}", where a placeholder begins.
size_t BeforeOpenBrace(std::string_view match) {
  size_t first = match.size(), open = 0;
  for (size_t i = 0; i < match.size(); ++i) {
    if (match[i] == '{' && open++ == 0) first = i;
    if (match[i] == '}' && open > 0) --open;
  }
  if (open == 0) return match.size();
  constexpr std::string_view kBeforeBrace = "$#%@";
  return first > 1 && kBeforeBrace.find(match[first - 1]) != kBeforeBrace.npos ? first - 1 : first;
}

// Whether what a pattern has found at `begin` of the text is a literal.
bool Accepts(const Pattern& pattern, std::string_view text, size_t begin, std::string_view match) {
  if (match.empty() || !MayFollow(text.substr(0, begin), pattern.not_after)) return false;
  if (!pattern.accepts(match)) return false;
  return (pattern.flags & kWholeWord) == 0 || EndsWordAt(text, begin + match.size());
}

// Which pattern finds a literal at `begin` of the text, where they have together found *match; null
// if none does.  If all refuse that, *match becomes what another one finds there.
const Pattern* PatternOf(std::string_view text, size_t begin, TextSource source,
                         std::string_view* match) {
  constexpr size_t kFurther = 256;  // bytes
  for (const bool whole : {true, false}) {
    const std::string_view in = whole ? *match : text.substr(begin, kFurther);
    const re2::StringPiece all(in.data(), in.size());
    for (size_t p = 0; p < std::size(kPatterns); ++p) {
      const Pattern& pattern = kPatterns[p];
      if (!Counts(pattern, source)) continue;
      re2::StringPiece found;
      const RE2::Anchor anchor = whole ? RE2::ANCHOR_BOTH : RE2::ANCHOR_START;
      if (!RegexOf(p).Match(all, 0, all.size(), anchor, &found, 1)) continue;
      const std::string_view part(found.data(), found.size());
      if (!Accepts(pattern, text, begin, part)) continue;
      *match = part;
      return &pattern;
    }
  }
  return nullptr;
}

// What a group of the pattern finds in `match`; "" if it has none.
std::string_view InsideOf(const Pattern& pattern, std::string_view match) {
  const RE2& regex = RegexOf(static_cast<size_t>(&pattern - kPatterns));
  re2::StringPiece found[2];
  const re2::StringPiece all(match.data(), match.size());
  if (regex.NumberOfCapturingGroups() == 0 ||
      !regex.Match(all, 0, all.size(), RE2::ANCHOR_BOTH, found, 2)) {
    return "";
  }
  return {found[1].data(), found[1].size()};
}

// "b" begins with "<b>" and "&lt;b&gt;", and ends with "</b>".
void NameTag(std::string_view raw, Literal* tag) {
  raw.remove_prefix(raw[0] == '<' ? 1 : 4);
  const bool empty = raw.ends_with("/>") || raw.ends_with("/&gt;");
  if (!empty) tag->part = raw.starts_with('/') ? Literal::kCloses : Literal::kOpens;
  if (tag->part == Literal::kCloses) raw.remove_prefix(1);
  tag->name = raw.substr(0, raw.find_first_of(" \t\r\n/>&"));
}

// What was found and refused hides what begins within it no more, unless it is so long that looking
// again and again would take time.
constexpr size_t kLongestRefused = 64;  // bytes

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

bool IsAsciiLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// What may stand around a literal.
constexpr std::pair<std::string_view, std::string_view> kEnclosing[] = {{"(", ")"},
                                                                        {"[", "]"},
                                                                        {"<", ">"},
                                                                        {"\"", "\""},
                                                                        {"'", "'"},
                                                                        {"“", "”"},
                                                                        {"„", "“"},
                                                                        {"„", "”"},
                                                                        {"”", "”"},
                                                                        {"‘", "’"},
                                                                        {"‚", "‘"},
                                                                        {"«", "»"},
                                                                        {"« ", " »"},
                                                                        {"«\u00a0", "\u00a0»"},
                                                                        {"«\u202f", "\u202f»"},
                                                                        {"»", "«"},
                                                                        {"‹", "›"},
                                                                        {"›", "‹"},
                                                                        {"「", "」"},
                                                                        {"『", "』"},
                                                                        {"（", "）"},
                                                                        {"【", "】"},
                                                                        {"《", "》"},
                                                                        {"&quot;", "&quot;"},
                                                                        {"&#39;", "&#39;"},
                                                                        {"&lt;", "&gt;"},
                                                                        {"\\\"", "\\\""}};

// Joins placeholders with what touches them.
class Joiner {
 public:
  Joiner(std::string_view text, std::vector<Literal>* literals)
      : text_(text), literals_(*literals) {}

  void Join() {
    std::vector<Literal> all = std::exchange(literals_, {});
    for (size_t i = 0; i < all.size(); ++i) {
      Literal literal = all[i];
      if (literal.kind == kPlaceholder) {
        while (i + 1 < all.size() && Joins(literal, all[i + 1])) {
          literal.in_order = literal.in_order || all[i + 1].in_order;
          literal.span.end = all[++i].span.end;
        }
        Widen(First(), Next(all, i), &literal);
      }
      if (literal.kind < kEmoji && literal.kind != kTag) {
        Enclose(First(), Next(all, i), &literal.span);
      }
      literals_.push_back(literal);
      while (JoinPair()) {
        const size_t size = literals_.size();
        Enclose(size < 2 ? 0 : literals_[size - 2].span.end, Next(all, i), &literals_.back().span);
      }
    }
  }

 private:
  // "%d:%d", "{a}/{b}", "%s%%"
  bool Joins(const Literal& one, const Literal& next) const {
    constexpr size_t kMost = 3;  // bytes in between
    if (next.kind != kPlaceholder || next.span.begin > one.span.end + kMost) {
      return false;
    }
    const std::string_view between = text_.substr(one.span.end, next.span.begin - one.span.end);
    return between.find_first_not_of(":./,-+=&@#_|%*x") == between.npos;
  }

  // Where the last literal ends, and where the next one begins.
  size_t First() const { return literals_.empty() ? 0 : literals_.back().span.end; }
  size_t Next(const std::vector<Literal>& all, size_t i) const {
    return i + 1 < all.size() ? all[i + 1].span.begin : text_.size();
  }

  // Whether what begins there stands apart, or behind a bracket or quote.
  bool MayOpen(size_t first, size_t begin) const {
    return begin == first || begin == 0 || IsWhiteSpace(LastCodePoint(text_.substr(0, begin))) ||
           text_.substr(begin - 1, 1).find_first_of("([<\"'") == 0;
  }

  // "{size}MB", "{share}%", "{count}+", "$%d", "v%s", "&%s", and no-break spaces beside other than
  // punctuation; not beyond [first, end).
  void Widen(size_t first, size_t end, Literal* literal) const {
    constexpr std::u32string_view kBefore = U"$€£¥&#+-=~±≈vVx", kAfter = U"%+$€£¥°";
    constexpr std::u32string_view kFixed = U"\u00a0\u202f", kOpening = U"«‹";
    TextSpan& span = literal->span;
    const auto take_unit = [&] {
      size_t unit = span.end;
      while (unit < end && IsAsciiLetter(text_[unit])) ++unit;
      constexpr size_t kLongestUnit = 2;
      if (unit - span.end <= kLongestUnit && EndsWordAt(text_, unit)) span.end = unit;
      return unit == span.end;
    };
    while (take_unit() && span.end < end) {
      size_t next = span.end;
      if (kAfter.find(NextCodePoint(text_, &next)) == kAfter.npos) break;
      span.end = next;
    }
    if (span.end < end) {
      size_t next = span.end;
      const bool fixed = kFixed.find(NextCodePoint(text_, &next)) != kFixed.npos;
      size_t word = next;
      if (fixed && next < end && IsWordCharacter(NextCodePoint(text_, &word))) span.end = next;
    }
    const auto before = [&] { return text_.substr(first, span.begin - first); };
    const auto take = [&](std::u32string_view of) {
      size_t begin = span.begin;
      if (begin == first || of.find(LastCodePoint(before())) == of.npos) return begin;
      while ((text_[--begin] & 0xC0) == 0x80) {
      }
      return begin;
    };
    const size_t sign = take(kBefore);
    if (MayOpen(first, sign)) span.begin = sign;
    const size_t space = take(kFixed);
    if (space > first &&
        kOpening.find(LastCodePoint(text_.substr(first, space - first))) == kOpening.npos) {
      span.begin = space;
    }
  }

  // "({0})", "<https://example.org>", (“%s”).
  void Enclose(size_t first, size_t end, TextSpan* span) const {
    const std::string_view before = text_.substr(first, span->begin - first),
                           after = text_.substr(span->end, end - span->end);
    for (const auto& [open, close] : kEnclosing) {
      if (!before.ends_with(open) || !after.starts_with(close)) continue;
      if (open.size() == 1 && !MayOpen(first, span->begin - 1)) continue;
      span->begin -= open.size();
      span->end += close.size();
      return Enclose(first, end, span);
    }
  }

  // "<b>%s</b>", "&quot;%s&quot;": the last three, if they are a pair around a placeholder.
  bool JoinPair() {
    const size_t size = literals_.size();
    if (size < 3) return false;
    Literal& opening = literals_[size - 3];
    const Literal &inside = literals_[size - 2], &closing = literals_[size - 1];
    if (inside.kind != kPlaceholder || opening.kind != closing.kind ||
        opening.span.end != inside.span.begin || inside.span.end != closing.span.begin ||
        !IsPair(opening, closing)) {
      return false;
    }
    opening = {{opening.span.begin, closing.span.end}, inside.kind, inside.in_order};
    literals_.resize(size - 2);
    return true;
  }

  // "<b>" and "</b>"; an isolate and its end; quotes that are written out.
  bool IsPair(const Literal& opening, const Literal& closing) const {
    const std::string_view begin = text_.substr(opening.span.begin, opening.span.size());
    const std::string_view end = text_.substr(closing.span.begin, closing.span.size());
    if (closing.kind == kInvisible) return end == "\u2069" || end == "\u202C";
    if (closing.kind == kBreak) {
      return std::find(std::begin(kEnclosing), std::end(kEnclosing), std::pair(begin, end)) !=
             std::end(kEnclosing);
    }
    return opening.part == Literal::kOpens && closing.part == Literal::kCloses &&
           opening.name == closing.name;
  }

  const std::string_view text_;
  std::vector<Literal>& literals_;
};

// Makes a pair of "{link}" and "{/link}", "{{#if x}}" and "{{/if}}", "[b]" and "[/b]".
void PairBraces(std::string_view text, std::vector<Literal>* literals) {
  std::map<std::string_view, Literal*> open;
  for (Literal& literal : *literals) {
    std::string_view name = text.substr(literal.span.begin, literal.span.size());
    if (literal.kind != kPlaceholder || (name[0] != '{' && name[0] != '[')) {
      continue;
    }
    name.remove_prefix(std::min(name.find_first_not_of("{[#"), name.size()));
    const bool closes = name.starts_with('/');
    name = name.substr(closes, name.find_first_of(" }]") - closes);
    if (!closes) {
      open[name] = &literal;
    } else if (const auto other = open.extract(name); !other.empty()) {
      *other.mapped() = {other.mapped()->span, kTag, false, Literal::kOpens, name};
      literal = {literal.span, kTag, false, Literal::kCloses, name};
    }
  }
}

// Appends the literals of the text from `first` on, with nothing joined.
void Find(std::string_view text, size_t first, TextSource source, std::vector<Literal>* literals) {
  const RE2& any = AnyOf(source);
  const re2::StringPiece all(text.data(), text.size());
  re2::StringPiece found;
  size_t window = kWindow;
  for (size_t begin = first; begin < text.size();) {
    const size_t end = std::min(text.size(), begin + window);
    if (!any.Match(all, begin, end, RE2::UNANCHORED, &found, 1)) {
      begin = end == text.size() ? end : NextWindow(text, begin, end);
      continue;
    }
    const size_t at = static_cast<size_t>(found.data() - text.data());
    std::string_view match = text.substr(at, found.size());
    if (at + match.size() == end && end < text.size()) {
      window *= 2;  // it may go on
      continue;
    }
    window = kWindow;
    const Pattern* const pattern = PatternOf(text, at, source, &match);
    if (pattern == nullptr) {
      begin = at + (match.size() > kLongestRefused ? match.size() : 1);
      while (begin < text.size() && (text[begin] & 0xC0) == 0x80) ++begin;
      continue;
    }
    if (pattern->kind == kAddress || pattern->kind == kPath) {
      match = match.substr(0, BeforeOpenBrace(match));
    }
    const bool in_order = (pattern->flags & kInOrder) != 0;
    const size_t size = (pattern->flags & kTrims) != 0 ? Trimmed(match) : match.size();
    begin = at + match.size();
    const std::string_view inside = InsideOf(*pattern, match);
    if (inside.empty()) {
      if (size == 0) continue;
      Literal& literal = literals->emplace_back(Literal{{at, at + size}, pattern->kind, in_order});
      if (pattern->kind == kTag) NameTag(match, &literal);
      continue;
    }
    const size_t from = static_cast<size_t>(inside.data() - text.data());
    const size_t to = from + inside.size();
    const std::string_view name = text.substr(at, from - at);
    Literal behind = {{to, begin}, pattern->kind, in_order};
    if (from > at) {
      literals->push_back({{at, from}, kTag, false, Literal::kOpens, name});
      behind = {{to, begin}, kTag, false, Literal::kCloses, name};
    }
    Find(text.substr(0, to), from, source, literals);
    literals->push_back(behind);
  }
}

}  // namespace

std::vector<Literal> FindLiterals(std::string_view text, TextSource source, bool join) {
  std::vector<Literal> literals;
  Find(text, 0, source, &literals);
  PairBraces(text, &literals);
  if (join) Joiner(text, &literals).Join();
  return literals;
}

}  // namespace dragoman
