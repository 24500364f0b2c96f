// Any bytes as a SentencePiece model.

#include "engine/text/piece_model.h"
#include "tests/fuzz/fuzzer.h"

FUZZER(piece_model) {
  std::string error;
  const auto pieces = dragoman::PieceModel::Load(
      std::string_view(reinterpret_cast<const char*>(data), size), &error);
  FUZZ_CHECK((pieces == nullptr) == !error.empty());
  if (pieces == nullptr) return;
  for (const char* text : {"The cat sleeps.", "  Größe\t½ ﬁ 日本 \xF0\x9F\x98\x80 ", ""}) {
    (void)pieces->Decode(pieces->Encode(text));
  }
}
