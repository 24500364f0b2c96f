#include "server/http/json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/json_util.h>

#include <vector>

#include "engine/base/json.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

// The parser's messages have several lines, with the input and a mark under it.
std::string FirstLine(absl::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

// Finds a value where a message has a list, which protobuf takes for a list of one.  Stops there.
class ListChecker : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit ListChecker(const google::protobuf::Descriptor* root) : root_(root) {}

  // The name of the list; "" if there is none.
  const std::string& wrong() const { return wrong_; }

  bool null() override { return true; }
  bool boolean(bool) override { return OnValue(); }
  bool number_integer(number_integer_t) override { return OnValue(); }
  bool number_unsigned(number_unsigned_t) override { return OnValue(); }
  bool number_float(number_float_t, const string_t&) override { return OnValue(); }
  bool string(string_t&) override { return OnValue(); }
  bool binary(binary_t&) override { return OnValue(); }
  bool start_object(std::size_t) override {
    if (!OnValue()) return false;
    const auto* const object = places_.empty()           ? root_
                               : place_.field == nullptr ? nullptr
                                                         : place_.field->message_type();
    places_.push_back(place_);
    place_ = {.object = object};
    return true;
  }
  bool key(string_t& name) override {
    place_.field = nullptr;
    if (place_.object == nullptr) return true;
    place_.field = place_.object->FindFieldByCamelcaseName(name);
    if (place_.field == nullptr) place_.field = place_.object->FindFieldByName(name);
    return true;
  }
  bool end_object() override { return Leave(); }
  bool start_array(std::size_t) override {
    places_.push_back(place_);
    place_.in_list = true;
    return true;
  }
  bool end_array() override { return Leave(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  struct Place {
    const google::protobuf::Descriptor* object = nullptr;      // null: of no known message
    const google::protobuf::FieldDescriptor* field = nullptr;  // whose value comes
    bool in_list = false;
  };

  bool OnValue() {
    const auto* const field = place_.field;
    if (field == nullptr || !field->is_repeated() || field->is_map() || place_.in_list) return true;
    wrong_ = field->json_name();
    return false;
  }
  bool Leave() {
    place_ = places_.back();
    places_.pop_back();
    return true;
  }

  const google::protobuf::Descriptor* const root_;
  Place place_;
  std::vector<Place> places_;
  std::string wrong_;
};

}  // namespace

absl::Status FromJson(std::string_view json, google::protobuf::Message* message) {
  const std::string& name = message->GetDescriptor()->name();
  if (!IsValidUtf8(json)) return absl::InvalidArgumentError("the body is not valid UTF-8");
  if (json.find_first_not_of(" \t\r\n") == json.npos) {
    return InvalidArgumentError("the body is empty, want a ", name, " as JSON");
  }
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), message);
  if (status.ok()) {
    ListChecker lists(message->GetDescriptor());
    nlohmann::json::sax_parse(json, &lists);
    if (lists.wrong().empty()) return absl::OkStatus();
    return InvalidArgumentError("the body is no ", name, " as JSON: ", lists.wrong(),
                                " is not a list");
  }
  const auto why = status.message();
  return InvalidArgumentError("the body is no ", name,
                              " as JSON: ", FirstLine(absl::string_view(why.data(), why.size())));
}

size_t MemoryOfValues(std::string_view json) {
  constexpr size_t kEach = 96;  // a member counts twice, by its colon and its comma
  size_t bytes = 0;
  ForEachMark(json, [&](size_t at) { bytes += json[at] == '}' || json[at] == ']' ? 0 : kEach; });
  return bytes;
}

absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message) {
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json);
  if (status.ok()) return json;
  return InternalError(message.GetDescriptor()->name(), " as JSON: ",
                       absl::string_view(status.message().data(), status.message().size()));
}

}  // namespace dragoman
