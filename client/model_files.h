// Which files of a repository make a model that dragoman-server loads.  A repository often holds
// the weights several times over, in the formats of several frameworks: one of them is enough.

#ifndef DRAGOMAN_CLIENT_MODEL_FILES_H_
#define DRAGOMAN_CLIENT_MODEL_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace dragoman {

struct ModelFiles {
  std::vector<std::string> files;
  std::string index;  // the one of them that names the shards of the weights; "" if there are none
};

// Chooses from the names of all files.  FAILED_PRECONDITION, saying what there is and what to do,
// if no weights among them can be served.
absl::StatusOr<ModelFiles> ChooseFiles(const std::vector<std::string>& names);

// The shards that an index names, each once.  INVALID_ARGUMENT if it is none, or if it names a file
// outside of its own directory.
absl::StatusOr<std::vector<std::string>> ShardsOf(std::string_view index);

// What to call a model on the server's command line: the languages that its name ends in, "en-de"
// for "Helsinki-NLP/opus-mt-en-de", or the name.
std::string ModelName(const std::string& repository);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_MODEL_FILES_H_
