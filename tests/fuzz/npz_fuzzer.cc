// Any bytes as an .npz, compressed or not.

#include "engine/formats/npz.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/read_all.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const dragoman::MemoryFile file(data, size);
  const auto checkpoint = dragoman::OpenNpz(file.path());
  if (checkpoint.ok()) dragoman::ReadAll(*checkpoint);
  return 0;
}
