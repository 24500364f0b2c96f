// Any bytes as a zip.

#include <unistd.h>

#include <cstdio>
#include <numeric>

#include "engine/base/zip_archive.h"
#include "tests/fuzz/fuzzer.h"

FUZZER(zip) {
  const absl::Span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto archive = dragoman::ZipArchive::Open(bytes);
  if (!archive.ok()) return;
  const std::string path = "/dev/shm/dragoman-zip-fuzzer-" + std::to_string(getpid());
  for (const dragoman::ZipArchive::Entry& entry : archive->entries()) {
    const unsigned sum =
        std::accumulate(entry.stored.begin(), entry.stored.end(), 0u,
                        [](unsigned s, std::byte b) { return s + static_cast<unsigned>(b); });
    FUZZ_CHECK(sum <= 255 * size);
    const bool extracted = archive->Extract(entry, path).ok();
    FUZZ_CHECK((std::remove(path.c_str()) == 0) == extracted);
  }
}
