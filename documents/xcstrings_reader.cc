// Xcode's string catalogues (.xcstrings): JSON with all languages of each string.
//
//   {"sourceLanguage" : "en", "strings" : {
//      "Hello" : {"localizations" : {"fr" : {"stringUnit" : {"state" : "translated", ...}}}}}}
//                                                                                     ^ "de" is
//                                                                                     added
//
// A string without a translation gets one, whose state is "needs_review"; so does one whose
// translation is "new", which is what Xcode writes before there is any.  Its text is that in the
// source language, or its key.  One that varies (by number or device) gets a copy of what the
// source language has, whose texts are lines of one passage.  Those that are not to be translated
// stay as they are.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "documents/inline_text.h"
#include "documents/json_events.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "engine/base/json.h"
#include "engine/base/patience.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr size_t kMostCatalogueDepth = 32;
constexpr size_t kBytesOfCatalogueKey = 64;

class CatalogueHandler : public JsonEvents<CatalogueHandler> {
 public:
  CatalogueHandler(std::string_view part, const DocumentOptions& options)
      : JsonEvents(part, options),
        source_(options.source_language),
        target_(options.target_language) {}

  bool Bool(bool value) {
    if (keys_.size() == 3 && keys_[2] == "shouldTranslate") entry_.kept = !value;
    return Advance();
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    keys_.back().assign(text, size);
    patience_.Takes(kBytesOfCatalogueKey + size);
    if (InLocalizations() && keys_.size() == 4 && keys_[3] == target_) entry_.translated = true;
    if (InSource() && keys_.size() == 5) {
      entry_.varies = entry_.varies || keys_[4] == "variations" || keys_[4] == "substitutions";
    }
    key_end_ = Here();
    return Advance();
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    if (keys_.size() == 1 && keys_[0] == "sourceLanguage") source_.assign(text, size);
    if (keys_.size() == 6 && InLocalizations() && keys_[3] == source_ && keys_[4] == "stringUnit" &&
        keys_[5] == "value") {
      entry_.text.assign(text, size);
    }
    if (InLocalizations() && keys_.size() == 6 && keys_[3] == target_ && keys_[4] == "stringUnit") {
      const bool state = keys_[5] == "state";
      entry_.is_new = entry_.is_new || (state && std::string_view(text, size) == "new");
      entry_.known.push_back({part_.find('"', key_end_), Here(), state, ""});
    }
    if (InSource() && keys_.size() > 5 && keys_[keys_.size() - 2] == "stringUnit") {
      patience_.Takes(sizeof(Unit) + size);
      const size_t begin = part_.find('"', key_end_);
      const bool state = keys_.back() == "state";
      if (state || keys_.back() == "value") {
        entry_.units.push_back({begin, Here(), state, std::string(text, size)});
      }
    }
    return Advance();
  }
  bool StartObject() {
    if (keys_.size() == 2 && keys_[0] == "strings") entry_ = {.text = keys_[1]};
    if (InSource() && keys_.size() == 4) entry_.source = BraceHere('{');
    return Open();
  }
  bool EndObject(rapidjson::SizeType members) {
    keys_.pop_back();
    const size_t brace = BraceHere('}');
    if (InSource() && keys_.size() == 4) entry_.source_end = brace + 1;
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

 private:
  // A value, or the state, of a text that the source language has.
  struct Unit {
    size_t begin = 0, end = 0;  // with its quotes
    bool state = false;
    std::string text;
  };
  struct Entry {
    std::string text;
    bool kept = false;        // it is not to be translated
    bool translated = false;  // it is
    bool is_new = false;      // and so is that
    std::vector<Unit> known;  // in the target language
    bool varies = false;
    size_t source = 0, source_end = 0;  // the object of the source language
    std::vector<Unit> units;            // in it
    size_t localizations = 0;           // the brace that closes them; 0: there are none
    bool languages = false;             // they have some
  };

  bool Open() {
    keys_.emplace_back();
    if (keys_.size() > kMostCatalogueDepth) why_ = "nests too deep";
    return why_.empty() && Advance();
  }
  // The brace that was read last, or is to be read next.
  size_t BraceHere(char brace) const {
    return Here() < part_.size() && part_[Here()] == brace ? Here() : Here() - 1;
  }
  bool InSource() const { return InLocalizations() && keys_.size() > 3 && keys_[3] == source_; }
  bool InLocalizations() const {
    return keys_.size() > 2 && keys_[0] == "strings" && keys_[2] == "localizations";
  }

  // Adds what is missing in front of a brace that closes an object, as Xcode writes it.
  void AddEntry(size_t brace, bool members) {
    if (entry_.kept || target_.empty()) return;
    if (entry_.is_new && !entry_.varies && entry_.known.size() == 2) return Renew();
    if (entry_.translated) return;
    const std::string text = entry_.varies ? Lines() : entry_.text;
    if (!HasWords(text)) return;
    const bool known = entry_.localizations > 0;
    const size_t end = known ? entry_.localizations : brace;
    const size_t place = part_.find_last_not_of(" \t\r\n", end - 1) + 1;
    const std::string before = (known ? entry_.languages : members) ? "," : "";
    const std::string open = absl::StrCat(before, known ? "" : "\n      \"localizations\" : {",
                                          "\n        ", WriteJson(nlohmann::json(target_)), " : ");
    const std::string close = known ? "" : "\n      }";
    Passage passage =
        PlainPassage(place, place, lines_.At(place), text,
                     [](std::string_view translation) { return std::string(translation); });
    if (entry_.varies) {
      const std::string object(part_.substr(entry_.source, entry_.source_end - entry_.source));
      for (Unit& unit : entry_.units) unit.begin -= entry_.source, unit.end -= entry_.source;
      passage.text = text;
      passage.write = [open, close, object, units = entry_.units](std::string_view translation) {
        return absl::StrCat(open, WriteVariations(object, units, translation), close);
      };
    } else {
      passage.write = [open, close,
                       write = std::move(passage.write)](std::string_view translation) {
        return absl::StrCat(open, "{\n          \"stringUnit\" : {\n",
                            "            \"state\" : \"needs_review\",\n            \"value\" : ",
                            WriteJson(nlohmann::json(write(translation))),
                            "\n          }\n        }", close);
      };
    }
    passage.bilingual = true;
    passages_.Add(std::move(passage));
  }

  // Replaces a translation that is none yet.
  void Renew() {
    const size_t begin = entry_.known.front().begin, end = entry_.known.back().end;
    for (Unit& unit : entry_.known) {
      unit = {unit.begin - begin, unit.end - begin, unit.state, unit.state ? "" : entry_.text};
    }
    if (!HasWords(entry_.text)) return;
    Passage passage = {begin, end, lines_.At(begin), entry_.text};
    passage.write = [object = std::string(part_.substr(begin, end - begin)),
                     units = entry_.known](std::string_view translation) {
      return WriteVariations(object, units, translation);
    };
    passage.bilingual = true;
    passages_.Add(std::move(passage));
  }

  // The texts of an entry that varies, in lines.
  std::string Lines() const {
    std::string lines;
    for (const Unit& unit : entry_.units) {
      if (!unit.state) absl::StrAppend(&lines, lines.empty() ? "" : "\n", unit.text);
    }
    return lines;
  }

  // The object of the source language with the translations of its texts, or as it is if they are
  // not as many lines.
  static std::string WriteVariations(std::string_view object, const std::vector<Unit>& units,
                                     std::string_view translation) {
    const auto count = [](std::string_view text) {
      return std::count(text.begin(), text.end(), '\n') + 1;
    };
    std::ptrdiff_t wanted = 0;
    for (const Unit& unit : units) wanted += unit.state ? 0 : count(unit.text);
    const bool fits = count(translation) == wanted;
    std::string out;
    size_t done = 0;
    for (const Unit& unit : units) {
      std::string text = unit.state ? "needs_review" : unit.text;
      if (!unit.state && fits) {
        size_t end = 0;
        for (auto lines = count(unit.text); lines > 0; --lines) {
          end = std::min(translation.find('\n', end + (end > 0)), translation.size());
        }
        text = translation.substr(0, end);
        translation.remove_prefix(std::min(end + 1, translation.size()));
      }
      absl::StrAppend(&out, std::string(object.substr(done, unit.begin - done)),
                      WriteJson(nlohmann::json(text)));
      done = unit.end;
    }
    return absl::StrCat(out, std::string(object.substr(done)));
  }

  std::string source_;
  const std::string target_;
  size_t key_end_ = 0;
  std::vector<std::string> keys_;  // of the open objects
  Entry entry_;
};

}  // namespace

Passages ReadXcstrings(std::string_view part, const DocumentOptions& options) {
  return CatalogueHandler(part, options).Read();
}

}  // namespace dragoman
