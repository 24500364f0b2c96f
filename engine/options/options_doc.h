// The table of options in readable form.

#ifndef DRAGOMAN_ENGINE_OPTIONS_OPTIONS_DOC_H_
#define DRAGOMAN_ENGINE_OPTIONS_OPTIONS_DOC_H_

#include <string>

namespace dragoman {

// The table of docs/options.md: one line per option with its type, range, default and meaning.
std::string OptionsAsMarkdown();

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_OPTIONS_OPTIONS_DOC_H_
