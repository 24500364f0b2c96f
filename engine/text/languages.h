// Which languages a model translates, and which of them a request means.
//
// A model has codes of its own ("deu_Latn"); a request names BCP-47 tags ("de", "de-AT") or such a
// code.  The nearest one is taken: first the same language, then the same script, then the region.

#ifndef DRAGOMAN_ENGINE_TEXT_LANGUAGES_H_
#define DRAGOMAN_ENGINE_TEXT_LANGUAGES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace dragoman {

// In a model's own codes, or as tags.  "" is "not named": the model's own, or any.
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
  // Translates nothing that a request could name.
  Languages() = default;

  // Every source into every target but itself.  `own` is what a request means that names none.
  // `target_needed`: one that names no target and finds none in `own` is refused.  A source that is
  // no language (a group, such as "mul") stands for any.
  static Languages All(std::vector<std::string> sources, std::vector<std::string> targets,
                       LanguagePair own, bool target_needed);
  // These pairs alone; a request that names none means none of them.
  static Languages Only(std::vector<LanguagePair> pairs);

  bool empty() const { return sources_.empty() && targets_.empty(); }
  const std::vector<std::string>& sources() const { return sources_; }
  const std::vector<std::string>& targets() const { return targets_; }

  // The pair in the model's codes.  INVALID_ARGUMENT with the field (status.h), naming what is
  // served, if the model does not serve it.
  absl::StatusOr<LanguagePair> Resolve(const std::string& source, const std::string& target) const;

  // How well it serves a pair: 0 not at all, more is nearer.  "" is any.
  int Nearness(const std::string& source, const std::string& target) const;

  // The pairs as tags, each once.
  std::vector<LanguagePair> Tags() const;
  std::vector<std::string> SourceTags() const;
  std::vector<std::string> TargetTags() const;

 private:
  bool Has(const LanguagePair& pair) const;

  std::vector<std::string> sources_, targets_;  // codes
  std::vector<LanguagePair> pairs_;             // if not all
  LanguagePair own_;
  bool target_needed_ = false;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_LANGUAGES_H_
