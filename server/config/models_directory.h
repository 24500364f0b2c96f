// A directory of model directories, as users of Firefox's models keep them:
//
//   models/ende  models/zhen        served as "en-de" and "zh-en"

#ifndef DRAGOMAN_SERVER_CONFIG_MODELS_DIRECTORY_H_
#define DRAGOMAN_SERVER_CONFIG_MODELS_DIRECTORY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/config.h"

namespace dragoman {

// The models in `directory`, by the names of their directories, which are sorted; a name that is a
// pair of languages is written with a dash.  NOT_FOUND if there is no such directory, or no
// directory in it.
absl::StatusOr<std::vector<ModelSource>> FindModels(const std::string& directory);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_CONFIG_MODELS_DIRECTORY_H_
