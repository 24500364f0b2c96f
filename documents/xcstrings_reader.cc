// Xcode's string catalogues (.xcstrings): JSON with all languages of each string.
//
//   {"sourceLanguage" : "en", "strings" : {
//      "Hello" : {"localizations" : {"fr" : {"stringUnit" : {"state" : "translated", ...}}}}}}
//                                                                                     ^ "de" is
//                                                                                     added
//
// A string without a translation gets one, whose state is "needs_review".  Its text is that in the
// source language, or its key.  Strings that vary (by number or device), and those that are not to
// be translated, stay as they are.

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "documents/inline_text.h"
#include "documents/passage_list.h"
#include "documents/patience.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "engine/base/json.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr size_t kMostCatalogueDepth = 32;
constexpr size_t kBytesOfCatalogueKey = 64;

class CatalogueHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, CatalogueHandler> {
 public:
  CatalogueHandler(std::string_view part, const DocumentOptions& options)
      : part_(part),
        source_(options.source_language),
        target_(options.target_language),
        patience_(options),
        lines_(part) {}

  bool Default() { return Advance(); }
  bool Bool(bool value) {
    if (keys_.size() == 3 && keys_[2] == "shouldTranslate") entry_.translated = value;
    return Advance();
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    keys_.back().assign(text, size);
    patience_.Takes(kBytesOfCatalogueKey + size);
    if (InLocalizations() && keys_.size() == 4 && keys_[3] == target_) entry_.translated = false;
    if (InLocalizations() && keys_.size() == 5 && keys_[4] == "variations") entry_.varies = true;
    return Advance();
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    if (keys_.size() == 1 && keys_[0] == "sourceLanguage") source_.assign(text, size);
    if (keys_.size() == 6 && InLocalizations() && keys_[3] == source_ && keys_[4] == "stringUnit" &&
        keys_[5] == "value") {
      entry_.text.assign(text, size);
    }
    return Advance();
  }
  bool StartObject() {
    if (keys_.size() == 2 && keys_[0] == "strings") entry_ = {.text = keys_[1]};
    return Open();
  }
  bool EndObject(rapidjson::SizeType members) {
    keys_.pop_back();
    const size_t end = stream_->Tell() + skipped_;
    const size_t brace = end < part_.size() && part_[end] == '}' ? end : end - 1;
    if (InLocalizations() && keys_.size() == 3) {
      entry_.localizations = brace;
      entry_.languages = members > 0;
    }
    if (keys_.size() == 2 && keys_[0] == "strings") AddEntry(brace, members > 0);
    return Advance();
  }
  bool StartArray() { return Open(); }
  bool EndArray(rapidjson::SizeType) {
    keys_.pop_back();
    return Advance();
  }

  absl::Status Read(size_t skipped) {
    rapidjson::MemoryStream stream(part_.data() + skipped, part_.size() - skipped);
    stream_ = &stream;
    skipped_ = skipped;
    rapidjson::Reader reader;
    constexpr unsigned kFlags =
        rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
    if (reader.Parse<kFlags>(stream, *this)) return absl::OkStatus();
    RETURN_IF_ERROR(patience_.status());
    const size_t place = std::min(reader.GetErrorOffset() + skipped, part_.size());
    if (keys_.size() > kMostCatalogueDepth) return DamagedAt(part_, place, "nests too deep");
    return DamagedAt(
        part_, place,
        absl::StrCat("is not JSON: ", rapidjson::GetParseError_En(reader.GetParseErrorCode())));
  }

  Passages TakePassages() { return passages_.Take(); }

 private:
  struct Entry {
    std::string text;
    bool translated = true;  // it is to be
    bool varies = false;
    size_t localizations = 0;  // the brace that closes them; 0: there are none
    bool languages = false;    // they have some
  };

  bool Advance() {
    const size_t at = stream_->Tell();
    return patience_.Lasts(at - std::exchange(told_, at));
  }
  bool Open() {
    keys_.emplace_back();
    return keys_.size() <= kMostCatalogueDepth && Advance();
  }
  bool InLocalizations() const {
    return keys_.size() > 2 && keys_[0] == "strings" && keys_[2] == "localizations";
  }

  // Adds what is missing in front of a brace that closes an object, as Xcode writes it.
  void AddEntry(size_t brace, bool members) {
    if (!entry_.translated || entry_.varies || target_.empty() || !HasWords(entry_.text)) return;
    const bool known = entry_.localizations > 0;
    const size_t end = known ? entry_.localizations : brace;
    const size_t place = part_.find_last_not_of(" \t\r\n", end - 1) + 1;
    const std::string before = (known ? entry_.languages : members) ? "," : "";
    std::string open = absl::StrCat(before, known ? "" : "\n      \"localizations\" : {",
                                    "\n        ", WriteJson(nlohmann::json(target_)),
                                    " : {\n          \"stringUnit\" : {\n"
                                    "            \"state\" : \"needs_review\",\n"
                                    "            \"value\" : ");
    const std::string close = absl::StrCat("\n          }\n        }", known ? "" : "\n      }");
    Passage passage = PlainPassage(
        place, place, lines_.At(place), entry_.text,
        [open = std::move(open), close](std::string_view translation) {
          return absl::StrCat(open, WriteJson(nlohmann::json(std::string(translation))), close);
        });
    passage.bilingual = true;
    passages_.Add(std::move(passage));
  }

  const std::string_view part_;
  std::string source_;
  const std::string target_;
  Patience patience_;
  LineCounter lines_;
  const rapidjson::MemoryStream* stream_ = nullptr;
  size_t skipped_ = 0, told_ = 0;
  std::vector<std::string> keys_;  // of the open objects
  Entry entry_;
  PassageList passages_{&patience_};
};

}  // namespace

Passages ReadXcstrings(std::string_view part, const DocumentOptions& options) {
  RETURN_IF_ERROR(CheckUtf8(part));
  CatalogueHandler handler(part, options);
  RETURN_IF_ERROR(handler.Read(part.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0));
  return handler.TakePassages();
}

}  // namespace dragoman
