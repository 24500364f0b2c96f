// YAML from a stranger, and the only door to yaml-cpp.  What is read becomes JSON, so that whoever
// reads a configuration need not know in which of the two it was written:
//
//   beam-size: 6              {"beam-size": 6,
//   vocabs: [a.spm, a.spm]     "vocabs": ["a.spm", "a.spm"],
//   "<unk>": 1                 "<unk>": 1}
//
// A plain scalar is a number, true, false or null if it looks like one; a quoted one is a string.
// Keys are strings, whatever they look like.

#ifndef DRAGOMAN_ENGINE_BASE_YAML_H_
#define DRAGOMAN_ENGINE_BASE_YAML_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/base/json.h"

namespace dragoman {

// Parses one YAML mapping.  INVALID_ARGUMENT, beginning with `name`, if it is not YAML or not a
// mapping, if a key occurs twice in one mapping or is no scalar, if it nests deeper than
// kMaxJsonDepth, or if it has anchors and aliases, by which a small file can be huge.
absl::StatusOr<nlohmann::json> ParseYamlObject(std::string_view text, const std::string& name);

// The same for a file; NOT_FOUND if there is none at `path`.
absl::StatusOr<nlohmann::json> ReadYamlObject(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_YAML_H_
