// Which kind of search a task asks for.

#ifndef DRAGOMAN_ENGINE_SEARCH_MAKE_SEARCH_H_
#define DRAGOMAN_ENGINE_SEARCH_MAKE_SEARCH_H_

#include <memory>

#include "engine/search/search.h"

namespace dragoman {

std::unique_ptr<Search> MakeSearch(const SearchTask& task);

// The most hypotheses that this search will have alive at once.
int MaxLive(const SearchTask& task);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_MAKE_SEARCH_H_
