// Which languages a model translates, and which of them a request means.
//
// A model has its own codes ("deu_Latn").  A request names BCP-47 tags ("de", "de-AT") or such a
// code.  The closest match wins: the same language first, then the same script, then the region.

#ifndef DRAGOMAN_ENGINE_TEXT_LANGUAGES_H_
#define DRAGOMAN_ENGINE_TEXT_LANGUAGES_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/text/language_tag.h"

namespace dragoman {

// In a model's own codes, or as tags.  "" means not named: the model's own language, or any.
struct LanguagePair {
  std::string source;
  std::string target;

  bool operator==(const LanguagePair& other) const {
    return source == other.source && target == other.target;
  }
};

// Immutable once made.
class Languages {
 public:
  // Serves no pair that a request could name.
  Languages() = default;

  // Every source into every target except itself.  `own` is the pair for a request that names none.
  // With `target_needed`, a request without a target is refused if `own` has none either.  A source
  // that is not a language (a group, such as "mul") stands for any.
  static Languages All(std::vector<std::string> sources, std::vector<std::string> targets,
                       LanguagePair own, bool target_needed);
  // Only these pairs; a request that names no language gets `own`, by default none of them. Without
  // `source_needed`, a request may name the target alone.
  static Languages Only(std::vector<LanguagePair> pairs, bool source_needed = true,
                        LanguagePair own = {});

  bool empty() const { return sources_.empty() && targets_.empty(); }
  const std::vector<std::string>& sources() const { return sources_; }
  const std::vector<std::string>& targets() const { return targets_; }

  // The pair in the model's codes.  INVALID_ARGUMENT with the field (status.h), listing what is
  // served, if the model does not serve it.
  absl::StatusOr<LanguagePair> Resolve(const std::string& source, const std::string& target) const;

  // How well the model serves a pair: 0 is not at all, higher is closer.  "" matches any.
  int Nearness(const std::string& source, const std::string& target) const;

  // The pairs as tags, each once.
  std::vector<LanguagePair> Tags() const;
  std::vector<std::string> SourceTags() const;
  std::vector<std::string> TargetTags() const;

 private:
  bool Has(const LanguagePair& pair) const;
  void ParseCodes();
  // The closest code, and how close it is (Nearness); 0 if none matches.
  std::pair<std::string, int> NearestSource(const std::string& wanted) const;
  std::pair<std::string, int> NearestTarget(const std::string& wanted) const;

  std::vector<std::string> sources_, targets_;                                // codes
  std::vector<std::optional<Language>> source_languages_, target_languages_;  // of the codes
  std::vector<LanguagePair> pairs_;                                           // if not all
  LanguagePair own_;
  bool source_needed_ = false;
  bool target_needed_ = false;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_LANGUAGES_H_
