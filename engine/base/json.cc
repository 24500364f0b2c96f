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

// Makes a value of what is parsed, and refuses valid JSON that no legitimate file contains, by
// throwing: the parser would otherwise go on to read a hundred megabytes of brackets.  (The
// library's own way to see what is parsed looks at all of a list after each object in it.)
class JsonBuilder : public nlohmann::detail::json_sax_dom_parser<Json> {
 public:
  using Base = nlohmann::detail::json_sax_dom_parser<Json>;
  explicit JsonBuilder(Json* json) : Base(*json) {}

  bool start_object(std::size_t size) {
    Enter();
    keys_.emplace_back();
    return Base::start_object(size);
  }
  bool key(std::string& key) {
    if (!keys_.back().insert(key).second) Refuse(absl::StrCat("\"", key, "\" occurs twice"));
    return Base::key(key);
  }
  bool end_object() {
    --depth_;
    keys_.pop_back();
    return Base::end_object();
  }
  bool start_array(std::size_t size) {
    Enter();
    return Base::start_array(size);
  }
  bool end_array() {
    --depth_;
    return Base::end_array();
  }

 private:
  [[noreturn]] static void Refuse(const std::string& why) { throw std::invalid_argument(why); }
  void Enter() {
    if (depth_++ > kMaxJsonDepth) Refuse(absl::StrCat("nests deeper than ", kMaxJsonDepth));
  }

  int depth_ = 0;                                      // of what comes
  std::vector<std::unordered_set<std::string>> keys_;  // of the objects that are still open
};

absl::StatusOr<Json> Parse(std::string_view text, const std::string& name) {
  if (text.find('\0') != text.npos) {  // the parser would take it for the end
    return absl::InvalidArgumentError(absl::StrCat(name, ": holds a NUL byte"));
  }
  Json json;
  JsonBuilder builder(&json);
  try {
    Json::sax_parse(text, &builder);
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
