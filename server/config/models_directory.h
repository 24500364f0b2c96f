// A directory of model directories, such as users of Firefox's models have:
//
//   models/ende  models/zhen        served as "en-de" and "zh-en"

#ifndef DRAGOMAN_SERVER_CONFIG_MODELS_DIRECTORY_H_
#define DRAGOMAN_SERVER_CONFIG_MODELS_DIRECTORY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/config.h"

namespace dragoman {

// The models in `directory`, sorted and named like their directories; a name that is a language
// pair is written with a dash, and _ stands for what a name cannot contain ("lost_found").
// NOT_FOUND if `directory` does not exist or contains no directory.
absl::StatusOr<std::vector<ModelSource>> FindModels(const std::string& directory);

// Whether the name of a model may contain it.
bool IsNameCharacter(char c);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_CONFIG_MODELS_DIRECTORY_H_
