// Suggestions for mistyped options, commands and names.

#ifndef DRAGOMAN_ENGINE_BASE_NEAREST_NAME_H_
#define DRAGOMAN_ENGINE_BASE_NEAREST_NAME_H_

#include <string>
#include <vector>

namespace dragoman {

// The one of `names` that is the fewest edits away from `word`; the first of several.  An edit
// inserts, deletes or replaces a character, or swaps two neighbours.  Empty if even that one takes
// more edits than a third of the word's characters: then it is unlikely to be what was meant,
// unless the word is the beginning of a name ("--target" of "--target-language").
std::string NearestName(const std::string& word, const std::vector<std::string>& names);

// "; did you mean --beam-size?", or empty if no name is close.
std::string DidYouMean(const std::string& word, const std::vector<std::string>& names);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_NEAREST_NAME_H_
