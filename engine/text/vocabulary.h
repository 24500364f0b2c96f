// The pieces of a model's vocabulary and their ids.

#ifndef DRAGOMAN_ENGINE_TEXT_VOCABULARY_H_
#define DRAGOMAN_ENGINE_TEXT_VOCABULARY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dragoman {

class Vocabulary {
 public:
  // Reads a JSON object of pieces and ids (vocab.json).  NOT_FOUND if there is no such file;
  // INVALID_ARGUMENT, naming the piece, if an id is invalid or occurs twice.
  static absl::StatusOr<Vocabulary> ReadJson(const std::string& path);

  Vocabulary() = default;
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;

  // INVALID_ARGUMENT if the id is out of range or belongs to another piece.  A piece that already
  // has an id keeps it for IdOf; the new id is a second one for the same text.
  absl::Status Add(const std::string& piece, int64_t id);

  // One more than the highest id.
  int size() const { return static_cast<int>(pieces_.size()); }
  std::optional<int32_t> IdOf(const std::string& piece) const;
  // nullptr for an id without a piece.
  const std::string* Find(int32_t id) const;

 private:
  std::unordered_map<std::string, int32_t> ids_;
  std::vector<const std::string*> pieces_;  // by id; keys of ids_
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_VOCABULARY_H_
