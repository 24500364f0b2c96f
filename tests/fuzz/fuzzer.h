// A fuzzer of this project is a function that takes arbitrary bytes and must neither crash, hang
// nor break its promises.
//
// libFuzzer calls it (cmake --preset fuzz, which requires clang).  replay.cc calls it with any
// compiler: first with the corpus, then with seeded random mutations of it.

#ifndef DRAGOMAN_TESTS_FUZZ_FUZZER_H_
#define DRAGOMAN_TESTS_FUZZ_FUZZER_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" __attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const uint8_t* data,
                                                                             size_t size);

// Must hold for every input.
#define FUZZ_CHECK(condition)                                                             \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)

#endif  // DRAGOMAN_TESTS_FUZZ_FUZZER_H_
