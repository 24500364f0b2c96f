// Reads fields of the JSON files of a model directory with a range check and errors that name file,
// field and value.  Every adapter (families/) reads its configuration through it.
//
//   const JsonFields search({{"generation_config.json", &generation}, {"config.json", &config}});
//   RETURN_IF_ERROR(search.Read("num_beams", 1, 1024, &num_beams));   // the first file that has it

#ifndef DRAGOMAN_ENGINE_FORMATS_JSON_FIELDS_H_
#define DRAGOMAN_ENGINE_FORMATS_JSON_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "engine/base/json.h"

namespace dragoman {

// The fields of one or several files; the first file that has a field decides.  Null means absent.
class JsonFields {
 public:
  struct File {
    std::string name;            // for messages
    const nlohmann::json* json;  // an object; outlives the fields
  };
  explicit JsonFields(std::vector<File> files) : files_(std::move(files)) {}

  // nullptr if no file has the field.
  const nlohmann::json* Find(const std::string& field) const;

  // INVALID_ARGUMENT: "config.json: d_model is "wide", want a whole number".  REQUIRES: a file has
  // the field.
  absl::Status Wrong(const std::string& field, const std::string& want) const;
  // UNIMPLEMENTED in the words of Wrong, for a valid value that this engine does not support.
  absl::Status Unknown(const std::string& field, const std::string& want) const;

  // Each of these leaves *value unchanged if no file has the field.
  absl::Status Read(const std::string& field, int least, int most, int* value) const;
  absl::Status Read(const std::string& field, int least, int most,
                    std::optional<int32_t>* value) const;
  absl::Status Read(const std::string& field, bool* value) const;
  absl::Status Read(const std::string& field, float* value) const;
  absl::Status Read(const std::string& field, std::string* value) const;
  template <typename T>
  absl::Status Read(const std::string& field, std::optional<T>* value) const {
    T read{};
    const absl::Status status = Read(field, &read);
    if (status.ok() && Find(field) != nullptr) *value = read;
    return status;
  }

  // Reads a field that must be present.
  absl::Status Require(const std::string& field, int least, int most, int* value) const;

  static bool IsWhole(const nlohmann::json& json, int64_t least, int64_t most);

 private:
  const File* FileOf(const std::string& field) const;
  std::string Message(const std::string& field, const std::string& want) const;

  std::vector<File> files_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_JSON_FIELDS_H_
