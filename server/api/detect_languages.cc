#include "server/api/detect_languages.h"

#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/text/language_detector.h"

namespace dragoman {

absl::StatusOr<v1::DetectLanguageResponse> DetectLanguage(const v1::DetectLanguageRequest& request,
                                                          Call* call) {
  call->size().texts = request.contents_size();
  RETURN_IF_ERROR(CheckTexts({request.contents().begin(), request.contents().end()},
                             call->parts().models->limits()));
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
