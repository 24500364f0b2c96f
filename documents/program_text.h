// What the strings of programs have around their words:
//
//   &Open the file...      passage   Open the file              "Öffne die Datei" -> &Öffne die
//   Datei... {0} none|{1} one cat   passages  none / one cat, on lines of one passage
//   {n, plural, one {a} other {b}}  passages  a / b, on lines, too (icu_message.h)
//
// A mnemonic (& of Qt and Windows, _ of GTK, ~ of others) is taken out, and put in front of the
// same letter of the translation if it has that, else of its first one.  Dots at the end that say
// that a dialog follows stay at the end.  The parts of a plural with bars (Laravel, Symfony,
// vue-i18n) are translated each by itself; the numbers in front of them stay.

#ifndef DRAGOMAN_DOCUMENTS_PROGRAM_TEXT_H_
#define DRAGOMAN_DOCUMENTS_PROGRAM_TEXT_H_

#include <string>
#include <string_view>

#include "documents/document.h"

namespace dragoman {

// The passage without all that; its translation gets it back.  `patience` counts its elements.
Passage ProgramText(Passage passage, Patience* patience);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_PROGRAM_TEXT_H_
