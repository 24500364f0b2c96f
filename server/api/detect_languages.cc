#include "server/api/detect_languages.h"

#include <memory>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/text/language_detector.h"

namespace dragoman {

absl::StatusOr<v1::DetectLanguageResponse> DetectLanguage(
    absl::FunctionRef<absl::StatusOr<v1::DetectLanguageRequest>()> parse, const ServerParts& parts,
    Call* call) {
  RETURN_IF_ERROR(call->Admit());
  ASSIGN_OR_RETURN(const v1::DetectLanguageRequest request, parse());
  call->size().texts = request.contents_size();
  // The limits of texts are the same for all models.
  ASSIGN_OR_RETURN(const std::shared_ptr<const Translator> any, parts.models->Models()->Find(""));
  RETURN_IF_ERROR(any->CheckTexts({request.contents().begin(), request.contents().end()}));
  v1::DetectLanguageResponse response;
  for (const std::string& text : request.contents()) {
    v1::DetectedText* const detected = response.add_texts();
    for (const DetectedLanguage& guess :
         DetectLanguages(text, request.markup() > v1::MARKUP_NONE)) {
      v1::LanguageGuess* const language = detected->add_languages();
      language->set_language(guess.language);
      language->set_confidence(guess.confidence);
    }
  }
  return response;
}

}  // namespace dragoman
