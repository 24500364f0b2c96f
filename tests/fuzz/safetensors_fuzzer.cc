// Any bytes as model.safetensors.

#include "engine/formats/safetensors.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/read_all.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const dragoman::MemoryFile file(data, size);
  const auto checkpoint = dragoman::OpenSafetensors(file.path());
  if (checkpoint.ok()) dragoman::ReadAll(*checkpoint);
  return 0;
}
