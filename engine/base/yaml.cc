#include "engine/base/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#include <exception>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

using Json = nlohmann::json;

// Thrown from within the library's parser, and caught where the parser is called.
struct Refused {
  std::string message;
};

[[noreturn]] void Refuse(const YAML::Mark& mark, const std::string& what) {
  throw Refused{absl::StrCat("line ", mark.line + 1, ": ", what)};
}

template <typename Number>
bool ParseWhole(std::string_view text, Number* number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && stop == end;
}

// A plain scalar by the core schema of YAML 1.2, as far as configurations use it.
Json Resolve(const std::string& text) {
  if (text.empty() || text == "~" || text == "null") return nullptr;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (uint64_t number; ParseWhole(text, &number)) return number;
  if (int64_t number; ParseWhole(text, &number)) return number;
  // from_chars also accepts "inf" and "nan", which are words here.
  const bool numeric = text.find_first_not_of("0123456789+-.eE") == std::string::npos;
  if (double number; numeric && ParseWhole(text, &number) && std::isfinite(number)) return number;
  return text;
}

// Builds the JSON while the parser walks through the document.
class Builder final : public YAML::EventHandler {
 public:
  Json Take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    CheckAnchor(mark, anchor);
    Add(mark, nullptr, "~");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Refuse(mark, "has an alias, want its value");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    CheckAnchor(mark, anchor);
    const bool plain = tag == "?" || tag.empty();
    Add(mark, plain ? Resolve(value) : Json(value), value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    CheckAnchor(mark, anchor);
    Open(mark, Json::array());
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    CheckAnchor(mark, anchor);
    Open(mark, Json::object());
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  struct Container {
    Json* json;
    std::string key;  // of a mapping: the key whose value comes next
    bool has_key = false;
  };

  static void CheckAnchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) Refuse(mark, "has an anchor, want none");
  }

  // Adds a value, or a key, at the current place in the document; `text` is the key's spelling.
  Json* Add(const YAML::Mark& mark, Json value, const std::string& text) {
    if (open_.empty()) return &(root_ = std::move(value));
    Container& in = open_.back();
    if (in.json->is_array()) return &in.json->emplace_back(std::move(value));
    if (!in.has_key) {
      if (value.is_structured()) Refuse(mark, "has a key that is not a scalar");
      if (in.json->contains(text)) Refuse(mark, absl::StrCat("\"", text, "\" occurs twice"));
      in.key = text;
      in.has_key = true;
      return nullptr;
    }
    in.has_key = false;
    return &((*in.json)[in.key] = std::move(value));
  }

  void Open(const YAML::Mark& mark, Json container) {
    if (static_cast<int>(open_.size()) == kMaxJsonDepth) {
      Refuse(mark, absl::StrCat("nests deeper than ", kMaxJsonDepth));
    }
    // A reference into an array is invalid once the array grows, but only the last element is open.
    open_.push_back({Add(mark, std::move(container), "")});
  }

  Json root_;
  std::vector<Container> open_;  // outermost first
};

absl::StatusOr<Json> Parse(std::string_view text) {
  Builder builder;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return absl::InvalidArgumentError("has no content");
  } catch (const Refused& refused) {
    return absl::InvalidArgumentError(refused.message);
  } catch (const std::exception& exception) {
    return absl::InvalidArgumentError(exception.what());
  }
  Json json = builder.Take();
  if (!json.is_object()) return absl::InvalidArgumentError("is not a mapping");
  return json;
}

}  // namespace

absl::StatusOr<Json> ParseYamlObject(std::string_view text, const std::string& name) {
  absl::StatusOr<Json> json = Parse(text);
  if (json.ok()) return json;
  return Annotate(json.status(), name, ": ");
}

absl::StatusOr<Json> ReadYamlObject(const std::string& path) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  return ParseYamlObject(file->text(), path);
}

}  // namespace dragoman
