#include "server/observe/trace.h"

#include <cstdint>
#include <random>

#include "absl/algorithm/container.h"

namespace dragoman {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

bool IsHex(std::string_view text) {
  return text.find_first_not_of(kDigits) == std::string_view::npos;
}

bool IsZero(std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; }

}  // namespace

std::optional<TraceContext> ParseTraceParent(std::string_view header) {
  constexpr size_t kTrace = 3, kSpan = 36, kFlags = 53, kEnd = 55;
  if (header.size() < kEnd) return std::nullopt;
  const std::string_view version = header.substr(0, 2);
  const std::string_view trace = header.substr(kTrace, 32);
  const std::string_view span = header.substr(kSpan, 16);
  const bool parted = header[kTrace - 1] == '-' && header[kSpan - 1] == '-' &&
                      header[kFlags - 1] == '-' && (header.size() == kEnd || header[kEnd] == '-');
  if (!parted || !IsHex(version) || !IsHex(trace) || !IsHex(span) ||
      !IsHex(header.substr(kFlags, 2))) {
    return std::nullopt;
  }
  if (version == "ff" || (version == "00" && header.size() != kEnd)) return std::nullopt;
  if (IsZero(trace) || IsZero(span)) return std::nullopt;
  const bool sampled = kDigits.find(header[kFlags + 1]) % 2 == 1;
  return TraceContext{std::string(trace), std::string(span), sampled};
}

bool IsRequestId(std::string_view id) {
  return !id.empty() && id.size() <= 64 && absl::c_all_of(id, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

std::string NewRequestId() {
  thread_local std::mt19937_64 random = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  std::string id;
  for (int half = 0; half < 2; ++half) {
    uint64_t bits = random();
    for (int digit = 0; digit < 16; ++digit, bits >>= 4) id += kDigits[bits & 15];
  }
  return id;
}

std::string NewTraceId() {
  std::string id = NewRequestId();
  while (IsZero(id)) id = NewRequestId();
  return id;
}

std::string NewSpanId() {
  std::string id;
  do {
    id = NewRequestId().substr(0, 16);
  } while (IsZero(id));
  return id;
}

}  // namespace dragoman
