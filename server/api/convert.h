// Converts between the messages of the public API and the structs of the engine.  Makes no
// decisions: the translator checks what a request may ask for.

#ifndef DRAGOMAN_SERVER_API_CONVERT_H_
#define DRAGOMAN_SERVER_API_CONVERT_H_

#include "absl/status/statusor.h"
#include "dragoman/v1/translation.pb.h"
#include "engine/request/translator.h"
#include "server/models/model_set.h"

namespace dragoman {

absl::StatusOr<Priority> FromProto(v1::Priority priority,
                                   Priority unspecified = Priority::kInteractive);

// Converts `request`, moving its texts out of it; the Translator resolves languages.
// INVALID_ARGUMENT for an unknown enum value, UNIMPLEMENTED naming a feature that this version
// lacks.
absl::StatusOr<TranslateRequest> FromProto(v1::TranslateRequest* request);

// The key that decides whether a request goes to a canary.
VersionKey KeyOf(const v1::TranslateRequest& request);

// The states and versions of a model.
void ToProto(const ServedModel& model, v1::Model* proto);

// Fills `proto` with what `output` requests.
void ToProto(const Translation& translation, const v1::OutputOptions& output,
             v1::Translation* proto);

void ToProto(FinishedSentence sentence, v1::FinishedSentence* proto);

// The score of a given translation (TranslateRequest::targets), with what `request` asks for; `end`
// is the spelling of the end of the sentence.
void ToProto(const Translation& translation, const std::string& end,
             const v1::ScoreRequest& request, v1::PairScore* proto);

void ToProto(const TranslateResponse& response, absl::Duration total, v1::Timing* proto);

// Everything except is_default and state.
void ToProto(const Model& model, const Limits& limits, v1::Model* proto);
// As much as is known before it is loaded.
void ToProto(const ModelProfile& profile, const Limits& limits, v1::Model* proto);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_CONVERT_H_
