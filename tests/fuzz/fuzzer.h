// What a fuzzer of this project is: a function that is given any bytes and must neither crash, hang
// nor break what it promises.
//
// libFuzzer calls it (cmake --preset fuzz, which wants clang), and so does replay.cc, with every
// compiler: the corpus, and then random changes of it from a seed.

#ifndef DRAGOMAN_TESTS_FUZZ_FUZZER_H_
#define DRAGOMAN_TESTS_FUZZ_FUZZER_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" __attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const uint8_t* data,
                                                                             size_t size);

// What must hold for any input.
#define FUZZ_CHECK(condition)                                                             \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)

#endif  // DRAGOMAN_TESTS_FUZZ_FUZZER_H_
