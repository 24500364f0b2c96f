#include "documents/icu_message.h"

#include <algorithm>

#include "absl/strings/str_replace.h"

namespace dragoman {
namespace {

constexpr int kMostIcuDepth = 16;       // of arguments
constexpr size_t kBytesOfMessage = 48;  // of what is found, for each byte
constexpr std::string_view kIcuSpaces = " \t\r\n";

// The size of "''", which is an apostrophe, of "'{", which begins what is not read until the next
// single one, or of an apostrophe, that the text begins with.
size_t QuoteSize(std::string_view text, bool number, bool choice) {
  const char next = text.size() > 1 ? text[1] : '\0';
  if (next == '\'') return 2;
  const bool quotes =
      next == '{' || next == '}' || (number && next == '#') || (choice && next == '|');
  if (!quotes) return 1;
  size_t end = text.find('\'', 1);
  while (end != text.npos && text.substr(end + 1).starts_with('\'')) end = text.find('\'', end + 2);
  return std::min(end, text.size() - 1) + 1;
}

// The size of what stands in front of the brace that closes the argument; in apostrophes, none is
// one.
size_t FormatSize(std::string_view text) {
  int depth = 1;
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '\'') at = std::min(text.find('\'', at + 1), at + text.size());
    if (at >= text.size()) break;
    if (text[at] == '{') ++depth;
    if (text[at] == '}' && --depth == 0) break;
  }
  return std::min(at, text.size());
}

// The size of "''{name}''" that the text begins with, which is kept whole; 0 if it does not.
size_t SizeInApostrophes(std::string_view text) {
  constexpr size_t kMostApostrophes = 8;
  const size_t run = text.substr(0, kMostApostrophes).find_first_not_of('\'');
  if (run == text.npos || run == 0 || run % 2 != 0 || !text.substr(run).starts_with('{')) return 0;
  const size_t end = run + FormatSize(text.substr(run + 1)) + 2;
  if (end > text.size() || !text.substr(end).starts_with(text.substr(0, run))) return 0;
  return end + run;
}

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
        at_ += QuoteSize(message_.substr(at_), number, choice);
      } else if (message_[at_] == '{') {
        const size_t argument = at_;
        const bool known = branches_;
        branches_ = false;
        const size_t place = texts_.size();
        if (depth == kMostIcuDepth || !Argument(number, depth)) return false;
        if (branches_) {
          texts_.insert(texts_.begin() + static_cast<std::ptrdiff_t>(place),
                        {begin, argument, number, choice});
          begin = at_;
        }
        branches_ = branches_ || known;
      } else {
        ++at_;
      }
    }
    texts_.push_back({begin, at_, number, choice});
    return true;
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
    at_ += FormatSize(message_.substr(at_));
    return Take('}');
  }

  const std::string_view message_;
  size_t at_ = 0;
  bool branches_ = false;  // in what was read
  std::vector<IcuText> texts_;
};

}  // namespace

std::vector<IcuText> FindIcuTexts(std::string_view message, Patience* patience) {
  if (message.find('{') == message.npos || message.find(',') == message.npos) return {};
  const size_t bytes = kBytesOfMessage * message.size();
  if (!patience->Takes(bytes)) return {};
  std::vector<IcuText> texts = IcuParser(message).Parse();
  patience->Returns(bytes);
  std::erase_if(texts, [](const IcuText& text) { return text.begin == text.end; });
  return texts;
}

std::vector<IcuPiece> ReadIcuText(std::string_view message, const IcuText& text) {
  const std::string_view all = message.substr(text.begin, text.end - text.begin);
  std::vector<IcuPiece> pieces;
  size_t done = 0, at = 0;
  const auto take = [&](size_t end, bool kept) {
    std::string piece(all.substr(done, end - done));
    // A choice is read twice, so that four are one.
    if (!kept && text.choice) piece = absl::StrReplaceAll(piece, {{"''''", "'"}});
    if (!kept) piece = absl::StrReplaceAll(piece, {{"''", "'"}});
    if (!kept && text.number) piece = absl::StrReplaceAll(piece, {{"#", kIcuNumber.data()}});
    if (!piece.empty()) pieces.push_back({std::move(piece), kept});
    done = at = end;
  };
  while (at < all.size()) {
    const std::string_view rest = all.substr(at);
    const size_t around = SizeInApostrophes(rest);
    const size_t size = around > 0        ? around
                        : rest[0] == '\'' ? QuoteSize(rest, text.number, text.choice)
                        : rest[0] == '{'  ? std::min(FormatSize(rest.substr(1)) + 2, rest.size())
                                          : 1;
    const bool quoted = rest[0] == '\'' && size > 2;
    if (quoted || (rest[0] == '{' && rest.substr(0, size).find(',') != rest.npos)) {
      const size_t begin = at;
      take(begin, false);
      take(begin + size, true);
    } else {
      at += size;
    }
  }
  take(all.size(), false);
  return pieces;
}

std::string SpellApostrophes(std::string_view words, std::string_view apostrophe,
                             std::string_view quoted) {
  std::string out;
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string_view rest = words.substr(at);
    const bool quotes = rest.size() > 1 && quoted.find(rest[1]) != quoted.npos;
    if (rest[0] != '\'') {
      out += rest[0];
    } else {
      out += apostrophe == "'" && quotes ? "’" : apostrophe;
    }
  }
  return out;
}

}  // namespace dragoman
