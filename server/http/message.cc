#include "server/http/message.h"

#include <utility>

#include "absl/strings/ascii.h"

namespace dragoman {
namespace {

// -1 if it is not a hexadecimal digit.
int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string_view HttpRequest::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

HttpHandler AnswerAtOnce(std::function<HttpResponse(const HttpRequest& request)> answer) {
  return [answer = std::move(answer)](const HttpRequest& request,
                                      const std::shared_ptr<HttpAnswer>& to) {
    to->Send(answer(request));
  };
}

bool UnescapePercent(std::string_view text, bool plus_is_space, std::string* out) {
  out->clear();
  out->reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out->push_back(' ');
    } else if (text[i] != '%') {
      out->push_back(text[i]);
    } else {
      if (i + 2 >= text.size()) return false;
      const int high = HexDigit(text[i + 1]), low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0 || (high == 0 && low == 0)) return false;
      out->push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return true;
}

bool ParseForm(std::string_view text, HttpHeaders* fields) {
  while (!text.empty()) {
    const size_t end = text.find('&');
    const std::string_view field = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    if (field.empty()) continue;
    const size_t equals = field.find('=');
    auto& [name, value] = fields->emplace_back();
    if (!UnescapePercent(field.substr(0, equals), true, &name)) return false;
    if (equals == field.npos) continue;
    if (!UnescapePercent(field.substr(equals + 1), true, &value)) return false;
  }
  return true;
}

std::string MediaType(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  std::string type(content_type);
  absl::StripAsciiWhitespace(&type);
  absl::AsciiStrToLower(&type);
  return type;
}

}  // namespace dragoman
