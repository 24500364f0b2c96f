// Any bytes as tokenizer.json.

#include "engine/text/tokenizer_json.h"
#include "tests/fuzz/memory_file.h"

FUZZER(tokenizer_json) {
  const dragoman::MemoryFile file(data, size);
  const auto json = dragoman::ReadTokenizerJson(file.path());
  const auto lists = dragoman::ReadTokenizerLists(file.path());
  if (!json.ok()) return;
  FUZZ_CHECK(lists.ok());
  const std::vector<std::string> pieces = json->pieces->Pieces();
  FUZZ_CHECK(pieces.size() == lists->pieces.size());
  for (const std::string& text : {std::string("The cat sleeps."), std::string(),
                                  std::string("  Größe\t½ ﬁ 日本 \xF0\x9F\x98\x80 ")}) {
    std::vector<dragoman::TextSpan> spans;
    const std::vector<int32_t> ids = json->pieces->EncodeAsIds(text, /*starts=*/true, &spans);
    FUZZ_CHECK(spans.size() == ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      FUZZ_CHECK(ids[i] >= 0 && static_cast<size_t>(ids[i]) < pieces.size());
      FUZZ_CHECK(spans[i].begin <= spans[i].end && spans[i].end <= text.size());
    }
    (void)json->pieces->Decode(json->pieces->Encode(text));
  }
}
