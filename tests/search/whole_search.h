// The options and the rules of a search in one struct, for tests that set both.

#ifndef DRAGOMAN_TESTS_SEARCH_WHOLE_SEARCH_H_
#define DRAGOMAN_TESTS_SEARCH_WHOLE_SEARCH_H_

#include <memory>

#include "engine/search/search.h"

namespace dragoman {

// The naive implementations have no guard against repetition.
struct WholeSearch : SearchOptions, SearchRules {
  WholeSearch() { repetition_guard = false; }
};

// The task of searching for a sentence, without any further information about it.
inline SearchTask TaskOf(const WholeSearch& search) {
  SearchTask task;
  task.options = search;
  task.rules = std::make_shared<SearchRules>(search);
  return task;
}

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_SEARCH_WHOLE_SEARCH_H_
