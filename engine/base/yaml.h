// Parsing of untrusted YAML; only this file uses yaml-cpp.  The result is JSON, so code that reads
// a configuration need not know which of the two it was written in:
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

// Parses one YAML mapping.  INVALID_ARGUMENT, with a message that begins with `name`, if the text
// is not YAML or not a mapping, if a key occurs twice or is not a scalar, if it nests deeper than
// kMaxJsonDepth, or if it uses anchors and aliases, with which a small file can expand to a huge
// one.
absl::StatusOr<nlohmann::json> ParseYamlObject(std::string_view text, const std::string& name);

// Parses a file that holds a mapping.  NOT_FOUND if there is none at `path`.
absl::StatusOr<nlohmann::json> ReadYamlObject(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_YAML_H_
