#include "engine/request/servable.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/base/json.h"
#include "engine/base/status.h"
#include "engine/decode/job.h"

namespace dragoman {
namespace {

int LongestSentence(const Model& model, const Limits& limits) {
  return std::min(limits.max_source_tokens, model.spec().max_positions);
}

absl::StatusOr<SearchOptions> DefaultSearch(const Model& model, const Limits& limits) {
  ASSIGN_OR_RETURN(SearchOptions search,
                   ResolveSearch({}, limits, model.generation(), model.spec()));
  RETURN_IF_ERROR(
      SetLengths({}, LongestSentence(model, limits), model.generation(), model.spec(), &search));
  return search;
}

// The file of a model directory that sets a default: generation_config.json, or else config.json,
// where older checkpoints have it.
std::string FileOfDefault(const std::string& directory, const std::string& field) {
  for (const char* file : {"generation_config.json", "config.json"}) {
    const absl::StatusOr<nlohmann::json> json = ReadJsonObject(absl::StrCat(directory, "/", file));
    if (!json.ok()) continue;
    // min_new_tokens is min_length counted differently.
    const std::string other = absl::StrCat(field.substr(0, field.find('_')), "_new_tokens");
    if (json->contains(field) || (absl::EndsWith(field, "_length") && json->contains(other))) {
      return file;
    }
  }
  return "its configuration";
}

}  // namespace

absl::Status CheckDefaults(const Model& model, const std::string& directory, const Limits& limits) {
  const absl::Status status = DefaultSearch(model, limits).status();
  if (status.ok()) return status;
  const std::string path = FieldOf(status);
  const std::string field(absl::StripPrefix(path, "options."));
  const absl::string_view message = absl::StripPrefix(status.message(), absl::StrCat(path, ": "));
  return InvalidArgumentError(FileOfDefault(directory, field), ": ", field, " ", message);
}

size_t LongestSentenceBytes(const std::shared_ptr<const Model>& model, const Limits& limits) {
  const absl::StatusOr<SearchOptions> search = DefaultSearch(*model, limits);
  DRAGOMAN_CHECK(search.ok());
  Job job;
  job.model = model;
  job.source.assign(LongestSentence(*model, limits), model->spec().eos_id);
  job.options = *search;
  return model->network().StateBytes(job.Shape());
}

}  // namespace dragoman
