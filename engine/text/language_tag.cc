#include "engine/text/language_tag.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace dragoman {
namespace {

// Codes of languages that have a shorter or newer one: ISO 639-2 and 639-3 to 639-1, the individual
// language that usually represents a macrolanguage (CLDR: "arb" is "ar"), withdrawn codes ("iw"),
// and pairs that translation models do not distinguish ("nb" and "no", "fil" and "tl").
constexpr char kShorter[] =
    "aar:aa abk:ab afr:af aka:ak alb:sq als:sq amh:am ara:ar arb:ar arg:an arm:hy asm:as ava:av "
    "ave:ae aym:ay ayr:ay aze:az azj:az bak:ba bam:bm baq:eu bel:be ben:bn bis:bi bod:bo bos:bs "
    "bre:br bul:bg bur:my cat:ca ces:cs cha:ch che:ce chi:zh chu:cu chv:cv cmn:zh cor:kw cos:co "
    "cre:cr cym:cy cze:cs dan:da deu:de div:dv dut:nl dzo:dz ekk:et ell:el eng:en epo:eo est:et "
    "eus:eu ewe:ee fao:fo fas:fa fij:fj fil:tl fin:fi fra:fr fre:fr fry:fy ful:ff fuv:ff gaz:om "
    "geo:ka ger:de gla:gd gle:ga glg:gl glv:gv gre:el grn:gn gug:gn guj:gu hat:ht hau:ha hbs:sh "
    "heb:he her:hz hin:hi hmo:ho hrv:hr hun:hu hye:hy ibo:ig ice:is ido:io iii:ii iku:iu ile:ie "
    "in:id ina:ia ind:id ipk:ik isl:is ita:it iw:he jav:jv ji:yi jpn:ja jw:jv kal:kl kan:kn "
    "kas:ks kat:ka kau:kr kaz:kk khk:mn khm:km kik:ki kin:rw kir:ky kmr:ku kom:kv kon:kg kor:ko "
    "kua:kj kur:ku lao:lo lat:la lav:lv lim:li lin:ln lit:lt ltz:lb lub:lu lug:lg lvs:lv mac:mk "
    "mah:mh mal:ml mao:mi mar:mr may:ms mkd:mk mlg:mg mlt:mt mo:ro mon:mn mri:mi msa:ms mya:my "
    "nau:na nav:nv nb:no nbl:nr nde:nd ndo:ng nep:ne nld:nl nno:nn nob:no nor:no npi:ne nya:ny "
    "oci:oc oji:oj ori:or orm:om ory:or oss:os pan:pa pbt:ps per:fa pes:fa pli:pi plt:mg pol:pl "
    "por:pt pus:ps que:qu quy:qu roh:rm ron:ro rum:ro run:rn rus:ru sag:sg san:sa scc:sr scr:hr "
    "sin:si slk:sk slo:sk slv:sl sme:se smo:sm sna:sn snd:sd som:so sot:st spa:es sqi:sq srd:sc "
    "srp:sr ssw:ss sun:su swa:sw swe:sv swh:sw tah:ty tam:ta tat:tt tel:te tgk:tg tgl:tl tha:th "
    "tib:bo tir:ti ton:to tsn:tn tso:ts tuk:tk tur:tr tw:ak twi:ak uig:ug ukr:uk urd:ur uzb:uz "
    "uzn:uz ven:ve vie:vi vol:vo wel:cy wln:wa wol:wo xho:xh ydd:yi yid:yi yor:yo zha:za zho:zh "
    "zsm:ms zul:zu ";

// ISO 639-5: families of languages, and "mul", several languages.
constexpr char kGroups[] =
    "aav afa alg alv apa aqa aql art ath auf aus awd azc bad bai bat ber bih bnt btk cai cau "
    "cba ccn ccs cdc cdd cel cmc cpe cpf cpp crp csu cus day dmn dra egx esx euq fiu fox gem "
    "gme gmq gmw grk hmx hok hyx iir ijo inc ine ira iro itc jpx kar kdo khi kro map mkh mno "
    "mul mun myn nah nai ngf nic nub omq omv oto paa phi plf poz pqe pqw pra qwe roa sai sal "
    "sdv sem sgn sio sit sla smi son sqj ssa syd tai tbq trk tup tut tuw urj wak wen xgn xnd "
    "ypk zhx zle zls zlw znd ";

// Languages that are written in several scripts: the usual script, and the regions where another is
// usual.
constexpr char kScripts[] =
    "zh:Hans zh-TW:Hant zh-HK:Hant zh-MO:Hant yue:Hant sr:Cyrl sr-ME:Latn az:Latn uz:Latn pa:Guru "
    "pa-PK:Arab ks:Arab sd:Arab ku:Latn mn:Cyrl kk:Cyrl tt:Cyrl ky:Cyrl bs:Latn ace:Latn bjn:Latn "
    "kr:Latn min:Latn taq:Latn ar:Arab ms:Latn ha:Latn be:Cyrl crh:Latn iu:Cans ug:Arab tk:Latn";

// Scripts that are written from right to left, and languages of one script that are.
constexpr char kRightToLeft[] =
    "Adlm Arab Aran Hebr Mand Mend Nkoo Rohg Samr Syrc Thaa "
    "arc azb bal bqi ckb dv fa glk he khw lrc mzn nqo ota pnb prs ps skr syc ur yi ";

using TagTable = absl::flat_hash_map<std::string, std::string>;

TagTable ReadTable(absl::string_view text) {
  TagTable table;
  for (const absl::string_view entry : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> pair = absl::StrSplit(entry, ':');
    table.insert(pair);
  }
  return table;
}

const TagTable& Shorter() {
  static const auto* const kTable = new TagTable(ReadTable(kShorter));
  return *kTable;
}

const TagTable& Scripts() {
  static const auto* const kTable = new TagTable(ReadTable(kScripts));
  return *kTable;
}

bool IsGroup(const std::string& language) {
  static const auto* const kTable =
      new absl::flat_hash_set<std::string>(absl::StrSplit(kGroups, ' ', absl::SkipEmpty()));
  return kTable->count(language) > 0;
}

bool IsAlpha(const std::string& part, size_t length) {
  return part.size() == length && std::all_of(part.begin(), part.end(), absl::ascii_isalpha);
}

bool IsRegion(const std::string& part) {
  const bool digits =
      part.size() == 3 && std::all_of(part.begin(), part.end(), absl::ascii_isdigit);
  return digits || IsAlpha(part, 2);
}

}  // namespace

