#include "documents/plural_forms.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "documents/source_text.h"

namespace dragoman {
namespace {

struct PluralRule {
  std::string_view languages;  // with a space on either side of each
  size_t forms;
  std::string_view plural;  // the form for n things, in C
};

// As msginit of gettext writes them.
constexpr PluralRule kPluralRules[] = {
    {" pt-br ak am bh fa fil fr gun hy ln mfe mg mi nso oc ti tr uz wa zu ", 2, "(n > 1)"},
    {" is ", 2, "(n%10!=1 || n%100==11)"},
    {" mk ", 2, "(n==1 || n%10==1 ? 0 : 1)"},
    {" id ja ka ko lo ms my su th vi yue zh ", 1, "0"},
    {" cs sk ", 3, "(n==1 ? 0 : n>=2 && n<=4 ? 1 : 2)"},
    {" be bs hr ru sh sr uk ", 3,
     "(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2)"},
    {" lt ", 3, "(n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2)"},
    {" lv ", 3, "(n%10==1 && n%100!=11 ? 0 : n!=0 ? 1 : 2)"},
    {" pl ", 3, "(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2)"},
    {" mo ro ", 3, "(n==1 ? 0 : (n==0 || (n%100>0 && n%100<20)) ? 1 : 2)"},
    {" sl ", 4, "(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3)"},
    {" cy ", 4, "(n==1 ? 0 : n==2 ? 1 : n!=8 && n!=11 ? 2 : 3)"},
    {" gd ", 4, "(n==1 || n==11 ? 0 : n==2 || n==12 ? 1 : n>2 && n<20 ? 2 : 3)"},
    {" mt ", 4, "(n==1 ? 0 : n==0 || (n%100>1 && n%100<11) ? 1 : n%100>10 && n%100<20 ? 2 : 3)"},
    {" ga ", 5, "(n==1 ? 0 : n==2 ? 1 : n<7 ? 2 : n<11 ? 3 : 4)"},
    {" ar ", 6,
     "(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5)"}};

PluralRule RuleOf(std::string_view tag) {
  std::string whole(tag);
  absl::AsciiStrToLower(&whole);
  for (char& c : whole) c = c == '_' ? '-' : c;
  for (const std::string& name : {whole, whole.substr(0, whole.find('-'))}) {
    for (const PluralRule& rule : kPluralRules) {
      if (IsAmong(name, rule.languages)) return rule;
    }
  }
  return {"", 2, "(n != 1)"};
}

}  // namespace

size_t UsualPluralForms(std::string_view tag) { return RuleOf(tag).forms; }

std::string UsualPluralRule(std::string_view tag) {
  const PluralRule rule = RuleOf(tag);
  return absl::StrCat("nplurals=", rule.forms, "; plural=", std::string(rule.plural), ";");
}

}  // namespace dragoman
