#include "documents/program_text.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "engine/base/patience.h"

namespace dragoman::program_text_test {
namespace {

// What is translated of a string, and what becomes of a translation.
std::pair<std::string, std::string> Through(const std::string& text, const std::string& translation,
                                            PassageMarkup markup = PassageMarkup::kNone) {
  Patience patience{DocumentOptions()};
  const Passage passage = ProgramText({.text = text, .markup = markup}, &patience);
  return {passage.text, passage.write == nullptr ? translation : passage.write(translation)};
}

using Pair = std::pair<std::string, std::string>;

TEST(ProgramText, AMnemonicIsPutBeforeALetter) {
  EXPECT_EQ(Through("&Open the door", "Öffne die Tür"), Pair("Open the door", "&Öffne die Tür"));
  EXPECT_EQ(Through("Close the &window", "Schließe das Fenster"),
            Pair("Close the window", "&Schließe das Fenster"));
  EXPECT_EQ(Through("_Save", "Datei sichern"), Pair("Save", "Datei _sichern"));
  EXPECT_EQ(Through("E_xit", "Beenden"), Pair("Exit", "_Beenden"));
  EXPECT_EQ(Through("~Open {0}", "{0} aufmachen"), Pair("Open {0}", "{0} ~aufmachen"));
  EXPECT_EQ(Through("&Open\tCtrl+O", "Aufmachen\tCtrl+O"),
            Pair("Open\tCtrl+O", "&Aufmachen\tCtrl+O"));
  EXPECT_EQ(Through("The cat\n&sleeps", "Die Katze\nschläft"),
            Pair("The cat\nsleeps", "Die Katze\n&schläft"));
  EXPECT_EQ(Through("&Open\nCtrl+O", "Auf\nCtrl+O"), Pair("Open\nCtrl+O", "&Auf\nCtrl+O"));
  EXPECT_EQ(Through("Ctrl+O\n&Open", "Ctrl+O\nAuf"), Pair("Ctrl+O\nOpen", "Ctrl+O\n&Auf"));
  EXPECT_EQ(Through("&Open\nit", "Öffne es\t"), Pair("Open\nit", "&Öffne es\t"));
  EXPECT_EQ(Through("{0}\t&Open", "Auf {0}"), Pair("{0}\tOpen", "&Auf {0}"));
  EXPECT_EQ(Through("&Open (Ctrl+O)", "Auf (Ctrl+O)"), Pair("Open (Ctrl+O)", "&Auf (Ctrl+O)"));
  EXPECT_EQ(Through("&1 The cat", "1 Die Katze"), Pair("1 The cat", "&1 Die Katze"));
  EXPECT_EQ(Through("&amp;Open <x1>it</x1>", "Öffne <x1>es</x1>", PassageMarkup::kXml),
            Pair("Open <x1>it</x1>", "&amp;Öffne <x1>es</x1>"));
}

TEST(ProgramText, OtherSignsAreNoMnemonics) {
  for (const std::string text :
       {"The cat && the dog", "AT&T", "Cats & dogs", "a&nbsp;b", "file_name", "__name__", "~/path",
        "https://a.de/?a=1&b=2", "_a or _b", "<a target=\"_blank\">the cat</a>", "Who? Me...?",
        "Press Ctrl+&S", "Undo &%s", "The &1"}) {
    EXPECT_EQ(Through(text, "x"), Pair(text, "x"));
  }
}

TEST(ProgramText, DotsStayAtTheEnd) {
  EXPECT_EQ(Through("Save as...", "Speichern unter"), Pair("Save as", "Speichern unter..."));
  EXPECT_EQ(Through("Save ~as…", "Sichern als."), Pair("Save as", "Sichern ~als…"));
}

TEST(ProgramText, PartsOfAPluralAreLines) {
  EXPECT_EQ(Through("no cats|one cat | %{count} cats", "keine\neine\n%{count} Katzen"),
            Pair("no cats\none cat\n%{count} cats", "keine|eine | %{count} Katzen"));
  EXPECT_EQ(Through("{0} None|{1} One|[2,*] Many", "Keine\nEine\nViele"),
            Pair("None\nOne\nMany", "{0} Keine|{1} Eine|[2,*] Viele"));
  EXPECT_EQ(Through("(0)[no cats];(1-7)[some]; (8-inf)[many cats];", "keine\neinige\nviele"),
            Pair("no cats\nsome\nmany cats", "(0)[keine];(1-7)[einige]; (8-inf)[viele];"));
  for (const std::string text : {"{count|cat|cats}", "The %|1$d| cats", "a || b", "a\n|b|", "|a|",
                                 "(1)[a] or (2)[b]", "(x)[a]", "(1)[]"}) {
    EXPECT_EQ(Through(text, "x"), Pair(text, "x"));
  }
}

TEST(ProgramText, BranchesOfAMessageAreLines) {
  const std::string message = "{n, plural, one {a dog} other {# '{'dogs'}'}}";
  const std::string lines =
      "<x1/>\na dog\n<x2/>\n{#} <x3 translate=\"no\">'{'</x3>dogs<x4 "
      "translate=\"no\">'}'</x4>\n<x5/>";
  EXPECT_EQ(Through(message, lines), Pair(lines, message));
  EXPECT_EQ(Through("the {name}", "l'{name} d'or"), Pair("the {name}", "l’{name} d'or"));
  EXPECT_EQ(Through("the '{'{name}", "l'{name}"), Pair("the '{'{name}", "l'{name}"));
}

}  // namespace
}  // namespace dragoman::program_text_test
