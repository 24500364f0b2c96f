#include "engine/text/language_detector.h"

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

// What CLD2 says: three languages, and how much of the text each has, in percent.
struct Summary {
  CLD2::Language languages[3] = {};
  int percents[3] = {};
  double scores[3] = {};
  bool reliable = false;

  bool Has(int i) const { return languages[i] != CLD2::UNKNOWN_LANGUAGE && percents[i] > 0; }
  float Confidence(int i) const { return static_cast<float>(percents[i]) / 100; }
};

// `hint` is a language that the text is likely in, in CLD2's own code; null: none is.
Summary Summarize(std::string_view text, bool has_markup, const char* hint) {
  text = BeginningOf(text, kMostBytes);
  const CLD2::CLDHints hints = {hint, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  int letters = 0, valid = 0;
  Summary summary;
  CLD2::ExtDetectLanguageSummaryCheckUTF8(
      text.data(), static_cast<int>(text.size()), /*is_plain_text=*/!has_markup, &hints,
      CLD2::kCLDFlagBestEffort, summary.languages, summary.percents, summary.scores, nullptr,
      &letters, &summary.reliable, &valid);
  return summary;
}

// CLD2 knows Hebrew by the code that was used before 1989.
std::string TagOf(CLD2::Language language) {
  const std::string code = CLD2::LanguageCode(language);
  return code == "iw" ? "he" : code;
}

CLD2::Language LanguageOf(const std::string& tag) {
  return CLD2::GetLanguageFromName(tag == "he" ? "iw" : tag.c_str());
}

}  // namespace

std::vector<DetectedLanguage> DetectLanguages(std::string_view text, bool has_markup) {
  const Summary summary = Summarize(text, has_markup, nullptr);
  std::vector<DetectedLanguage> found;
  for (int i = 0; i < 3; ++i) {
    if (!summary.Has(i)) continue;
    const float sure = summary.reliable ? 1 : kUnreliable;
    found.push_back({TagOf(summary.languages[i]), summary.Confidence(i) * sure});
  }
  return found;
}

std::vector<DetectedLanguage> LikeliestAmong(std::string_view text,
                                             absl::Span<const std::string> languages,
                                             bool has_markup) {
  std::vector<DetectedLanguage> likeliest;
  double best = 0;
  for (const std::string& tag : languages) {
    const CLD2::Language language = LanguageOf(tag);
    if (language == CLD2::UNKNOWN_LANGUAGE) continue;
    const Summary summary = Summarize(text, has_markup, CLD2::LanguageCode(language));
    if (summary.languages[0] != language || !summary.Has(0) || summary.scores[0] < best) continue;
    if (summary.scores[0] > best) likeliest.clear();
    best = summary.scores[0];
    likeliest.push_back({tag, summary.Confidence(0) * kUnreliable});
  }
  return likeliest;
}

std::string TagOfEnglishName(std::string_view name) {
  if (name.size() < 4) return "";  // the library knows codes, too
  const CLD2::Language language =
      CLD2::GetLanguageFromName(absl::AsciiStrToUpper(std::string(name)).c_str());
  return language == CLD2::UNKNOWN_LANGUAGE ? "" : TagOf(language);
}

}  // namespace dragoman
