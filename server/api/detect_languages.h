// DetectLanguage: the languages that texts are probably written in.

#ifndef DRAGOMAN_SERVER_API_DETECT_LANGUAGES_H_
#define DRAGOMAN_SERVER_API_DETECT_LANGUAGES_H_

#include "dragoman/v1/translation.pb.h"
#include "server/api/call.h"

namespace dragoman {

AnswerMethod<v1::DetectLanguageRequest, v1::DetectLanguageResponse> DetectLanguage;

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_DETECT_LANGUAGES_H_
