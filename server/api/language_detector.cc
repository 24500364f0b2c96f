#include "server/api/language_detector.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>  // CLD2's header needs it and does not say so

// The order of these headers matters.
#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr size_t kMostBytes = 1 << 16;  // to examine: more does not change the answer
constexpr float kUnreliable = 0.5;      // what is left of a confidence that CLD2 itself doubts

}  // namespace

std::vector<DetectedLanguage> DetectLanguages(std::string_view text, bool has_markup) {
  text = BeginningOf(text, kMostBytes);
  const CLD2::CLDHints no_hints = {nullptr, nullptr, CLD2::UNKNOWN_ENCODING,
                                   CLD2::UNKNOWN_LANGUAGE};
  CLD2::Language languages[3] = {};
  int percents[3] = {};
  double scores[3] = {};
  int letters = 0, valid = 0;
  bool reliable = false;
  CLD2::ExtDetectLanguageSummaryCheckUTF8(text.data(), static_cast<int>(text.size()),
                                          /*is_plain_text=*/!has_markup, &no_hints,
                                          CLD2::kCLDFlagBestEffort, languages, percents, scores,
                                          nullptr, &letters, &reliable, &valid);
  std::vector<DetectedLanguage> found;
  for (int i = 0; i < 3; ++i) {
    if (languages[i] == CLD2::UNKNOWN_LANGUAGE || percents[i] <= 0) continue;
    std::string tag = CLD2::LanguageCode(languages[i]);
    if (tag == "iw") tag = "he";  // the code used before 1989
    const float confidence = static_cast<float>(percents[i]) / 100;
    found.push_back({std::move(tag), reliable ? confidence : confidence * kUnreliable});
  }
  return found;
}

std::string EnglishNameOf(const std::string& tag) {
  if (absl::EqualsIgnoreCase(tag, "zh-Hant")) return "Chinese (traditional)";
  const std::string language = tag.substr(0, tag.find_first_of("-_"));
  const CLD2::Language known = CLD2::GetLanguageFromName(language.c_str());
  if (known == CLD2::UNKNOWN_LANGUAGE) return tag;
  std::string name = absl::AsciiStrToLower(CLD2::LanguageName(known));
  name[0] = absl::ascii_toupper(static_cast<unsigned char>(name[0]));
  return language.size() == tag.size() ? name : name + " (" + tag.substr(language.size() + 1) + ")";
}

}  // namespace dragoman
