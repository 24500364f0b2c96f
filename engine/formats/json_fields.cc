#include "engine/formats/json_fields.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {

using Json = nlohmann::json;

const Json* JsonFields::Find(const std::string& field) const {
  const File* file = FileOf(field);
  return file != nullptr ? &file->json->at(field) : nullptr;
}

absl::Status JsonFields::Wrong(const std::string& field, const std::string& want) const {
  return absl::InvalidArgumentError(Message(field, want));
}

absl::Status JsonFields::Unknown(const std::string& field, const std::string& want) const {
  return absl::UnimplementedError(Message(field, want));
}

absl::Status JsonFields::Read(const std::string& field, int least, int most, int* value) const {
  std::optional<int32_t> found;
  RETURN_IF_ERROR(Read(field, least, most, &found));
  if (found) *value = *found;
  return absl::OkStatus();
}

absl::Status JsonFields::Read(const std::string& field, int least, int most,
                              std::optional<int32_t>* value) const {
  const Json* json = Find(field);
  if (json == nullptr) return absl::OkStatus();
  if (!IsWhole(*json, least, most)) {
    return Wrong(field, absl::StrCat("a whole number from ", least, " to ", most));
  }
  *value = json->get<int32_t>();
  return absl::OkStatus();
}

absl::Status JsonFields::Read(const std::string& field, bool* value) const {
  const Json* json = Find(field);
  if (json == nullptr) return absl::OkStatus();
  if (!json->is_boolean()) return Wrong(field, "true or false");
  *value = json->get<bool>();
  return absl::OkStatus();
}

absl::Status JsonFields::Read(const std::string& field, float* value) const {
  const Json* json = Find(field);
  if (json == nullptr) return absl::OkStatus();
  if (!json->is_number() || !std::isfinite(json->get<float>())) {
    return Wrong(field, "a finite number");
  }
  *value = json->get<float>();
  return absl::OkStatus();
}

absl::Status JsonFields::Read(const std::string& field, std::string* value) const {
  const Json* json = Find(field);
  if (json == nullptr) return absl::OkStatus();
  if (!json->is_string()) return Wrong(field, "a string");
  *value = json->get<std::string>();
  return absl::OkStatus();
}

absl::Status JsonFields::Require(const std::string& field, int least, int most, int* value) const {
  if (Find(field) == nullptr) {
    return InvalidArgumentError(files_.back().name, ": has no ", field,
                                ", want a whole number from ", least, " to ", most);
  }
  return Read(field, least, most, value);
}

bool JsonFields::IsWhole(const Json& json, int64_t least, int64_t most) {
  if (json.is_number_unsigned() && json.get<uint64_t>() > static_cast<uint64_t>(most)) return false;
  return json.is_number_integer() && json.get<int64_t>() >= least && json.get<int64_t>() <= most;
}

const JsonFields::File* JsonFields::FileOf(const std::string& field) const {
  for (const File& file : files_) {
    const auto it = file.json->find(field);
    if (it != file.json->end() && !it->is_null()) return &file;
  }
  return nullptr;
}

std::string JsonFields::Message(const std::string& field, const std::string& want) const {
  const File* file = FileOf(field);
  return absl::StrCat(file->name, ": ", field, " is ", Describe(file->json->at(field)), ", want ",
                      want);
}

}  // namespace dragoman
