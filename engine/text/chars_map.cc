#include "engine/text/chars_map.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

// The wire format of protocol buffers (protobuf.dev/programming-guides/encoding), as much of it as
// is needed to find a bytes field.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  // Moves to the next field.  False at the end, and if the bytes are not a message.
  bool Next() {
    uint64_t tag = 0;
    if (bytes_.empty() || !ReadVarint(&tag) || tag > UINT32_MAX) return false;
    number_ = tag >> 3;
    payload_ = {};
    uint64_t size = 0;
    switch (tag & 7) {
      case 0:
        return ReadVarint(&size);
      case 1:
        return Take(8);
      case 2:
        return ReadVarint(&size) && Take(size);
      case 5:
        return Take(4);
      default:
        return false;  // groups: no .spm file has any
    }
  }

  uint64_t number() const { return number_; }
  std::string_view payload() const { return payload_; }  // of a bytes field
  bool at_end() const { return bytes_.empty(); }

 private:
  bool ReadVarint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
      const uint8_t byte = static_cast<uint8_t>(bytes_.front());
      bytes_.remove_prefix(1);
      *value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool Take(uint64_t size) {
    if (size > bytes_.size()) return false;
    payload_ = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return true;
  }

  std::string_view bytes_;
  uint64_t number_ = 0;
  std::string_view payload_;
};

using Unit = CharsMap::Unit;

bool IsWithinCharacter(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

// True if no key can lead a walk out of `units`, or to where in `texts` no character begins.
bool TrieIsSafe(const std::vector<Unit>& units, std::string_view texts) {
  if (units.empty()) return false;
  std::vector<bool> seen(units.size());
  std::vector<uint32_t> open;  // positions whose children are still to be visited; each enters once
  const auto enter = [&](uint32_t position) {
    if ((position | 0xFF) >= units.size()) return false;  // children are at position ^ byte
    if (!seen[position]) open.push_back(position);
    seen[position] = true;
    return true;
  };
  if (!enter(units[0].offset())) return false;
  while (!open.empty()) {
    const uint32_t position = open.back();
    open.pop_back();
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t child = position ^ byte;
      const Unit unit = units[child];
      if (unit.label() != byte) continue;
      const uint32_t next = child ^ unit.offset();
      if (!enter(next)) return false;
      if (!unit.has_leaf()) continue;
      const uint32_t value = units[next].value();
      if (value >= texts.size() || IsWithinCharacter(texts[value])) return false;
    }
  }
  return true;
}

// Tables that were found safe: nearly all files have one of a few, and to walk one takes ten
// milliseconds.  They are compared byte by byte.
class SafeTables {
 public:
  bool Has(std::string_view table) const {
    absl::MutexLock lock(&mutex_);
    return std::find(tables_.begin(), tables_.end(), table) != tables_.end();
  }
  void Add(std::string_view table) {
    if (table.size() > kLargest) return;
    absl::MutexLock lock(&mutex_);
    if (tables_.size() == kMost) tables_.erase(tables_.begin());
    tables_.emplace_back(table);
  }

 private:
  static constexpr size_t kMost = 4, kLargest = 1 << 20;
  mutable absl::Mutex mutex_;
  std::vector<std::string> tables_ ABSL_GUARDED_BY(mutex_);
};

SafeTables& KnownTables() {
  static auto& tables = *new SafeTables();
  return tables;
}

// The table: u32 size of the trie in bytes, the trie, replacement texts that each end with a NUL.
// False if it is cut off.
bool SplitTable(std::string_view table, std::vector<Unit>* units, std::string_view* texts) {
  uint32_t trie_size = 0;
  if (table.size() <= sizeof(trie_size)) return false;
  std::memcpy(&trie_size, table.data(), sizeof(trie_size));
  table.remove_prefix(sizeof(trie_size));
  if (trie_size == 0 || trie_size >= table.size() || trie_size % sizeof(Unit) != 0 ||
      table.back() != '\0') {
    return false;
  }
  units->resize(trie_size / sizeof(Unit));
  std::memcpy(units->data(), table.data(), trie_size);
  *texts = table.substr(trie_size);
  return true;
}

bool TableIsSafe(std::string_view table) {
  if (KnownTables().Has(table)) return true;
  std::vector<Unit> units;
  std::string_view texts;
  if (!SplitTable(table, &units, &texts) || !TrieIsSafe(units, texts)) return false;
  KnownTables().Add(table);
  return true;
}

// ModelProto.normalizer_spec = 3 and .denormalizer_spec = 5; NormalizerSpec.precompiled_charsmap =
// 2 (sentencepiece_model.proto).
bool SpecIsSafe(std::string_view spec) {
  WireReader fields(spec);
  while (fields.Next()) {
    if (fields.number() == 2 && !fields.payload().empty() && !TableIsSafe(fields.payload())) {
      return false;
    }
  }
  return fields.at_end();
}

}  // namespace

// ModelProto.pieces = 1; SentencePiece.piece = 1.
std::vector<std::string> PiecesIn(std::string_view spm) {
  std::vector<std::string> pieces;
  WireReader fields(spm);
  while (fields.Next()) {
    if (fields.number() != 1) continue;
    std::string& text = pieces.emplace_back();
    WireReader piece(fields.payload());
    while (piece.Next()) {
      if (piece.number() == 1) text = piece.payload();
    }
  }
  return pieces;
}

bool HasDenormalizer(std::string_view spm) {
  WireReader fields(spm);
  while (fields.Next()) {
    if (fields.number() != 5) continue;
    WireReader spec(fields.payload());
    while (spec.Next()) {
      if (spec.number() == 2 && !spec.payload().empty()) return true;
    }
  }
  return false;
}

std::shared_ptr<const CharsMap> CharsMap::Load(std::string_view table) {
  auto map = std::make_shared<CharsMap>();
  std::string_view texts;
  if (!TableIsSafe(table) || !SplitTable(table, &map->units_, &texts) || !IsValidUtf8(texts)) {
    return nullptr;
  }
  map->texts_ = texts;
  return map;
}

std::optional<std::string_view> CharsMap::Find(std::string_view text) const {
  uint32_t position = units_[0].offset();
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    position ^= byte;
    const Unit unit = units_[position];
    if (byte == 0 || unit.label() != byte) return std::nullopt;
    position ^= unit.offset();
    if (unit.has_leaf()) return std::string_view(texts_.c_str() + units_[position].value());
  }
  return std::nullopt;
}

bool CheckCharsMap(std::string_view spm, std::string* error) {
  WireReader fields(spm);
  while (fields.Next()) {
    const bool is_spec = fields.number() == 3 || fields.number() == 5;
    if (is_spec && !SpecIsSafe(fields.payload())) {
      *error = "the normalization table is damaged";
      return false;
    }
  }
  if (!fields.at_end()) {
    *error = "not a SentencePiece model";
    return false;
  }
  return true;
}

}  // namespace dragoman
