// The passages that a reader finds, in order.  All readers add theirs here, so that what every
// passage needs is done once: its text is valid UTF-8, whatever a format's parser has handed out,
// and the memory is counted that it will take until it is written.

#ifndef DRAGOMAN_DOCUMENTS_PASSAGE_LIST_H_
#define DRAGOMAN_DOCUMENTS_PASSAGE_LIST_H_

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "documents/document.h"
#include "engine/base/patience.h"
#include "engine/base/utf8.h"

namespace dragoman {

class PassageList {
 public:
  // REQUIRES: `patience`, which is that of the reader, outlives it.
  explicit PassageList(Patience* patience) : patience_(patience) {}

  // What is added in front of the next one, if there is any: it names the target language.
  void AddBeforeNext(std::optional<Passage> passage) { before_next_ = std::move(passage); }

  void Add(Passage passage) {
    if (before_next_.has_value()) Add(*std::exchange(before_next_, std::nullopt));
    // The text, its translation, and what is written.
    if (!patience_->Takes(kBytesOfPassage + 3 * passage.text.size())) return;
    if (!IsValidUtf8(passage.text)) passage.text = ValidUtf8(passage.text);
    passages_.push_back(std::move(passage));
  }

  // Whether there are none, of those that there was memory for.
  bool empty() const { return passages_.empty(); }
  // REQUIRES: not empty.
  const Passage& back() const { return passages_.back(); }

  // All of them, at the end of the part; or why patience has not lasted until there.
  absl::StatusOr<std::vector<Passage>> Take() {
    if (!patience_->status().ok()) return patience_->status();
    return std::move(passages_);
  }

 private:
  // Itself in a growing list, what writes it, and its place among the translations.
  static constexpr size_t kBytesOfPassage = 2 * sizeof(Passage) + 192;

  Patience* const patience_;
  std::vector<Passage> passages_;
  std::optional<Passage> before_next_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_PASSAGE_LIST_H_
