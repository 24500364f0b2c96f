// The options and the rules of a search in one, so that a test sets both alike.

#ifndef DRAGOMAN_TESTS_SEARCH_WHOLE_SEARCH_H_
#define DRAGOMAN_TESTS_SEARCH_WHOLE_SEARCH_H_

#include <memory>

#include "engine/search/search.h"

namespace dragoman {

// Tests hold the searches to what others do, who have no guard against repetition.
struct WholeSearch : SearchOptions, SearchRules {
  WholeSearch() { repetition_guard = false; }
};

// The search of a sentence that nothing is known of.
inline SearchTask TaskOf(const WholeSearch& search) {
  SearchTask task;
  task.options = search;
  task.rules = std::make_shared<SearchRules>(search);
  return task;
}

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_SEARCH_WHOLE_SEARCH_H_
