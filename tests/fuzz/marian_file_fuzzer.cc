// Any bytes as Marian's model.bin.

#include "engine/formats/marian_file.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/read_all.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const dragoman::MemoryFile file(data, size);
  const auto checkpoint = dragoman::OpenMarianFile(file.path());
  if (checkpoint.ok()) dragoman::ReadAll(*checkpoint);
  return 0;
}