std::string Language::LikelyScript() const {
  if (!script.empty()) return script;
  const auto& scripts = Scripts();
  auto it = scripts.find(language + "-" + region);
  if (it == scripts.end()) it = scripts.find(language);
  return it != scripts.end() ? it->second : "";
}

std::optional<Language> ParseLanguage(std::string_view code) {
  const std::vector<std::string> parts =
      absl::StrSplit(absl::string_view(code.data(), code.size()), absl::ByAnyChar("-_"));
  Language result;
  result.language = absl::AsciiStrToLower(parts[0]);
  if (!IsAlpha(parts[0], 2) && !IsAlpha(parts[0], 3)) return std::nullopt;
  if (IsGroup(result.language)) return std::nullopt;
  const auto it = Shorter().find(result.language);
  if (it != Shorter().end()) result.language = it->second;
  size_t next = 1;
  if (next < parts.size() && IsAlpha(parts[next], 4)) {
    result.script = absl::AsciiStrToLower(parts[next++]);
    result.script[0] = absl::ascii_toupper(result.script[0]);
  }
  if (next < parts.size() && IsRegion(parts[next])) {
    const std::string region = absl::AsciiStrToUpper(parts[next]);
    if (region != "XX") result.region = region;  // some models write XX for "no region"
  }
  return result;
}

std::string TagOf(const std::string& code) {
  const std::optional<Language> language = ParseLanguage(code);
  if (!language.has_value()) return code;
  const auto usual = Scripts().find(language->language);
  const std::string script = language->LikelyScript();
  // A language that is written in only one script needs no script in its tag.
  if (usual == Scripts().end() || script == usual->second) return language->language;
  return absl::StrCat(language->language, "-", script);
}

bool IsRightToLeft(std::string_view code) {
  const std::optional<Language> language = ParseLanguage(code);
  if (!language.has_value()) return false;
  const std::string script = language->LikelyScript();
  const std::string& known = script.empty() ? language->language : script;
  return std::string_view(kRightToLeft).find(known + " ") != std::string_view::npos;
}

int Nearness(const Language& wanted, const Language& served) {
  if (wanted.language != served.language) return 0;
  const bool same_script = wanted.LikelyScript() == served.LikelyScript() ||
                           wanted.script.empty() || served.script.empty();
  const bool exact_script = wanted.LikelyScript() == served.LikelyScript();
  const bool same_region = wanted.region == served.region;
  return 1 + 4 * (exact_script ? 1 : 0) + 2 * (same_script ? 1 : 0) + (same_region ? 1 : 0);
}

std::optional<std::pair<std::string, std::string>> ParseLanguagePair(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c == '-' || c == '_') continue;
    if (c < 'a' || c > 'z') return std::nullopt;
    letters.push_back(c);
  }
  if (letters.size() != 4) return std::nullopt;
  std::pair<std::string, std::string> pair = {letters.substr(0, 2), letters.substr(2)};
  const bool known = ParseLanguage(pair.first) && ParseLanguage(pair.second);
  return known && pair.first != pair.second ? std::optional(std::move(pair)) : std::nullopt;
}

bool IsLanguage(const std::string& tag, const std::string& code) {
  if (tag.empty() || code.empty() || tag == code) return true;
  const std::optional<Language> wanted = ParseLanguage(tag), served = ParseLanguage(code);
  return wanted.has_value() && served.has_value() && Nearness(*wanted, *served) > 0;
}

}  // namespace dragoman
