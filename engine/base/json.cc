#include "engine/base/json.h"

#include <cstdint>
#include <memory>
#include <stdexcept>
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
class JsonBuilder final : public Json::json_sax_t {
 public:
  explicit JsonBuilder(Json* json) : json_(json) {}

  bool null() override { return Put(nullptr); }
  bool boolean(bool value) override { return Put(value); }
  bool number_integer(std::int64_t value) override { return Put(value); }
  bool number_unsigned(std::uint64_t value) override { return Put(value); }
  bool number_float(double value, const std::string&) override { return Put(value); }
  bool string(std::string& value) override { return Put(std::move(value)); }
  bool binary(Json::binary_t& value) override { return Put(std::move(value)); }
  bool start_object(std::size_t) override { return Open(Json::value_t::object); }
  bool start_array(std::size_t) override { return Open(Json::value_t::array); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(std::string& key) override {
    const auto [member, is_new] =
        open_.back()->get_ref<Json::object_t&>().try_emplace(std::move(key));
    if (!is_new) throw std::invalid_argument(absl::StrCat("\"", key, "\" occurs twice"));
    member_ = &member->second;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    throw std::invalid_argument(error.what());
  }

 private:
  // Where the next value goes.
  Json& Next() {
    if (open_.empty()) return *json_;
    return open_.back()->is_array() ? open_.back()->emplace_back() : *member_;
  }
  template <typename Value>
  bool Put(Value value) {
    Next() = std::move(value);
    return true;
  }
  bool Open(Json::value_t type) {
    if (open_.size() > kMaxJsonDepth) {
      throw std::invalid_argument(absl::StrCat("nests deeper than ", kMaxJsonDepth));
    }
    Json& opened = Next();
    opened = type;
    open_.push_back(&opened);
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  Json* const json_;
  std::vector<Json*> open_;  // the objects and arrays around what comes
  Json* member_ = nullptr;   // of the last of them, if it is an object
};

absl::StatusOr<Json> Parse(std::string_view text, const std::string& name) {
  if (text.find('\0') != text.npos) {  // the parser would take it for the end
    return InvalidArgumentError(name, ": holds a NUL byte");
  }
  Json json;
  JsonBuilder builder(&json);
  try {
    Json::sax_parse(text, &builder);
  } catch (const std::exception& error) {
    return InvalidArgumentError(name, ": ", error.what());
  }
  return json;
}

absl::StatusOr<Json> ParseFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  return Parse(file->text(), path);
}

absl::StatusOr<Json> Wanted(absl::StatusOr<Json> json, Json::value_t type, const char* want,
                            const std::string& name) {
  if (!json.ok() || json->type() == type) return json;
  return InvalidArgumentError(name, ": is a JSON ", json->type_name(), ", want an ", want);
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

const Json& Member(const Json& value, const char* name) {
  static const Json& null = *new Json();
  if (!value.is_object()) return null;
  const auto found = value.find(name);
  return found == value.end() ? null : *found;
}

std::string TextIn(const Json& value, const char* name) {
  const Json& member = Member(value, name);
  return member.is_string() ? member.get<std::string>() : "";
}

std::string Describe(const Json& value) {
  constexpr size_t kLongest = 80;
  std::string text = WriteJson(value);
  if (text.size() <= kLongest) return text;
  return std::string(BeginningOf(text, kLongest)) + "...";
}

}  // namespace dragoman
