// Any bytes as a file of tensors, in each of the formats.

#include <string>

#include "engine/formats/marian_file.h"
#include "engine/formats/npz.h"
#include "engine/formats/safetensors.h"
#include "engine/formats/torch_file.h"
#include "tests/fuzz/fuzzer.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/read_all.h"

namespace dragoman {
namespace {

using OpenCheckpoint = absl::StatusOr<Checkpoint>(const std::string& path);

void OpenAndRead(OpenCheckpoint* open, const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  const auto checkpoint = open(file.path());
  if (checkpoint.ok()) ReadAll(*checkpoint);
}

}  // namespace
}  // namespace dragoman

FUZZER(marian_file) { dragoman::OpenAndRead(dragoman::OpenMarianFile, data, size); }
FUZZER(npz) { dragoman::OpenAndRead(dragoman::OpenNpz, data, size); }
FUZZER(safetensors) { dragoman::OpenAndRead(dragoman::OpenSafetensors, data, size); }
FUZZER(torch_file) { dragoman::OpenAndRead(dragoman::OpenTorchFile, data, size); }
