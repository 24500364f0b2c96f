#include "server/compat/fields.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/base/json.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "server/http/json.h"
#include "server/http/multipart.h"

namespace dragoman {
namespace {

// Of a value that a glance keeps.
constexpr size_t kMostGlanced = 4 << 10;

// As in PHP, and in axios: text[]=a&text[]=b.
std::string_view WithoutBrackets(std::string_view name) {
  return name.size() > 2 && name.ends_with("[]") ? name.substr(0, name.size() - 2) : name;
}

// Shows the fields of a body without building anything of them: a member of JSON as it is written,
// the value of a form perhaps cut, but then longer than kMostGlanced.
using Show = absl::FunctionRef<void(std::string_view name, std::string_view value)>;

void ShowJson(std::string_view text, Show show) {
  size_t depth = 0, begin = 0;  // of the name or the value at hand
  std::string_view name;
  ForEachMark(text, [&](size_t at) {
    const char mark = text[at];
    const std::string_view read = text.substr(begin, at - begin);
    if (mark == '{' || mark == '[') {
      if (depth++ > 0) return;
    } else if (mark == ':' && depth == 1) {
      const size_t first = read.find('"'), last = read.rfind('"');
      name = first == last ? std::string_view() : read.substr(first + 1, last - first - 1);
    } else if (depth == 1 && mark != ':') {
      if (!name.empty()) show(name, read);
      name = {};
      if (mark != ',') --depth;
    } else {
      if (mark == '}' || mark == ']') depth -= depth > 0;
      return;
    }
    begin = at + 1;
  });
}

void ShowForm(std::string_view text, Show show) {
  for (int parts = 0; parts < kMaxParts && !text.empty(); ++parts) {
    const size_t end = std::min(text.find('&'), text.size());
    HttpHeaders one;
    ParseForm(text.substr(0, std::min(end, 4 * kMostGlanced)), &one);  // a broken escape ends it
    if (!one.empty()) show(WithoutBrackets(one[0].first), one[0].second);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void ShowParts(std::string_view content_type, std::string_view body, Show show) {
  std::string name, value;
  MultipartReader reader(content_type, {.begin =
                                            [&](FormPart part) {
                                              name = std::move(part.name);
                                              value.clear();
                                              return absl::OkStatus();
                                            },
                                        .value =
                                            [&](std::string_view piece) {
                                              if (value.size() <= kMostGlanced) value += piece;
                                              return absl::OkStatus();
                                            },
                                        .end =
                                            [&] {
                                              show(WithoutBrackets(name), value);
                                              return absl::OkStatus();
                                            }});
  // In pieces, as it keeps what has come until it understands it.
  for (; !body.empty(); body.remove_prefix(std::min(kMostGlanced, body.size()))) {
    if (!reader.Add(body.substr(0, kMostGlanced)).ok()) return;
  }
}

absl::Status AddFields(HttpHeaders form, nlohmann::json* fields) {
  for (auto& [name, value] : form) {
    if (!IsValidUtf8(name)) {
      return absl::InvalidArgumentError("the name of a field is not valid UTF-8");
    }
    if (!IsValidUtf8(value)) return InvalidField(name, "is not valid UTF-8");
    name.resize(WithoutBrackets(name).size());
    nlohmann::json& field = (*fields)[name];
    if (field.is_null()) {
      field = std::move(value);
    } else {
      if (!field.is_array()) field = nlohmann::json::array({field});
      field.push_back(std::move(value));
    }
  }
  return absl::OkStatus();
}

absl::Status AddForm(std::string_view text, nlohmann::json* fields) {
  HttpHeaders form;
  if (std::count(text.begin(), text.end(), '&') >= kMaxParts) {
    return InvalidArgumentError("the form has more than ", kMaxParts, " parts");
  }
  if (!ParseForm(text, &form)) return absl::InvalidArgumentError("a %-escape is broken");
  return AddFields(std::move(form), fields);
}

}  // namespace

absl::StatusOr<CompatFields> CompatFields::Read(const HttpRequest& request) {
  CompatFields fields;
  const std::string type = MediaType(request.Header("content-type"));
  if (type == kJson) {
    if (!IsValidUtf8(request.body))
      return absl::InvalidArgumentError("the body is not valid UTF-8");
    if (!request.body.empty()) {
      ASSIGN_OR_RETURN(fields.fields_, ParseJsonObject(request.body, "the body"));
    }
  } else if (type == kMultipart) {
    HttpHeaders form;
    RETURN_IF_ERROR(ParseMultipart(request.Header("content-type"), request.body, &form));
    RETURN_IF_ERROR(AddFields(std::move(form), &fields.fields_));
  } else {
    RETURN_IF_ERROR(AddForm(request.body, &fields.fields_));
  }
  ASSIGN_OR_RETURN(CompatFields query, ReadQuery(request));
  for (auto& [name, value] : query.fields_.items()) {
    if (!fields.fields_.contains(name)) fields.fields_[name] = std::move(value);
  }
  return fields;
}

CompatFields CompatFields::Glance(const HttpRequest& request,
                                  const std::vector<std::string_view>& names) {
  CompatFields seen;
  bool is_json = false;
  const auto see = [&](std::string_view name, std::string_view value) {
    if (!absl::c_linear_search(names, name) || seen.fields_.contains(name)) return;
    const size_t first = std::min(value.find_first_not_of(" \t\r\n"), value.size());
    const bool nests = is_json && value.substr(first, 1).find_first_of("{[") == 0;
    nlohmann::json read = true;
    if (value.size() <= kMostGlanced && !nests) {
      read = is_json ? nlohmann::json::parse(value, nullptr, /*allow_exceptions=*/false)
                     : nlohmann::json(std::string(value));
    }
    if (!read.is_discarded()) seen.fields_[std::string(name)] = std::move(read);
  };
  const std::string type = MediaType(request.Header("content-type"));
  is_json = type == kJson;
  if (is_json) {
    ShowJson(request.body, see);
  } else if (type == kMultipart) {
    ShowParts(request.Header("content-type"), request.body, see);
  } else {
    ShowForm(request.body, see);
  }
  is_json = false;
  ShowForm(request.query, see);
  return seen;
}

absl::StatusOr<CompatFields> CompatFields::ReadQuery(const HttpRequest& request) {
  CompatFields fields;
  RETURN_IF_ERROR(AddForm(request.query, &fields.fields_));
  return fields;
}

absl::StatusOr<CompatFields> CompatFields::FromForm(HttpHeaders form) {
  CompatFields fields;
  RETURN_IF_ERROR(AddFields(std::move(form), &fields.fields_));
  return fields;
}

CompatFields CompatFields::Of(nlohmann::json object) {
  CompatFields fields;
  fields.fields_ = std::move(object);
  return fields;
}

absl::Status CompatFields::Refuse(std::initializer_list<const char*> names) const {
  for (const char* const name : names) {
    if (Has(name)) return InvalidField(name, "is not supported");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> CompatFields::Text(const char* name,
                                               const std::string& otherwise) const {
  if (!Has(name)) return otherwise;
  const nlohmann::json& value = fields_[name];
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return WriteJson(value);
  return InvalidField(name, "is not a text");
}

absl::StatusOr<int> CompatFields::Number(const char* name, int otherwise) const {
  ASSIGN_OR_RETURN(const std::string text, Text(name));
  if (text.empty()) return otherwise;
  int number = 0;
  if (absl::SimpleAtoi(text, &number) && number >= 0) return number;
  return InvalidField(name, "\"", text.substr(0, 32), "\" is not a number of 0 or more");
}

absl::StatusOr<bool> CompatFields::Flag(const char* name, bool otherwise) const {
  ASSIGN_OR_RETURN(const std::string text, Text(name));
  if (text.empty()) return otherwise;
  if (text == "1" || absl::EqualsIgnoreCase(text, "true")) return true;
  if (text == "0" || absl::EqualsIgnoreCase(text, "false")) return false;
  return InvalidField(name, "\"", text.substr(0, 32), "\" is neither 0 nor 1");
}

absl::StatusOr<std::vector<std::string>> CompatFields::Names(const char* name) const {
  if (!Has(name)) return std::vector<std::string>();
  ASSIGN_OR_RETURN(const std::vector<std::string> texts, Texts(name));
  std::vector<std::string> names;
  for (const std::string& text : texts) {
    for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
      names.emplace_back(absl::StripAsciiWhitespace(part));
    }
  }
  return names;
}

absl::StatusOr<CompatFields> CompatFields::Object(const char* name) const {
  if (!Has(name)) return CompatFields();
  if (!fields_[name].is_object()) return InvalidField(name, "is not an object");
  return Of(fields_[name]);
}

absl::StatusOr<std::vector<CompatFields>> CompatFields::Objects(const char* name) const {
  std::map<int, CompatFields> objects;  // by their number
  if (Has(name)) {
    const nlohmann::json& value = fields_[name];
    for (const nlohmann::json& one : value) {
      if (!value.is_array() || !one.is_object()) {
        return InvalidField(name, "is not a list of objects");
      }
      objects[static_cast<int>(objects.size())].fields_ = one;
    }
  } else {
    for (const auto& [key, value] : fields_.items()) {
      absl::string_view rest = key;
      int number = 0;
      if (!absl::ConsumePrefix(&rest, name) || !absl::ConsumePrefix(&rest, "[")) continue;
      const size_t end = rest.find("].");
      if (end == rest.npos || !absl::SimpleAtoi(rest.substr(0, end), &number)) continue;
      objects[number].fields_[std::string(rest.substr(end + 2))] = value;
    }
  }
  std::vector<CompatFields> list;
  for (auto& [number, object] : objects) list.push_back(std::move(object));
  return list;
}

absl::StatusOr<std::vector<std::string>> CompatFields::Texts(const char* name) const {
  if (!Has(name)) return InvalidField(name, "is missing");
  std::vector<std::string> texts;
  const nlohmann::json& value = fields_[name];
  for (const nlohmann::json& text : value.is_array() ? value : nlohmann::json::array({value})) {
    if (!text.is_string()) return InvalidField(name, "is neither a text nor a list of texts");
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

HttpResponse JsonResponse(int code, const nlohmann::ordered_json& object) {
  return {.code = code, .content_type = kJson, .body = WriteJson(object)};
}

}  // namespace dragoman
