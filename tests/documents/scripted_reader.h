// Files translated by a script: in upper case, outside of tags, references and placeholders.

#ifndef DRAGOMAN_TESTS_DOCUMENTS_SCRIPTED_READER_H_
#define DRAGOMAN_TESTS_DOCUMENTS_SCRIPTED_READER_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "documents/document.h"

namespace dragoman {

std::string UpperCase(std::string_view text, PassageMarkup markup);

// The texts of the passages, or the error.
std::vector<std::string> TextsOf(PassageReader reader, std::string_view part,
                                 const DocumentOptions& options = {});

// The part, translated; or the error.
std::string TranslatedBy(const std::function<std::string(const Passage&)>& translate,
                         PassageReader reader, std::string_view part,
                         const DocumentOptions& options = {});
std::string InUpperCase(PassageReader reader, std::string_view part,
                        const DocumentOptions& options = {});
using ScriptedTranslator = std::function<std::string(const Passage&)>;
// Translators that no reader should trust, by name: they lose, repeat and move words and tags.
std::vector<std::pair<std::string, ScriptedTranslator>> BadTranslators();
// The options that a format cannot do without; with a target language, TMX and Xcode's catalogues
// have passages.
DocumentOptions ReaderOptions(const DocumentFormat& format);
// What is wrong with what a format does with a part, which may be damaged: it is refused, or its
// passages are in order, and what the scripts above make of it can be read again; "" if nothing is.
std::string FaultOf(const DocumentFormat& format, std::string_view bytes);
// With each text as its own translation.
std::string Unchanged(PassageReader reader, std::string_view part,
                      const DocumentOptions& options = {});

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_DOCUMENTS_SCRIPTED_READER_H_
