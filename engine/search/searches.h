// What makes each kind of search but the plain one (beam.h), in a file of its own.

#ifndef DRAGOMAN_ENGINE_SEARCH_SEARCHES_H_
#define DRAGOMAN_ENGINE_SEARCH_SEARCHES_H_

#include <memory>

#include "engine/search/search.h"

namespace dragoman {

std::unique_ptr<Search> NewAlternatives(const SearchTask& task);
std::unique_ptr<Search> NewConstrainedBeam(const SearchTask& task);
std::unique_ptr<Search> NewDiverseBeam(const SearchTask& task);
std::unique_ptr<Search> NewForced(const SearchTask& task);
std::unique_ptr<Search> NewSampler(const SearchTask& task);
std::unique_ptr<Search> NewShrinkingBeam(const SearchTask& task);

// The most hypotheses of a ConstrainedBeam that are alive: the beam size, or enough to give each
// bank one, up to 16 and the task's most.
int ConstrainedBeamWidth(const SearchTask& task);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_SEARCHES_H_
