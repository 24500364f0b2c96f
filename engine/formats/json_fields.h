// The fields of the JSON files of a model directory, read with a range check and an error that
// names file, field and value: what every adapter (families/) reads its configuration with.
//
//   const JsonFields search({{"generation_config.json", &generation}, {"config.json", &config}});
//   RETURN_IF_ERROR(search.Read("num_beams", 1, 1024, &num_beams));   // the first that gives it

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

// The fields of one or several files; the first that gives a field decides.  Null means not given.
class JsonFields {
 public:
  struct File {
    std::string name;            // for messages
    const nlohmann::json* json;  // an object; outlives the fields
  };
  explicit JsonFields(std::vector<File> files) : files_(std::move(files)) {}

  // nullptr if no file gives the field.
  const nlohmann::json* Find(const std::string& field) const;

  // INVALID_ARGUMENT: "config.json: d_model is "wide", want a whole number".
  // REQUIRES: a file gives the field.
  absl::Status Wrong(const std::string& field, const std::string& want) const;
  // The same as UNIMPLEMENTED, for a value that this engine does not know.
  absl::Status Unknown(const std::string& field, const std::string& want) const;

  // Each of these leaves *value alone if no file gives the field.
  absl::Status Read(const std::string& field, int least, int most, int* value) const;
  absl::Status Read(const std::string& field, int least, int most,
                    std::optional<int32_t>* value) const;
  absl::Status Read(const std::string& field, bool* value) const;
  absl::Status Read(const std::string& field, float* value) const;
  absl::Status Read(const std::string& field, std::string* value) const;

  // A field that must be given.
  absl::Status Require(const std::string& field, int least, int most, int* value) const;

  static bool IsWhole(const nlohmann::json& json, int64_t least, int64_t most);

 private:
  const File* FileOf(const std::string& field) const;
  std::string Message(const std::string& field, const std::string& want) const;

  std::vector<File> files_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_JSON_FIELDS_H_
