// The variables of a CTranslate2 file that are facts about the network, such as its number of
// heads, rather than weights.  Asking for one counts as reading it, so that a fact that nobody asks
// for is refused like a weight that nobody reads (CheckAllIsRead in checkpoint.h).

#ifndef DRAGOMAN_ENGINE_FAMILIES_CTRANSLATE2_FACTS_H_
#define DRAGOMAN_ENGINE_FAMILIES_CTRANSLATE2_FACTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/formats/ctranslate2_file.h"

namespace dragoman {

// "encoder/layer_0"
std::string CTranslate2Layer(const char* stack, int layer);

// Gives each stack its own facts in a file of an old revision, in which some stand at the root and
// count for both stacks: "pre_norm" becomes "encoder/pre_norm" and "decoder/pre_norm".  A stack's
// own fact takes precedence.
void MoveRootFacts(CTranslate2File* file);

class CTranslate2Facts {
 public:
  // `variables` must outlive this.
  explicit CTranslate2Facts(const Checkpoint& variables) : variables_(variables) {}

  bool Has(const std::string& name) const { return variables_.Has(name); }

  // The number with that name; `otherwise` if there is none.  INVALID_ARGUMENT if it is no number.
  absl::StatusOr<double> Number(const std::string& name, double otherwise) const;
  // The number that all these names have.  UNIMPLEMENTED, naming two of them, if they differ.
  absl::StatusOr<double> Common(const std::vector<std::string>& names, double otherwise) const;
  absl::StatusOr<int> Whole(const std::string& name, int otherwise, int least, int most) const;
  // The number of rows and columns.
  absl::StatusOr<std::pair<int, int>> Shape(const std::string& name) const;
  int Layers(const char* stack) const;
  // Whether two variables have the same bytes.
  bool Same(const std::string& a, const std::string& b) const;
  // The name of a stack's embeddings; the encoder may have several, of which this is the first.
  std::string Embeddings(const char* stack) const;

 private:
  const Checkpoint& variables_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FAMILIES_CTRANSLATE2_FACTS_H_
