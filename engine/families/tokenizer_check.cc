#include "engine/families/tokenizer_check.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "engine/base/status.h"
#include "engine/families/hugging_face.h"
#include "engine/formats/json_fields.h"

namespace dragoman {

absl::Status CheckTokenizerClass(const Adapter& adapter, const DirectoryFiles& files) {
  const std::string path = files.Path("tokenizer_config.json");
  ASSIGN_OR_RETURN(const nlohmann::json config, ReadOptionalJson(files, "tokenizer_config.json"));
  const JsonFields fields({{path, &config}, {files.Path("config.json"), &files.config}});
  constexpr const char* kField = "tokenizer_class";
  std::string name;
  RETURN_IF_ERROR(fields.Read(kField, &name));
  const std::vector<const char*>& known = adapter.tokenizer_classes;
  const absl::string_view slow = absl::StripSuffix(name, "Fast");
  if (name.empty() || std::find(known.begin(), known.end(), slow) != known.end()) {
    return absl::OkStatus();
  }
  return fields.Unknown(kField, known.empty() ? "none" : absl::StrJoin(known, " or "));
}

}  // namespace dragoman
