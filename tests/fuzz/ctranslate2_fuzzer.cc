// Any bytes as CTranslate2's model.bin: the file, and the network that its variables describe.

#include "engine/families/ctranslate2.h"
#include "engine/families/ctranslate2_facts.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/read_all.h"

FUZZER(ctranslate2) {
  const dragoman::MemoryFile bytes(data, size);
  auto file = dragoman::OpenCTranslate2File(bytes.path());
  if (!file.ok()) return;
  dragoman::MoveRootFacts(&*file);
  dragoman::ReadAll(file->variables);
  dragoman::Vocabulary tokens;
  for (const char* token : {"<s>", "</s>", "<unk>", "a", "b", "."}) {
    FUZZ_CHECK(tokens.Add(token, tokens.size()).ok());
  }
  dragoman::CTranslate2Model model = {"", *std::move(file), nlohmann::json::object(), {}, {}, {}};
  model.source = model.target = std::make_shared<const dragoman::Vocabulary>(std::move(tokens));
  const auto spec = dragoman::ReadCTranslate2Spec(model);
  if (!spec.ok()) return;
  FUZZ_CHECK(spec->d_model > 0 && spec->encoder_layers > 0 && spec->decoder_layers > 0);
  const auto tensors = dragoman::CTranslate2Tensors(model);
  if (tensors.ok()) dragoman::ReadAll(*tensors);
}
