// TBX (ISO 30042): a base of concepts, each of which has its terms in several languages.
//
//   <conceptEntry>
//     <langSec xml:lang="en"><termSec><term>house</term></termSec></langSec>
//     <langSec xml:lang="de"><termSec><term>Haus</term></termSec>
//                            <termSec><term>Gebäude</term></termSec></langSec>
//   </conceptEntry>
//
//   en-de   house    Haus | Gebäude        de-en   Haus     house
//                                                  Gebäude  house
//
// Older files say termEntry, langSet and tig or ntig for the same.  Nothing else of them is read.

#ifndef DRAGOMAN_SERVER_GLOSSARIES_TBX_H_
#define DRAGOMAN_SERVER_GLOSSARIES_TBX_H_

#include <string>

#include "absl/status/statusor.h"
#include "server/glossaries/glossary_text.h"

namespace dragoman {

// For everybody.  INVALID_ARGUMENT if it is no XML, or cannot be stored (CheckGlossary).
absl::StatusOr<GlossaryText> ParseTbx(const std::string& text);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GLOSSARIES_TBX_H_
