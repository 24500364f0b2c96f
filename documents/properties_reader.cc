// Java's .properties: the values of keys.
//
//   greeting = Hello, {0}!          # a comment
//   long = One \                    a value may go on in the next line
//          two \u00e9
//
// A file with characters that are not ASCII is UTF-8, or if it is not, ISO-8859-1, in which others
// are escaped.  In a file of ASCII all others are escaped, so that every Java can read it.  A value
// is written in one line.

#include <algorithm>
#include <utility>

#include "documents/inline_text.h"
#include "documents/message_format.h"
#include "documents/passage_list.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "engine/base/patience.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr std::string_view kPropertiesBlanks = " \t\f";

enum class Encoding { kAscii, kUtf8, kLatin1 };

Encoding EncodingOf(std::string_view part) {
  if (IsAscii(part)) return Encoding::kAscii;
  return IsValidUtf8(part) ? Encoding::kUtf8 : Encoding::kLatin1;
}

std::string SpellValue(std::string_view text, Encoding encoding) {
  return WithEscapes(text, "\n\t\r\f\\", "ntrf\\", [encoding](char32_t c, std::string* out) {
    const bool byte = c < 0x80 || (c < 0x100 && encoding == Encoding::kLatin1);
    if (c < 0x20 || (!byte && encoding != Encoding::kUtf8)) return false;
    if (byte) {
      *out += static_cast<char>(c);
    } else {
      AppendUtf8(c, out);
    }
    return true;
  });
}

class PropertiesReader {
 public:
  PropertiesReader(std::string_view part, const DocumentOptions& options)
      : part_(part), patience_(options), encoding_(EncodingOf(part)) {}

  Passages Read() && {
    const size_t zero = part_.find('\0');
    if (zero != part_.npos) return DamagedAt(part_, zero, "has a zero byte");
    for (size_t begin = 0, at = 0; at < part_.size(); begin = at) {
      at = std::min(part_.find_first_not_of(" \t\f\r\n", at), part_.size());
      if (!patience_.Lasts(at - begin)) return patience_.status();
      if (at == part_.size()) break;
      if (part_[at] == '#' || part_[at] == '!') {
        at = EndOfLine(at);
        continue;
      }
      line_ = lines_.At(at);
      RETURN_IF_ERROR(ReadPair(&at));
    }
    return passages_.Take();
  }

 private:
  size_t EndOfLine(size_t at) const {
    return std::min(part_.find_first_of("\r\n", at), part_.size());
  }

  absl::Status ReadPair(size_t* at) {
    std::string key;
    while (*at < part_.size() && std::string_view("=: \t\f\r\n").find(part_[*at]) == part_.npos) {
      RETURN_IF_ERROR(TakeCharacter(at, &key));
    }
    SkipBlanks(at);
    if (*at < part_.size() && (part_[*at] == '=' || part_[*at] == ':')) {
      ++*at;
      SkipBlanks(at);
    }
    const size_t begin = *at;
    std::string value;
    while (*at < part_.size() && part_[*at] != '\r' && part_[*at] != '\n') {
      RETURN_IF_ERROR(TakeCharacter(at, &value));
    }
    if (!IsValidUtf8(value)) return DamagedLine(line_, "has half of a surrogate pair");
    if (HasWords(value)) Add(begin, *at, value);
    return absl::OkStatus();
  }

  void SkipBlanks(size_t* at) const {
    while (true) {
      *at = std::min(part_.find_first_not_of(kPropertiesBlanks, *at), part_.size());
      const size_t next = AfterContinuation(*at);
      if (next == *at) return;
      *at = next;
    }
  }

  // Behind a backslash at the end of a line, and the blanks of the next one; `at` if there is none.
  size_t AfterContinuation(size_t at) const {
    const std::string_view rest = part_.substr(at);
    const size_t size = rest.starts_with("\\\r\n")                             ? 3
                        : rest.starts_with("\\\n") || rest.starts_with("\\\r") ? 2
                                                                               : 0;
    if (size == 0) return at;
    return std::min(part_.find_first_not_of(kPropertiesBlanks, at + size), part_.size());
  }

  absl::Status TakeCharacter(size_t* at, std::string* out) const {
    if (const size_t next = AfterContinuation(*at); next != *at) {
      *at = next;
      return absl::OkStatus();
    }
    char c = part_[(*at)++];
    if (c == '\\') {
      if (*at == part_.size()) return absl::OkStatus();
      c = part_[(*at)++];
      if (c == 'u') return TakeUnit(at, out);
      static constexpr std::string_view kCharacters = "\n\t\r\f", kLetters = "ntrf";
      if (const size_t found = kLetters.find(c); found != kLetters.npos) c = kCharacters[found];
    }
    if (encoding_ == Encoding::kLatin1) {
      AppendUtf8(static_cast<unsigned char>(c), out);
    } else {
      *out += c;
    }
    return absl::OkStatus();
  }

  // "\u00e9", or a pair of them for a character above U+FFFF.
  absl::Status TakeUnit(size_t* at, std::string* out) const {
    const auto unit = [&](size_t from) -> int {
      const std::string_view digits = part_.substr(std::min(from, part_.size()), 4);
      if (digits.size() < 4) return -1;
      int code = 0;
      for (const char c : digits) {
        const size_t digit = std::string_view("0123456789abcdef").find(static_cast<char>(c | 0x20));
        if (digit == part_.npos) return -1;
        code = code * 16 + static_cast<int>(digit);
      }
      return code;
    };
    const int first = unit(*at);
    if (first < 0) return DamagedLine(line_, "want four hexadecimal digits behind \\u");
    *at += 4;
    if (first < 0xd800 || first > 0xdfff) {
      AppendUtf8(static_cast<char32_t>(first), out);
      return absl::OkStatus();
    }
    const int second = part_.substr(*at).starts_with("\\u") ? unit(*at + 2) : -1;
    if (first > 0xdbff || second < 0xdc00 || second > 0xdfff) {
      return DamagedLine(line_, "has half of a surrogate pair");
    }
    *at += 6;
    AppendUtf8(static_cast<char32_t>(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)), out);
    return absl::OkStatus();
  }

  void Add(size_t begin, size_t end, const std::string& value) {
    const auto spell = [encoding = encoding_](std::string_view characters) {
      return SpellValue(characters, encoding);
    };
    auto message = MessageFormatPassage(begin, end, line_, value, false, spell, &patience_);
    AddPassage(message.has_value() ? *std::move(message)
                                   : PlainPassage(begin, end, line_, value, spell));
  }

  // A value does not begin with what may stand between it and its key.
  void AddPassage(Passage passage) {
    passage.write = [write = std::move(passage.write)](std::string_view translation) {
      std::string value = write(translation);
      if (value.find_first_of(" =:") == 0) value.insert(0, "\\");
      return value;
    };
    passages_.Add(std::move(passage));
  }

  const std::string_view part_;
  Patience patience_;
  const Encoding encoding_;
  LineCounter lines_{part_};
  int line_ = 1;
  PassageList passages_{&patience_};
};

}  // namespace

Passages ReadProperties(std::string_view part, const DocumentOptions& options) {
  return PropertiesReader(part, options).Read();
}

}  // namespace dragoman
