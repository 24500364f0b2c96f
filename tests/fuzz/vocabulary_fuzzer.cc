// Any bytes as vocab.json, and as the index of a sharded checkpoint.

#include "engine/formats/safetensors.h"
#include "engine/formats/sharded.h"
#include "engine/text/vocabulary.h"
#include "tests/fuzz/memory_file.h"

FUZZER(vocabulary) {
  const dragoman::MemoryFile file(data, size);
  const auto vocabulary = dragoman::Vocabulary::ReadJson(file.path());
  if (vocabulary.ok()) {
    for (int32_t id = 0; id < vocabulary->size(); ++id) (void)vocabulary->Find(id);
  }
  // The shards, which would be in the same directory, do not exist.
  FUZZ_CHECK(!dragoman::OpenShards(file.path(), dragoman::OpenSafetensors).ok());
}
