#include "engine/base/json.h"

#include <memory>
#include <stdexcept>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

using Json = nlohmann::json;

// Refuses valid JSON that no legitimate file contains. It throws from within the parser, which
// would otherwise go on to read a hundred megabytes of brackets.
class Watch {
 public:
  void See(int depth, Json::parse_event_t event, const Json& parsed) {
    if (depth > kMaxJsonDepth) Refuse(absl::StrCat("nests deeper than ", kMaxJsonDepth));
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event == Json::parse_event_t::key) {
      const std::string& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) Refuse(absl::StrCat("\"", key, "\" occurs twice"));
    }
  }

 private:
  [[noreturn]] static void Refuse(const std::string& why) { throw std::invalid_argument(why); }

  std::vector<std::unordered_set<std::string>> keys_;  // of the objects that are still open
};

absl::StatusOr<Json> Parse(std::string_view text, const std::string& name) {
  if (text.find('\0') != text.npos) {  // the parser would take it for the end
    return absl::InvalidArgumentError(absl::StrCat(name, ": holds a NUL byte"));
  }
  Watch watch;
  Json json;
  try {
    json = Json::parse(text, [&watch](int depth, Json::parse_event_t event, Json& parsed) {
      watch.See(depth, event, parsed);
      return true;
    });
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", error.what()));
  }
  return json;
}

absl::StatusOr<Json> ParseFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  const absl::Span<const std::byte> bytes = file->bytes();
  return Parse(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), path);
}

absl::StatusOr<Json> Wanted(absl::StatusOr<Json> json, Json::value_t type, const char* want,
                            const std::string& name) {
  if (!json.ok() || json->type() == type) return json;
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": is a JSON ", json->type_name(), ", want an ", want));
}

}  // namespace

absl::StatusOr<Json> ParseJsonObject(std::string_view text, const std::string& name) {
  return Wanted(Parse(text, name), Json::value_t::object, "object", name);
}

absl::StatusOr<Json> ParseJsonArray(std::string_view text, const std::string& name) {
  return Wanted(Parse(text, name), Json::value_t::array, "array", name);
}

absl::StatusOr<Json> ReadJsonObject(const std::string& path) {
  return Wanted(ParseFile(path), Json::value_t::object, "object", path);
}

absl::StatusOr<Json> ReadJsonArray(const std::string& path) {
  return Wanted(ParseFile(path), Json::value_t::array, "array", path);
}

std::string Describe(const Json& value) {
  constexpr size_t kLongest = 80;
  std::string text = WriteJson(value);
  if (text.size() <= kLongest) return text;
  return std::string(BeginningOf(text, kLongest)) + "...";
}

}  // namespace dragoman
