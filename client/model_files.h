// The files of a repository that make up a model which dragoman-server can load.  A repository
// often has the weights several times, in the formats of several frameworks; one copy is enough.

#ifndef DRAGOMAN_CLIENT_MODEL_FILES_H_
#define DRAGOMAN_CLIENT_MODEL_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace dragoman {

struct ModelFiles {
  std::vector<std::string> files;  // the weights come last
  std::string index;               // the index of sharded weights among them; "" if there is none
  bool described = false;          // whether the other files say what the model is
};

// Chooses from the names of all files.  FAILED_PRECONDITION, saying what there is and what to do,
// if none of the weights can be served.
absl::StatusOr<ModelFiles> ChooseFiles(const std::vector<std::string>& names);

// The shards that an index names, each once.  INVALID_ARGUMENT if it is not an index, or if it
// names a file outside of its own directory.
absl::StatusOr<std::vector<std::string>> ShardsOf(std::string_view index);

// The name for a model on the server's command line: the languages at the end of its name, "en-de"
// for "Helsinki-NLP/opus-mt-en-de", or the whole name.
std::string ModelName(const std::string& repository);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_MODEL_FILES_H_
