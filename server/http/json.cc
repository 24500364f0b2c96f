#include "server/http/json.h"

#include <google/protobuf/util/json_util.h>

#include "absl/strings/str_cat.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

// The parser's messages have several lines, with the input and a mark under it.
std::string FirstLine(absl::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

absl::Status FromJson(std::string_view json, google::protobuf::Message* message) {
  const std::string& name = message->GetDescriptor()->name();
  if (!IsValidUtf8(json)) return absl::InvalidArgumentError("the body is not valid UTF-8");
  if (json.find_first_not_of(" \t\r\n") == json.npos) {
    return absl::InvalidArgumentError(absl::StrCat("the body is empty, want a ", name, " as JSON"));
  }
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), message);
  if (status.ok()) return absl::OkStatus();
  const auto why = status.message();
  return absl::InvalidArgumentError(absl::StrCat(
      "the body is no ", name, " as JSON: ", FirstLine(absl::string_view(why.data(), why.size()))));
}

absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message) {
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json);
  if (status.ok()) return json;
  return absl::InternalError(absl::StrCat(
      message.GetDescriptor()->name(),
      " as JSON: ", absl::string_view(status.message().data(), status.message().size())));
}

}  // namespace dragoman
