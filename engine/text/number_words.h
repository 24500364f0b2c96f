// How languages write small numbers in words, as far as it takes to see that a translation may have
// spelled a number out (literal_check.cc).

#ifndef DRAGOMAN_ENGINE_TEXT_NUMBER_WORDS_H_
#define DRAGOMAN_ENGINE_TEXT_NUMBER_WORDS_H_

#include <string_view>

namespace dragoman {

// The beginnings of the words of a language, in lower case, with '|' between them: cardinals,
// ordinals, and those of tens ("thirty" is with 3).
struct NumberWords {
  std::string_view language;   // of a tag: "de"
  std::string_view words[13];  // of 0 to 12
  std::string_view hundred, thousand;
};

inline constexpr NumberWords kNumberWords[] = {
    {"en",
     {"zero|no", "one|first|once|single|a", "two|second|twic|twen|doubl|both|pair|coupl",
      "thre|thir|tripl", "four|for", "fiv|fif", "six", "seven", "eight", "nin", "ten", "eleven",
      "twelve|twelf|dozen"},
     "hundr",
     "thousand"},
    {"de",
     {"null|kein", "ein|erst", "zwei|zwan|zwo|beid|doppel|paar", "drei|dritt", "vier", "fünf|fuenf",
      "sech", "sieb", "acht", "neun", "zehn", "elf", "zwölf|zwoelf|dutzend"},
     "hundert",
     "tausend"},
    {"fr",
     {"zéro|aucun", "un|premi", "deux|second|vingt|douz|double|paire",
      "trois|trei|tier|trent|triple", "quatr|quat|quar", "cinq|quinz", "six|sei|soixant",
      "sept|soixant", "huit|quatre|octant", "neuf|neuv|quatre|nonant", "dix", "onz", "douz"},
     "cent",
     "mill"},
    {"es",
     {"cero|ning", "un|prim|sol", "dos|segund|vein|doc|dobl|amb|par", "tre|terc|trip",
      "cuatr|cuar|cator", "cinc|quin", "sei|sex|sesen|dieciséi", "siet|sépt|sept|seten", "och|oct",
      "nuev|nov|nueve", "diez|diec|déc|dec", "onc|undéc", "doc|duodéc"},
     "cien|quinien",
     "mil"},
    {"it",
     {"zero|nessun", "un|prim", "due|second|vent|dodic|dopp|entramb|coppi", "tre|terz|tredic",
      "quattr|quart|quarant", "cinqu|quint|quindic", "sei|sest|sessant|sedic", "sett", "ott",
      "nov|non", "diec|decim", "undic", "dodic"},
     "cent",
     "mil"},
    {"pt",
     {"zero|nenhum", "um|primeir", "doi|dua|segund|vint|dobr|amb|doz",
      "trê|trei|trez|terceir|trint", "quatr|quart|quarent|catorz", "cinc|quint|quinz",
      "seis|sext|sessent|dezesseis", "sete|sétim", "oit", "nov|non", "dez|décim", "onz", "doz"},
     "cem|cent|quinhent",
     "mil"},
    {"nl",
     {"nul|geen", "een|één|eén|eerst", "twee|twin|beid|dubbel|paar", "drie|der", "vier|veer",
      "vijf", "zes", "zeven", "acht|tacht", "neg", "tien", "elf", "twaalf|dozijn"},
     "honderd",
     "duizend"},
    {"sv",
     {"noll|ing", "en|ett|först", "två|andr|tju|båd|dubb|par", "tre|tred|trett", "fyr|fjor|fjärd",
      "fem", "sex|sjätt", "sju", "åtta|åtto|arton", "ni", "tio", "elv", "tolv|dussin"},
     "hundra",
     "tusen"},
    {"pl",
     {"zer|żad", "jed|pierw", "dw|drug|ob", "trz", "czter|czwart", "pię|pią", "sześ|szós|szes",
      "sied|siód", "os|ós", "dziew", "dzies|dzieś", "jedena", "dwana|tuzin"},
     "st|set",
     "tysi"},
    {"cs",
     {"nul|žádn", "jed|prvn", "dv|druh|ob|pár", "tř", "čty|čtvr", "pět|pát|pad|patn",
      "šest|šes|šed", "sedm|sedum", "osm|osum", "dev", "deset|desát|desít", "jedenác",
      "dvanác|tucet"},
     "st|set",
     "tisíc"},
    {"ru",
     {"нол|нул", "од|перв", "дв|втор|об|пар", "тр", "четыр|четв|сорок", "пят", "шест", "сем|седьм",
      "вос", "девят|девян", "десят", "одиннадцат", "двенадцат|дюжин"},
     "ст|сот",
     "тысяч"},
    {"uk",
     {"нул", "од|перш", "дв|друг|об|пар", "тр", "чотир|четв|сорок", "п'ят|п’ят", "шіст|шест|шост",
      "сім|сьом|сем", "вісім|восьм|вісьм", "дев'ят|дев’ят", "десят", "одинадцят",
      "дванадцят|дюжин"},
     "ст|сот",
     "тисяч"},
    {"ja",
     {"〇|零", "一|壱|ひと", "二|ふた|両", "三|みっ", "四|よっ", "五|いつ", "六|むっ", "七|なな",
      "八|やっ", "九|ここの", "十|とお", "十一", "十二"},
     "百",
     "千"},
    {"zh",
     {"〇|零", "一|壹", "二|两|兩|貳|双|雙", "三|叁", "四|肆", "五|伍", "六|陆|陸", "七|柒",
      "八|捌", "九|玖", "十|拾", "十一", "十二"},
     "百|佰",
     "千|仟"},
};

// Beginnings of words for millions, halves and quarters, in any language.
inline constexpr std::string_view kMillions =
    "million|milliar|miljo|milj|millón|milió|milion|мил|міл|mio|百万|亿|億";
inline constexpr std::string_view kParts =
    "hal|anderthalb|drei|viert|demi|quart|medi|cuart|mezz|mei|kwart|kvart|pół|pol|wpół|půl|čtvrt|"
    "пол|четв|пів|чверт|半";

// Words that a number goes with to mean a greater one ("1.5 million"), in any of these languages:
// their beginnings; those of up to three letters as they are.
inline constexpr std::string_view kScales[] = {
    "thousand", "million", "milliar", "millón", "billion", "trillion", "tausend", "mio",   "mrd",
    "bn",       "k",       "mille",   "mil",    "bilh",    "bilj",     "miljo",   "milj",  "miliar",
    "milion",   "tysi",    "tys",     "tisíc",  "тыс",     "млн",      "млрд",    "милли", "тис",
    "мільйо",   "мільяр",  "duizend", "tusen",  "万",      "萬",       "億",      "亿",    "千"};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_NUMBER_WORDS_H_
