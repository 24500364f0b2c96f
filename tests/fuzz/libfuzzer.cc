// What libFuzzer calls: the fuzzer that DRAGOMAN_FUZZER names.

#include "tests/fuzz/fuzzer.h"

extern "C" __attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const uint8_t* data,
                                                                             size_t size) {
  static dragoman::Fuzzer* const fuzzer = dragoman::FindFuzzer(std::getenv("DRAGOMAN_FUZZER"));
  fuzzer(data, size);
  return 0;
}
