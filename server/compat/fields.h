// The fields of a request to one of the other APIs, in whatever form they were sent: a JSON object,
// a form of either kind, or the query of the URL.  A name that is repeated in a form is a list.

#ifndef DRAGOMAN_SERVER_COMPAT_FIELDS_H_
#define DRAGOMAN_SERVER_COMPAT_FIELDS_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/json.h"
#include "server/http/message.h"

namespace dragoman {

class CompatFields {
 public:
  // Reads the body and the query, or only the query if there is no body.  INVALID_ARGUMENT if
  // either cannot be read.
  static absl::StatusOr<CompatFields> Read(const HttpRequest& request);
  // Reads only the query.
  static absl::StatusOr<CompatFields> ReadQuery(const HttpRequest& request);

  // Reads these fields alone, and keeps nothing else, for a caller who is not known yet: texts of
  // up to 4 KiB, numbers and bools.  What is longer, or holds other values, is true.  Of several
  // with one name the first; what cannot be read is not there.
  static CompatFields Glance(const HttpRequest& request,
                             const std::vector<std::string_view>& names);

  // The fields of a form that was read already.
  static absl::StatusOr<CompatFields> FromForm(HttpHeaders form);

  // The members of an object.
  static CompatFields Of(nlohmann::json object);

  void Set(const char* name, const std::string& text) { fields_[name] = text; }
  void Set(const char* name, const CompatFields& object) { fields_[name] = object.fields_; }

  // A null of JSON counts as absent.
  bool Has(const char* name) const { return fields_.contains(name) && !fields_[name].is_null(); }
  // INVALID_ARGUMENT if there is one of these, which the server does not support.
  absl::Status Refuse(std::initializer_list<const char*> names) const;
  // Whether the value is a list, even with one element.
  bool IsList(const char* name) const { return Has(name) && fields_[name].is_array(); }

  // A string, a number or a bool as text; `otherwise` if it is absent.  INVALID_ARGUMENT names the
  // field if it is anything else.
  absl::StatusOr<std::string> Text(const char* name, const std::string& otherwise = "") const;
  // A number, 0 or more.
  absl::StatusOr<int> Number(const char* name, int otherwise) const;
  // "1", "true" (in any case) or a true bool; "0", "false" or a false one.  INVALID_ARGUMENT if it
  // is neither.
  absl::StatusOr<bool> Flag(const char* name, bool otherwise) const;
  // A list of strings, or strings separated by commas; none if it is absent.
  absl::StatusOr<std::vector<std::string>> Names(const char* name) const;
  // An object; an empty one if it is absent.
  absl::StatusOr<CompatFields> Object(const char* name) const;
  // A list of objects; of a form, the fields name[0].key and so on.  None if it is absent.
  absl::StatusOr<std::vector<CompatFields>> Objects(const char* name) const;
  // A string, or a list of strings.  INVALID_ARGUMENT if it is absent.
  absl::StatusOr<std::vector<std::string>> Texts(const char* name) const;

 private:
  nlohmann::json fields_ = nlohmann::json::object();
};

// An answer with `object` as its body.
HttpResponse JsonResponse(int code, const nlohmann::ordered_json& object);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_COMPAT_FIELDS_H_
