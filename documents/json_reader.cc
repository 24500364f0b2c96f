// JSON with texts: the strings that are values of objects and arrays, and ARB, where keys that
// begin with "@" hold remarks.
//
//   {"greeting": "Hello, {name}!",
//    "dogs": "{count, plural, one {One dog} other {# dogs}}",      two passages (icu_message.h)
//    "@dogs": {"description": "kept"}}
//
// What is written is escaped as the file is: with "\u00e9" if it has such escapes and no other
// characters than ASCII, with "\/" if it has these.  Keys stay as they are.

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "documents/icu_message.h"
#include "documents/inline_text.h"
#include "documents/passage_list.h"
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
  static constexpr std::string_view kCharacters = "\n\t\r\b\f\"\\", kLetters = "ntrbf\"\\";
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t c = NextCodePoint(text, &at);
    const size_t found = c < 0x80 ? kCharacters.find(static_cast<char>(c)) : kCharacters.npos;
    if (found != kCharacters.npos) {
      out += {'\\', kLetters[found]};
    } else if (c == '/' && style.slashes) {
      out += "\\/";
    } else if (c >= 0x20 && (c < 0x80 || !style.ascii)) {
      out += text.substr(begin, at - begin);
    } else {
      AppendUnicodeEscape(c, &out);
    }
  }
  return out;
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

class JsonHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, JsonHandler> {
 public:
  JsonHandler(std::string_view part, bool arb, const DocumentOptions& options)
      : part_(part),
        arb_(arb),
        options_(options),
        patience_(options),
        style_(JsonStyleOf(part)),
        lines_(part) {}

  // Called behind each thing that is read; false ends the reading.
  bool Default() { return Advance(); }
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

  absl::Status Read() {
    rapidjson::MemoryStream stream(part_.data(), part_.size());
    stream_ = &stream;
    rapidjson::Reader reader;
    constexpr unsigned kFlags =
        rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
    if (reader.Parse<kFlags>(stream, *this)) return absl::OkStatus();
    RETURN_IF_ERROR(patience_.status());
    const size_t place = std::min(reader.GetErrorOffset(), part_.size());
    return DamagedAt(
        part_, place,
        absl::StrCat("is not JSON: ", rapidjson::GetParseError_En(reader.GetParseErrorCode())));
  }

  Passages TakePassages() { return passages_.Take(); }

 private:
  bool Advance() {
    const size_t begin = std::exchange(place_, stream_->Tell());
    return patience_.Lasts(place_ - begin);
  }
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
      naming_ =
          Replacement(begin, end, lines_.At(begin), SpellJson(options_.target_language, style_));
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
      return Add(PlainPassage(begin, end, lines_.At(begin), text, spell));
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
      Add(PlainPassage(from, to, lines_.At(from), ReadIcuText(characters, number), spell));
    }
  }

  void Add(Passage passage) {
    if (naming_.has_value()) passages_.Add(*std::exchange(naming_, std::nullopt));
    passages_.Add(std::move(passage));
  }

  const std::string_view part_;
  const bool arb_;
  const DocumentOptions& options_;
  Patience patience_;
  const JsonStyle style_;
  LineCounter lines_;
  const rapidjson::MemoryStream* stream_ = nullptr;
  size_t place_ = 0;  // behind what was read
  std::string key_;   // of the next value
  int depth_ = 0, kept_ = 0;
  std::optional<Passage> naming_;  // of the target language, in front of the next passage
  PassageList passages_{&patience_};
};

Passages ReadStrings(std::string_view part, bool arb, const DocumentOptions& options) {
  JsonHandler handler(part, arb, options);
  RETURN_IF_ERROR(handler.Read());
  return handler.TakePassages();
}

}  // namespace

Passages ReadJson(std::string_view part, const DocumentOptions& options) {
  return ReadStrings(part, false, options);
}
Passages ReadArb(std::string_view part, const DocumentOptions& options) {
  return ReadStrings(part, true, options);
}

}  // namespace dragoman
