// Which languages a model translates, as its files name them.  A many-to-many model may name a
// group as its own, such as "deu+eng+fra": then each of them is a source, and `>>xx<<` tells the
// target.

#ifndef DRAGOMAN_SERVER_LANGUAGES_H_
#define DRAGOMAN_SERVER_LANGUAGES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/text/tokenizer.h"

namespace dragoman {

// The source languages that a request may name.
std::vector<std::string> SourceLanguages(const Tokenizer& tokenizer);

// The target languages that a request may name: the model's own first, unless it is a group, then
// those that a leading `>>xx<<` chooses.
std::vector<std::string> TargetLanguages(const Tokenizer& tokenizer);

// The target language that the translator is to be asked for: "" for the model's own, else one of
// Tokenizer::target_languages.  An empty `source` or `target` is the model's own; case does not
// matter.  INVALID_ARGUMENT naming the languages that the model serves if it does not serve this
// pair.
absl::StatusOr<std::string> ResolveLanguages(const Tokenizer& tokenizer, const std::string& source,
                                             const std::string& target);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_LANGUAGES_H_
