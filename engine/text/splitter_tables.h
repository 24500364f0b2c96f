// What the splitter (splitter.cc) knows of punctuation and languages.

#ifndef DRAGOMAN_ENGINE_TEXT_SPLITTER_TABLES_H_
#define DRAGOMAN_ENGINE_TEXT_SPLITTER_TABLES_H_

#include <cstddef>
#include <string_view>

namespace dragoman {

// The full stops of Chinese, Japanese, Burmese and Amharic, which end a sentence with or without
// spaces.
inline constexpr std::u32string_view kCjkTerminators = U"。！？｡．፧";

// Marks that may end a sentence if white space follows.
inline constexpr std::u32string_view kTerminators = U".!?…‥؟۔।॥։።။។";

// Closing marks belong to the sentence before them.  Quotes that open in some languages and close
// in others are in both tables: the side on which they touch a word decides.
inline constexpr std::u32string_view kClosers = U"\"'”’“‘»«›‹)]}」』）】》〉〕］";
inline constexpr std::u32string_view kOpeners = U"\"'“‘”„‚«»‹›([{¿¡「『（【《〈-–—•*";

// Persian, Urdu and Kurdish write the Arabic comma too, but with letters that Arabic lacks.  Only
// an Arabic sentence of so many words is divided, into clauses of so many.
inline constexpr char32_t kArabicComma = U'،';
inline constexpr std::u32string_view kForeignArabicLetters = U"پچژگکیےٹڈڑںھہۆێە";
inline constexpr size_t kLongArabicSentence = 25;
inline constexpr size_t kShortestClause = 4;

// Abbreviations whose dot never ends a sentence: English, German, French and Spanish ones.  Case
// matters.
inline constexpr std::string_view kAbbreviations[] = {
    // English
    "Adm", "Asst", "Bros", "Brig", "Capt", "Cmdr", "Col", "Cpl", "Dr", "Drs", "Gen", "Gov", "Hon",
    "Lt", "Maj", "Messrs", "Mr", "Mrs", "Ms", "Mt", "Ph", "Prof", "Pvt", "Rep", "Reps", "Rev",
    "Sen", "Sens", "Sgt", "Sr", "St", "Supt", "vs", "viz", "cf", "Cf", "approx", "dept", "Dept",
    "eds", "al", "e.g", "i.e",
    // German
    "Abb", "Abs", "Abt", "allg", "Allg", "bspw", "Bspw", "bzgl", "bzw", "ca", "Ca", "Dipl", "dt",
    "ehem", "engl", "ev", "evtl", "Evtl", "Fr", "Frl", "geb", "gegr", "ggf", "Ggf", "Hr", "Hrn",
    "Hrsg", "inkl", "Inkl", "insb", "jur", "kath", "Kap", "lat", "lt", "med", "nat", "phil", "rer",
    "röm", "sog", "Str", "tägl", "Tel", "urspr", "vgl", "Vgl", "zzgl", "Ing", "d.h", "z.B", "u.a",
    "o.ä",
    // French
    "MM", "Mgr", "Mlle", "Mlles", "Mme", "Mmes", "Ste", "av", "boul", "éd", "env", "ex", "tél",
    // Spanish
    "Sra", "Sras", "Sres", "Srta", "Srtas", "Dra", "Dña", "Ud", "Uds", "Vd", "Vds", "EE", "UU",
    "Gral", "Lic", "Avda", "pág", "Pág", "págs", "núm", "Núm", "p.ej", "Tel",
    // Italian
    "Amm", "Arch", "Avv", "Cav", "Dir", "Dott", "dott", "Dr.ssa", "Egr", "Geom", "Gent", "Ill",
    "On", "Prof.ssa", "Psicol", "psicol", "Rag", "Sig", "sig", "Sigg", "Spett", "ssa",
    // Danish, Dutch
    "bl.a", "dvs", "f.eks", "hr", "mht", "pga", "dhr", "mevr", "bijv", "nl",
    // Russian
    "акад", "бульв", "г", "гг", "гл", "гр", "д", "доц", "др", "им", "ин", "кв", "Кв", "корп", "м",
    "наб", "напр", "обл", "оз", "оф", "пгт", "пер", "пл", "пос", "пр", "просп", "проф", "р", "ред",
    "рис", "с", "см", "стр", "т.д", "т.е", "т.к", "т.н", "т.п", "тов", "ул", "ч", "шт"};

// Abbreviations that also end sentences, as many do in English: "in the U.S. He left."  A dot after
// one of them, after several single letters, or after "I", ends a sentence if one of these words
// follows.
inline constexpr std::string_view kStarters[] = {
    "A",        "After", "All",   "Although",  "An",  "And",     "As",       "At",      "Because",
    "Before",   "Both",  "But",   "By",        "Did", "Do",      "Does",     "Each",    "Finally",
    "For",      "From",  "He",    "His",       "How", "However", "Hundreds", "I",       "I'm",
    "I’m",      "If",    "In",    "Is",        "It",  "Its",     "Later",    "Let's",   "Many",
    "Millions", "More",  "Most",  "My",        "No",  "On",      "Our",      "Several", "She",
    "Since",    "So",    "Some",  "That",      "The", "Their",   "Then",     "There",   "These",
    "They",     "This",  "Those", "Thousands", "To",  "Was",     "We",       "Were",    "What",
    "When",     "Where", "While", "Who",       "Why", "With",    "Yes",      "You",     "Your"};
// After these, every word in upper case begins a sentence, unless it is an abbreviation.
inline constexpr std::string_view kHours[] = {"a.m", "p.m", "A.M", "P.M"};

// In names of companies: "GmbH & Co. KG", "Co. Ltd.".
inline constexpr std::string_view kBeforeCompanyForm[] = {"Co", "Cie"};
inline constexpr std::string_view kCompanyForms[] = {"KG",  "KGaA", "OHG", "Ltd",
                                                     "LLC", "Inc",  "SCA"};

// A full stop after these ends no sentence if a number follows: "No. 5", "Dec. 24".
inline constexpr std::string_view kBeforeNumber[] = {
    "No",   "no",   "Nos", "nos",  "Nr",   "nr",  "Nrn", "Art",  "art",   "pp",  "Vol", "vol",
    "Fig",  "fig",  "Sec", "sec",  "chap", "Ch",  "ch",  "Eq",   "eq",    "Bd",  "Jan", "Feb",
    "Mar",  "Apr",  "Jun", "Jul",  "Aug",  "Sep", "Oct", "Okt",  "Nov",   "Dec", "Dez", "vers",
    "Sept", "Ziff", "Rn",  "Aufl", "Tab",  "Nº",  "nº",  "N°",   "SEC",   "Ext", "ext", "Cra",
    "Ago",  "Lun",  "Mié", "Jue",  "Vie",  "Sáb", "Dom", "párr", "párrf", "mar", "lun", "mer",
    "gio",  "ven",  "sab", "dom",  "Nov",  "nov", "gen", "giu",  "lug",   "ott", "dic", "№",
    "p",    "P",    "pag", "c",    "str",  "стр", "кл",  "bd",   "nr",    "Rs",  "rs"};

// Words that follow or precede a German ordinal: "am 3. Mai", "der 2. Weltkrieg".
inline constexpr std::string_view kAfterOrdinal[] = {
    "Januar", "Jänner", "Februar",   "März",    "April",    "Mai",      "Juni",
    "Juli",   "August", "September", "Oktober", "November", "Dezember", "Jahrhundert"};
inline constexpr std::string_view kBeforeOrdinal[] = {
    "ab",    "am",  "Am",   "beim", "bis",  "Das",  "das",   "dem",   "den", "Den", "der",
    "Der",   "des", "die",  "Die",  "ein",  "eine", "einem", "einen", "im",  "Im",  "jeden",
    "jeder", "ihr", "mein", "sein", "seit", "und",  "unser", "vom",   "zum", "Zum", "zur"};

// What closes a quotation or a bracket.
struct Pair {
  char32_t opens;
  char32_t closes;
};
inline constexpr Pair kPairs[] = {{U'(', U')'},   {U'[', U']'},   {U'“', U'”'},   {U'„', U'“'},
                                  {U'„', U'”'},   {U'«', U'»'},   {U'（', U'）'}, {U'「', U'」'},
                                  {U'‘', U'’'},   {U'‚', U'‘'},   {U'‹', U'›'},   {U'『', U'』'},
                                  {U'【', U'】'}, {U'《', U'》'}, {U'〈', U'〉'}, {U'"', U'"'}};
inline constexpr size_t kLongestFootnote = 6;  // "11 12", in characters
inline constexpr size_t kDeepest = 16;         // of pairs within pairs
inline constexpr char32_t kGenitive = U'の';   // no sentence ends in it
inline constexpr std::u32string_view kBullets = U"•⁃‣◦▪";
// The longest one within which no sentence ends, in characters.
inline constexpr size_t kLongestQuote = 300;

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_SPLITTER_TABLES_H_
