#include "tests/bench/ceilings.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <limits>
#include <map>

#include "absl/functional/function_ref.h"
#include "engine/math/matrix.h"
#include "engine/math/trial.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dragoman {
namespace {

// CPU seconds of the fastest of several runs: disturbances only make a run slower.
double Fastest(absl::FunctionRef<void()> run) {
  constexpr int kRuns = 10;
  double fastest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRuns; ++i) fastest = std::min(fastest, SecondsOf(run));
  return fastest;
}

constexpr int kSums = 12;  // enough to hide a latency of 6 cycles at two instructions a cycle
constexpr int64_t kTurns = 1 << 20;

#if defined(__x86_64__)

// Defines a function that repeats INSTRUCTION over kSums sums.  One asm names all of them, so they
// stay in registers.
#define DRAGOMAN_PEAK_LOOP(NAME, TARGET, VECTOR, INSTRUCTION)                                      \
  __attribute__((target(TARGET))) void NAME() {                                                    \
    VECTOR a = {}, b = {}, s0 = {}, s1 = {}, s2 = {}, s3 = {}, s4 = {}, s5 = {}, s6 = {}, s7 = {}; \
    VECTOR s8 = {}, s9 = {}, s10 = {}, s11 = {};                                                   \
    for (int64_t i = 0; i < kTurns; ++i) {                                                         \
      asm volatile(INSTRUCTION " %12, %13, %0\n" INSTRUCTION " %12, %13, %1\n" INSTRUCTION         \
                               " %12, %13, %2\n" INSTRUCTION " %12, %13, %3\n" INSTRUCTION         \
                               " %12, %13, %4\n" INSTRUCTION " %12, %13, %5\n" INSTRUCTION         \
                               " %12, %13, %6\n" INSTRUCTION " %12, %13, %7\n" INSTRUCTION         \
                               " %12, %13, %8\n" INSTRUCTION " %12, %13, %9\n" INSTRUCTION         \
                               " %12, %13, %10\n" INSTRUCTION " %12, %13, %11\n"                   \
                   : "+v"(s0), "+v"(s1), "+v"(s2), "+v"(s3), "+v"(s4), "+v"(s5), "+v"(s6),         \
                     "+v"(s7), "+v"(s8), "+v"(s9), "+v"(s10), "+v"(s11)                            \
                   : "v"(a), "v"(b));                                                              \
    }                                                                                              \
  }

DRAGOMAN_PEAK_LOOP(RepeatVnni, "avx512f,avx512vnni", __m512i, "vpdpbusd")
DRAGOMAN_PEAK_LOOP(RepeatBFloat16, "avx512f,avx512bf16", __m512, "vdpbf16ps")
DRAGOMAN_PEAK_LOOP(RepeatFma512, "avx512f", __m512, "vfmadd231ps")
DRAGOMAN_PEAK_LOOP(RepeatFma256, "avx2,fma", __m256, "vfmadd231ps")
#undef DRAGOMAN_PEAK_LOOP

double Operations(void (*repeat)(), int per_instruction) {
  return 1.0 * per_instruction * kSums * kTurns / Fastest(repeat);
}

double Peak(Precision precision) {
  const bool avx512 = __builtin_cpu_supports("avx512f");
  if (precision == Precision::kFloat32) {
    if (avx512) return Operations(RepeatFma512, 2 * 16);
    return __builtin_cpu_supports("fma") ? Operations(RepeatFma256, 2 * 8) : 0.0;
  }
  if (precision == Precision::kBFloat16) {
    return __builtin_cpu_supports("avx512bf16") ? Operations(RepeatBFloat16, 2 * 32) : 0.0;
  }
  return __builtin_cpu_supports("avx512vnni") ? Operations(RepeatVnni, 2 * 64) : 0.0;
}

__attribute__((target("avx512f"))) void Read512(const char* p, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 512) {
    asm volatile(
        "vmovdqu64 (%0), %%zmm0\n vmovdqu64 64(%0), %%zmm1\n vmovdqu64 128(%0), %%zmm2\n"
        "vmovdqu64 192(%0), %%zmm3\n vmovdqu64 256(%0), %%zmm4\n vmovdqu64 320(%0), %%zmm5\n"
        "vmovdqu64 384(%0), %%zmm6\n vmovdqu64 448(%0), %%zmm7\n" ::"r"(p + i)
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "memory");
  }
}

#else
double Peak(Precision) { return 0.0; }
#endif

// For any machine: independent sums that the compiler can vectorize.
void ReadWords(const char* p, size_t bytes) {
  uint64_t sums[8] = {};
  for (size_t i = 0; i < bytes; i += sizeof(sums)) {
    uint64_t words[8];
    std::memcpy(words, p + i, sizeof(words));
    for (int j = 0; j < 8; ++j) sums[j] += words[j];
  }
  asm volatile("" ::"r"(sums) : "memory");
}

}  // namespace

double MeasurePeak(Precision precision) { return Peak(Resolve(precision)); }

double PeakOperations(Precision precision) {
  static std::map<Precision, double> peaks;
  const auto [peak, added] = peaks.try_emplace(Resolve(precision), 0.0);
  if (added) peak->second = Peak(peak->first);
  return peak->second;
}

double ReadBandwidth(size_t bytes) {
  static std::map<size_t, double> bandwidths;
  bytes = std::max<size_t>(bytes & ~size_t{511}, 512);
  const auto [bandwidth, added] = bandwidths.try_emplace(bytes, 0.0);
  if (!added) return bandwidth->second;
  Matrix<char> memory(1, static_cast<int>(bytes));
  std::memset(memory.view().data(), 1, bytes);
  auto* read = ReadWords;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) read = Read512;
#endif
  const size_t times = std::max<size_t>((size_t{16} << 20) / bytes, 1);
  const double seconds = Fastest([&] {
    for (size_t i = 0; i < times; ++i) read(memory.view().data(), bytes);
  });
  return bandwidth->second = static_cast<double>(bytes * times) / seconds;
}

size_t BytesBeyondCaches() {
  const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);  // 0 or -1 if not known
  return std::max<size_t>(2 * static_cast<size_t>(std::max(l3, 0L)), size_t{64} << 20);
}

}  // namespace dragoman
