// JSON with texts: the strings that are values of objects and arrays, and ARB, where keys that
// begin with "@" hold remarks.
//
//   {"greeting": "Hello, {name}!",
//    "dogs": "{count, plural, one {One dog} other {# dogs}}",      see program_text.h
//    "@dogs": {"description": "kept"}}
//
// What is written is escaped as the file is: with "\u00e9" if it has such escapes and no other
// characters than ASCII, with "\/" if it has these.  Keys stay as they are.

#include <algorithm>
#include <utility>

#include "documents/inline_text.h"
#include "documents/json_events.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "engine/base/patience.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

// How a file spells what it need not escape.
struct JsonStyle {
  bool ascii = false;    // "\u00e9"
  bool slashes = false;  // "\/"
};

JsonStyle JsonStyleOf(std::string_view part) {
  return {IsAscii(part) && part.find("\\u") != part.npos, part.find("\\/") != part.npos};
}

std::string SpellJson(std::string_view text, JsonStyle style) {
  static constexpr std::string_view kCharacters = "\n\t\r\b\f\"\\/", kLetters = "ntrbf\"\\/";
  const auto write = [&](char32_t c, std::string* out) {
    const bool shown = c >= 0x20 && (c < 0x80 || !style.ascii);
    if (shown) AppendUtf8(c, out);
    return shown;
  };
  const std::string_view escaped =
      kCharacters.substr(0, kCharacters.size() - (style.slashes ? 0 : 1));
  return WithEscapes(text, escaped, kLetters, write);
}

constexpr size_t kBytesOfLevel = 32;  // what the parser keeps of an object or array that is open

class JsonHandler : public JsonEvents<JsonHandler> {
 public:
  JsonHandler(std::string_view part, bool arb, const DocumentOptions& options)
      : JsonEvents(part, options), arb_(arb), options_(options), style_(JsonStyleOf(part)) {}

  bool Key(const char* text, rapidjson::SizeType size, bool) {
    key_.assign(text, size);
    return Advance();
  }
  bool StartObject() { return Open(); }
  bool EndObject(rapidjson::SizeType) { return Close(); }
  bool StartArray() { return Open(); }
  bool EndArray(rapidjson::SizeType) { return Close(); }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    const size_t begin = part_.find('"', place_) + 1;
    if (!Advance()) return false;
    if (kept_ == 0) AddString({text, size}, begin, place_ - 1);
    return true;
  }

 private:
  // `kept_` counts the open values inside of one whose key begins with "@".
  bool Open() {
    ++depth_;
    patience_.Takes(kBytesOfLevel);
    if (kept_ > 0 || IsRemark()) ++kept_;
    key_.clear();
    return Advance();
  }
  bool Close() {
    --depth_;
    patience_.Returns(kBytesOfLevel);
    if (kept_ > 0) --kept_;
    key_.clear();
    return Advance();
  }
  bool IsRemark() const { return arb_ && key_.starts_with('@'); }

  void AddString(std::string_view text, size_t begin, size_t end) {
    if (arb_ && depth_ == 1 && key_ == "@@locale" && !options_.target_language.empty()) {
      passages_.AddBeforeNext(
          Replacement(begin, end, lines_.At(begin), SpellJson(options_.target_language, style_)));
    }
    if (IsRemark() || !HasWords(text)) return;
    const auto spell = [style = style_](std::string_view characters) {
      return SpellJson(characters, style);
    };
    passages_.Add(PlainPassage(begin, end, lines_.At(begin), text, spell));
  }

  const bool arb_;
  const DocumentOptions& options_;
  const JsonStyle style_;
  std::string key_;  // of the next value
  int depth_ = 0, kept_ = 0;
};

}  // namespace

Passages ReadJson(std::string_view part, const DocumentOptions& options) {
  return JsonHandler(part, false, options).Read();
}
Passages ReadArb(std::string_view part, const DocumentOptions& options) {
  return JsonHandler(part, true, options).Read();
}

}  // namespace dragoman
