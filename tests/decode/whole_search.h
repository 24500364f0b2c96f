// The options and the rules of a search in one, so that a test sets both alike.

#ifndef DRAGOMAN_TESTS_DECODE_WHOLE_SEARCH_H_
#define DRAGOMAN_TESTS_DECODE_WHOLE_SEARCH_H_

#include "engine/decode/search_options.h"

namespace dragoman {

struct WholeSearch : SearchOptions, SearchRules {};

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_DECODE_WHOLE_SEARCH_H_
