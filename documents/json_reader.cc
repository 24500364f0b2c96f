// JSON with texts: the strings that are values of objects and arrays, and ARB, where keys that
// begin with "@" hold remarks.
//
//   {"greeting": "Hello, {name}!",
//    "dogs": "{count, plural, one {One dog} other {# dogs}}",      two passages (icu_message.h)
//    "@dogs": {"description": "kept"}}
//
// What is written is escaped as the file is: with "\u00e9" if it has such escapes and no other
// characters than ASCII, with "\/" if it has these.  Keys stay as they are.

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "documents/icu_message.h"
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

// For each byte of the characters of a string, and their end, where it is written in `raw`.
std::vector<size_t> Places(std::string_view raw) {
  std::vector<size_t> places;
  for (size_t at = 0; at < raw.size();) {
    size_t size = 1, bytes = 1;
    if (raw[at] == '\\') {
      const auto code = [&](size_t from) {
        return ParseCode(raw.substr(std::min(from, raw.size()), 4), 16);
      };
      const bool unit = raw.substr(at).starts_with("\\u");
      size = unit ? 6 : 2;
      if (unit && !code(at + 2).has_value()) {  // half of a pair
        size = 12;
        bytes = 4;
      } else if (unit) {
        bytes = *code(at + 2) < 0x80 ? 1 : *code(at + 2) < 0x800 ? 2 : 3;
      }
    }
    places.insert(places.end(), bytes, at);
    at += size;
  }
  places.push_back(raw.size());
  return places;
}

// What the parser keeps of an object or array that is open, and what is kept for each byte of a
// message while it is read.
constexpr size_t kBytesOfLevel = 32, kBytesOfBranches = 48;

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
    // What is found of the branches of a message, and where.
    const size_t taken = patience_.taken();
    if (text.find('{') != text.npos && !patience_.Takes(kBytesOfBranches * text.size())) return;
    const std::vector<IcuText> icu = FindIcuTexts(text);
    const std::vector<size_t> places =
        icu.empty() ? std::vector<size_t>() : Places(part_.substr(begin, end - begin));
    patience_.ReturnTo(taken);
    if (icu.empty()) {
      const bool quotes = text.find("'{") != text.npos || text.find("'}") != text.npos;
      const auto spell = [style = style_, quotes](std::string_view characters) {
        return SpellJson(quotes ? std::string(characters) : SpellApostrophes(characters), style);
      };
      return passages_.Add(PlainPassage(begin, end, lines_.At(begin), text, spell));
    }
    if (places.size() != text.size() + 1) return;
    for (const IcuText& branch : icu) {
      const std::string_view characters = text.substr(branch.begin, branch.end - branch.begin);
      if (!HasWords(characters)) continue;
      // "#" has a stand-in, unless that is an argument of the message itself.
      const bool number = branch.number && text.find(kIcuNumber) == text.npos;
      const auto spell = [style = style_, number](std::string_view translation) {
        return SpellJson(SpellIcuText(translation, number), style);
      };
      const size_t from = begin + places[branch.begin], to = begin + places[branch.end];
      passages_.Add(
          PlainPassage(from, to, lines_.At(from), ReadIcuText(characters, number), spell));
    }
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
