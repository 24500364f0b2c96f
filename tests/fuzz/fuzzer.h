// A fuzzer of this project is a function that takes arbitrary bytes and must neither crash, hang
// nor break its promises.  It is written as
//
//   FUZZER(yaml) { ... data, size ... }
//
// in a file such as yaml_fuzzer.cc, and listed below.  All of them are one program, dragoman-fuzz:
// libFuzzer calls the one that DRAGOMAN_FUZZER names (libfuzzer.cc; cmake --preset fuzz, which
// requires clang); replay.cc calls it with any compiler, first with the corpus, then with seeded
// random mutations of it.

#ifndef DRAGOMAN_TESTS_FUZZ_FUZZER_H_
#define DRAGOMAN_TESTS_FUZZ_FUZZER_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#define FUZZER(name) void Fuzz_##name(const uint8_t* data, size_t size)

// tests/fuzz/CMakeLists.txt reads the names from here; each has a directory in corpus/.
#define DRAGOMAN_FUZZERS(F) \
  F(config)                 \
  F(ctranslate2)            \
  F(document)               \
  F(html)                   \
  F(http)                   \
  F(marian_file)            \
  F(model_files)            \
  F(npz)                    \
  F(piece_model)            \
  F(request)                \
  F(safetensors)            \
  F(shortlist)              \
  F(token_file)             \
  F(tokenizer_json)         \
  F(torch_file)             \
  F(torch_pickle)           \
  F(vocabulary)             \
  F(xml)                    \
  F(yaml)                   \
  F(zip)

#define DRAGOMAN_DECLARE_FUZZER(name) FUZZER(name);
DRAGOMAN_FUZZERS(DRAGOMAN_DECLARE_FUZZER)
#undef DRAGOMAN_DECLARE_FUZZER

namespace dragoman {

using Fuzzer = void(const uint8_t* data, size_t size);

// The fuzzer of that name, or exits with the names.
inline Fuzzer* FindFuzzer(const char* name) {
  static constexpr struct {
    std::string_view name;
    Fuzzer* fuzzer;
  } kFuzzers[] = {
#define DRAGOMAN_NAME_FUZZER(name) {#name, Fuzz_##name},
      DRAGOMAN_FUZZERS(DRAGOMAN_NAME_FUZZER)
#undef DRAGOMAN_NAME_FUZZER
  };
  for (const auto& [known, fuzzer] : kFuzzers) {
    if (name != nullptr && known == name) return fuzzer;
  }
  std::fprintf(stderr, "no fuzzer is named \"%s\"; there are:", name == nullptr ? "" : name);
  for (const auto& [known, fuzzer] : kFuzzers) std::fprintf(stderr, " %s", known.data());
  std::fprintf(stderr, "\n");
  std::exit(1);
}

}  // namespace dragoman

// Must hold for every input.
#define FUZZ_CHECK(condition)                                                             \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)

#endif  // DRAGOMAN_TESTS_FUZZ_FUZZER_H_
