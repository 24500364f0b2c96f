#include <filesystem>

#include "documents/document.h"

namespace dragoman {

std::string TranslatedName(const std::string& file_name, const std::string& language) {
  const std::filesystem::path file = file_name;
  std::filesystem::path name = file.parent_path() / file.stem();
  name += "." + language;
  name += file.extension();
  return name.string();
}

}  // namespace dragoman
