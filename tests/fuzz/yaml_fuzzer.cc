// Any bytes as YAML: decoder.yml, a vocabulary, a model's options.

#include <string_view>

#include "engine/base/yaml.h"
#include "tests/fuzz/fuzzer.h"

FUZZER(yaml) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = dragoman::ParseYamlObject(text, "fuzz");
  if (json.ok()) FUZZ_CHECK(json->is_object());
}
