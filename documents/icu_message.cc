#include "documents/icu_message.h"

#include <algorithm>

#include "absl/strings/str_replace.h"

namespace dragoman {
namespace {

constexpr int kMostIcuDepth = 16;  // of arguments
constexpr std::string_view kIcuSpaces = " \t\r\n";

// Reads a message, by the grammar of MessagePattern in ICU:
//
//   message = (text | "{" name "}" | "{" name "," type ["," style] "}")*
//   style of plural, select and selectordinal = ["offset:" number] (selector "{" message "}")+
//   style of choice = number ("#" | "<") message ("|" number ("#" | "<") message)*
class IcuParser {
 public:
  explicit IcuParser(std::string_view message) : message_(message) {}

  std::vector<IcuText> Parse() {
    const bool read = Message(false, 0) && at_ == message_.size();
    return read && branches_ ? std::move(texts_) : std::vector<IcuText>();
  }

 private:
  char Peek() const { return at_ < message_.size() ? message_[at_] : '\0'; }
  void SkipSpaces() {
    at_ = std::min(message_.find_first_not_of(kIcuSpaces, at_), message_.size());
  }
  std::string_view Word() {
    SkipSpaces();
    const size_t end = std::min(message_.find_first_of(" \t\r\n,{}", at_), message_.size());
    const std::string_view word = message_.substr(at_, end - at_);
    at_ = end;
    SkipSpaces();
    return word;
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }

  // Up to the brace that closes the message, the bar that ends a choice, or the end.
  bool Message(bool number, int depth, bool choice = false) {
    size_t begin = at_;
    while (at_ < message_.size() && message_[at_] != '}' && !(choice && message_[at_] == '|')) {
      if (message_[at_] == '\'') {
        SkipQuote();
      } else if (message_[at_] == '{') {
        const size_t argument = at_;
        const bool known = branches_;
        branches_ = false;
        const size_t place = texts_.size();
        if (depth == kMostIcuDepth || !Argument(number, depth)) return false;
        if (branches_) {
          texts_.insert(texts_.begin() + static_cast<std::ptrdiff_t>(place),
                        {begin, argument, number});
          begin = at_;
        }
        branches_ = branches_ || known;
      } else {
        ++at_;
      }
    }
    texts_.push_back({begin, at_, number});
    return true;
  }

  // "''" is an apostrophe, and "'{" begins what is not read until the next apostrophe.
  void SkipQuote() {
    ++at_;
    if (Take('\'')) return;
    if (Peek() != '{' && Peek() != '}') return;
    at_ = std::min(message_.find('\'', at_), message_.size() - 1) + 1;
  }

  bool Argument(bool number, int depth) {
    ++at_;
    if (Word().empty()) return false;
    if (Take('}')) return true;
    if (!Take(',')) return false;
    const std::string_view type = Word();
    const bool plural = type == "plural" || type == "selectordinal";
    if (!plural && type != "select" && type != "choice") return Style();
    if (!Take(',')) return false;
    branches_ = true;
    if (type == "choice") {
      do {
        at_ = std::min(message_.find_first_of("#<&{|}", at_), message_.size());
        const bool escaped = message_.substr(at_).starts_with("&lt;");
        if (Peek() != '#' && Peek() != '<' && !escaped) return false;
        at_ += escaped ? 4 : 1;
        if (!Message(false, depth + 1, /*choice=*/true)) return false;
        branches_ = true;
      } while (Take('|'));
      return Take('}');
    }
    while (true) {
      const std::string_view selector = Word();
      if (selector.empty()) return Take('}');
      if (selector.starts_with("offset:")) {
        if (selector.size() == 7) Word();
        continue;
      }
      if (!Take('{') || !Message(plural || number, depth + 1) || !Take('}')) return false;
      branches_ = true;
    }
  }

  // The rest of an argument such as {when, date, short}.
  bool Style() {
    int depth = 1;
    for (; at_ < message_.size(); ++at_) {
      if (message_[at_] == '{') ++depth;
      if (message_[at_] == '}' && --depth == 0) break;
    }
    return Take('}');
  }

  const std::string_view message_;
  size_t at_ = 0;
  bool branches_ = false;  // in what was read
  std::vector<IcuText> texts_;
};

}  // namespace

std::vector<IcuText> FindIcuTexts(std::string_view message) {
  if (message.find('{') == message.npos || message.find(',') == message.npos) return {};
  std::vector<IcuText> texts = IcuParser(message).Parse();
  std::erase_if(texts, [](const IcuText& text) { return text.begin == text.end; });
  return texts;
}

std::string ReadIcuText(std::string_view text, bool number) {
  std::string out(text);
  if (number && out.find(kIcuNumber) == out.npos) {
    out = absl::StrReplaceAll(out, {{"#", std::string(kIcuNumber)}});
  }
  return out;
}

std::string SpellIcuText(std::string_view text, bool number) {
  std::string out = SpellApostrophes(text);
  return number ? absl::StrReplaceAll(out, {{std::string(kIcuNumber), "#"}}) : out;
}

std::string SpellApostrophes(std::string_view text) {
  return absl::StrReplaceAll(std::string(text), {{"'{", "’{"}, {"'}", "’}"}});
}

}  // namespace dragoman
