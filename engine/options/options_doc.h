// The table of options as people read it.

#ifndef DRAGOMAN_ENGINE_OPTIONS_OPTIONS_DOC_H_
#define DRAGOMAN_ENGINE_OPTIONS_OPTIONS_DOC_H_

#include <string>

namespace dragoman {

// docs/options.md: a line for each option with its type, range, default and meaning.
std::string OptionsAsMarkdown();

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_OPTIONS_OPTIONS_DOC_H_
