#include "server/config/models_directory.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/text/language_tag.h"

namespace dragoman {

namespace fs = std::filesystem;

bool IsNameCharacter(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const bool digit = c >= '0' && c <= '9';
  return letter || digit || c == '.' || c == '_' || c == '-' || c == '/';
}

namespace {

// The name, shortened and with a number if another model has it: "en-de_2" for "ende" beside
// "en-de".
std::string UniqueName(std::string name, std::set<std::string>* names) {
  constexpr size_t kMostBytes = 120;
  name.resize(std::min(name.size(), kMostBytes));
  std::string unique = name;
  for (int number = 2; !names->insert(unique).second; ++number) {
    unique = absl::StrCat(name, "_", number);
  }
  return unique;
}

}  // namespace

absl::StatusOr<std::vector<ModelSource>> FindModels(const std::string& directory) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const bool hidden = it->path().filename().string().front() == '.';
    if (!hidden && it->is_directory(ignored)) paths.push_back(it->path());
  }
  if (error) {
    return NotFoundError("models ", directory, ": ", error.message());
  }
  if (paths.empty()) {
    return NotFoundError("models ", directory,
                         ": there is no directory in it, want one for each model");
  }
  absl::c_sort(paths);
  std::vector<ModelSource> models;
  std::set<std::string> names;
  for (const fs::path& path : paths) {
    std::string name = path.filename().string();
    if (const auto pair = ParseLanguagePair(name); pair.has_value()) {
      name = absl::StrCat(pair->first, "-", pair->second);
    }
    for (char& c : name) {
      if (!IsNameCharacter(c)) c = '_';
    }
    name = UniqueName(std::move(name), &names);
    models.push_back({.name = std::move(name), .directory = path.string(), .found = true});
  }
  return models;
}

}  // namespace dragoman
