#include "engine/text/vocabulary.h"

#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/json.h"
#include "engine/base/json_numbers.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr int64_t kMaxVocabulary = 10'000'000;  // a larger id is a damaged file, not a vocabulary

absl::Status WrongId(const std::string& piece, const std::string& id) {
  return InvalidArgumentError("the id of \"", piece, "\" is ", id,
                              ", want a whole number from 0 to ", kMaxVocabulary - 1);
}

// The usual kind of file, in a third of the time that it takes to parse it as a whole.
std::optional<Vocabulary> ReadQuickly(const std::string& path) {
  const absl::StatusOr<std::shared_ptr<const MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) return std::nullopt;
  const std::string_view text = (*file)->text();
  Vocabulary vocabulary;
  const bool read = ForEachNumber(text, [&](std::string piece, uint64_t id) {
    const bool twice = vocabulary.IdOf(piece).has_value();
    return !twice && id < kMaxVocabulary && vocabulary.Add(piece, static_cast<int64_t>(id)).ok();
  });
  return read ? std::optional(std::move(vocabulary)) : std::nullopt;
}

}  // namespace

absl::StatusOr<Vocabulary> Vocabulary::ReadJson(const std::string& path) {
  if (std::optional<Vocabulary> vocabulary = ReadQuickly(path)) return *std::move(vocabulary);
  ASSIGN_OR_RETURN(const nlohmann::json json, ReadJsonObject(path));
  Vocabulary vocabulary;
  for (const auto& [piece, id] : json.items()) {
    const bool whole = id.is_number_unsigned() && id.get<uint64_t>() < kMaxVocabulary;
    const absl::Status status =
        whole ? vocabulary.Add(piece, id.get<int64_t>()) : WrongId(piece, Describe(id));
    if (!status.ok()) {
      return InvalidArgumentError(path, ": ", absl::string_view(status.message()));
    }
  }
  return vocabulary;
}

absl::Status Vocabulary::Add(const std::string& piece, int64_t id) {
  if (id < 0 || id >= kMaxVocabulary) return WrongId(piece, absl::StrCat(id));
  const auto it = ids_.emplace(piece, static_cast<int32_t>(id)).first;
  if (id >= size()) pieces_.resize(id + 1);
  if (pieces_[id] != nullptr && *pieces_[id] != piece) {
    return InvalidArgumentError("both \"", *pieces_[id], "\" and \"", piece, "\" have the id ", id);
  }
  pieces_[id] = &it->first;
  return absl::OkStatus();
}

std::optional<int32_t> Vocabulary::IdOf(const std::string& piece) const {
  const auto it = ids_.find(piece);
  if (it == ids_.end()) return std::nullopt;
  return it->second;
}

const std::string* Vocabulary::Find(int32_t id) const {
  return id >= 0 && id < size() ? pieces_[id] : nullptr;
}

}  // namespace dragoman
