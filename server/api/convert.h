// Between the messages of the public API and the structs of the engine.  No decisions: what a
// request may ask for is checked by the translator.

#ifndef DRAGOMAN_SERVER_API_CONVERT_H_
#define DRAGOMAN_SERVER_API_CONVERT_H_

#include "absl/status/statusor.h"
#include "dragoman/v1/translation.pb.h"
#include "engine/translator.h"
#include "server/models/model_set.h"

namespace dragoman {

absl::StatusOr<Priority> FromProto(v1::Priority priority);

// The engine's request for `request`, whose texts are taken out of it; languages are left to
// Translator.  INVALID_ARGUMENT for an enum value of no meaning, UNIMPLEMENTED naming a
// feature that this version lacks.
absl::StatusOr<TranslateRequest> FromProto(v1::TranslateRequest* request);

// What a canary's part of the requests is drawn by.
VersionKey KeyOf(const v1::TranslateRequest& request);

// The states and versions of a model.
void ToProto(const ServedModel& model, v1::Model* proto);

// Fills `proto` with what `output` asks for.
void ToProto(const Translation& translation, const v1::OutputOptions& output,
             v1::Translation* proto);

void ToProto(FinishedSentence sentence, v1::FinishedSentence* proto);

// The score of a translation that was given (TranslateRequest::targets), with what `request` asks
// for; `end` is how the end of the sentence is written.
void ToProto(const Translation& translation, const std::string& end,
             const v1::ScoreRequest& request, v1::PairScore* proto);

void ToProto(const TranslateResponse& response, absl::Duration total, v1::Timing* proto);

// All but is_default and state.
void ToProto(const Model& model, const Limits& limits, v1::Model* proto);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_CONVERT_H_
