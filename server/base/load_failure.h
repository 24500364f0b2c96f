// Why a version of a model was not loaded.

#ifndef DRAGOMAN_SERVER_BASE_LOAD_FAILURE_H_
#define DRAGOMAN_SERVER_BASE_LOAD_FAILURE_H_

namespace dragoman {

enum class LoadFailure {
  kNone,
  kMemory,  // it is too large
  kBroken,  // its files are wrong
  kGolden,  // it translates a golden sentence differently
};

// In metrics, the log and the API; "" for kNone.
constexpr const char* NameOf(LoadFailure failure) {
  constexpr const char* kNames[] = {"", "memory", "broken", "golden"};
  return kNames[static_cast<int>(failure)];
}

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_BASE_LOAD_FAILURE_H_
