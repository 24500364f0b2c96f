// Any bytes as a file of any format that is one part, which the first byte names: it is refused, or
// comes out as it came, and what bad translators make of it can be read.  And reading it takes time
// in proportion to its size: now and then it is repeated until it is large, and then eight times as
// large.

#include <chrono>
#include <string>
#include <vector>

#include "documents/document.h"
#include "documents/text_encoding.h"
#include "tests/documents/scripted_reader.h"
#include "tests/fuzz/fuzzer.h"

namespace dragoman {
namespace {

constexpr size_t kLarge = 32 << 10;
constexpr double kMostSeconds =
    0.2;  // that eight times as much takes, if it takes more than 32 times as long

std::vector<const DocumentFormat*> Formats() {
  std::vector<const DocumentFormat*> formats;
  for (const DocumentFormat& format : DocumentFormats()) {
    if (format.reader != nullptr) formats.push_back(&format);
  }
  return formats;
}

double SecondsToRead(const DocumentFormat& format, const std::string& part) {
  const auto begin = std::chrono::steady_clock::now();
  const auto passages = format.reader(part, ReaderOptions(format));
  if (passages.ok()) Splice(part, *passages, PassageTranslations(passages->size()));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Another process may take the time of one run, hardly of three.
bool GrowsWithItsSize(const DocumentFormat& format, const std::string& part) {
  std::string large, larger;
  while (large.size() < kLarge) large += part;
  for (int i = 0; i < 8; ++i) larger += large;
  for (int tries = 0; tries < 3; ++tries) {
    const double seconds = SecondsToRead(format, larger);
    if (seconds < kMostSeconds || seconds < 32 * SecondsToRead(format, large)) return true;
  }
  return false;
}

}  // namespace
}  // namespace dragoman

FUZZER(document) {
  using namespace dragoman;
  static const std::vector<const DocumentFormat*> formats = Formats();
  static uint64_t runs = 0;
  if (size < 2) return;
  const DocumentFormat& format = *formats[data[0] % formats.size()];
  std::string part(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (!DecodeText(format.name, "", &part).ok()) return;
  const std::string fault = FaultOf(format, part);
  if (!fault.empty())
    std::fprintf(stderr, "%s: %s\n", std::string(format.name).c_str(), fault.c_str());
  FUZZ_CHECK(fault.empty());
  if (runs++ % 64 == 0) FUZZ_CHECK(GrowsWithItsSize(format, part));
}
