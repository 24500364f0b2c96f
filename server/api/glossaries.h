// The stored glossaries, for any transport: what callers may do with them, and which of them a
// request uses.

#ifndef DRAGOMAN_SERVER_API_GLOSSARIES_H_
#define DRAGOMAN_SERVER_API_GLOSSARIES_H_

#include "absl/status/statusor.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/call.h"
#include "server/api/kept.h"
#include "server/glossaries/glossary_store.h"

namespace dragoman {

AnswerMethod<v1::CreateGlossaryRequest, v1::Glossary> CreateGlossary;
AnswerMethod<v1::GetGlossaryRequest, v1::Glossary> GetGlossary;
AnswerMethod<v1::ListGlossariesRequest, v1::ListGlossariesResponse> ListGlossaries;
AnswerMethod<v1::GetGlossaryRequest, v1::Glossary> GetGlossaryEntries;
AnswerMethod<v1::ReplaceGlossaryRequest, v1::Glossary> ReplaceGlossary;
AnswerMethod<v1::DeleteGlossaryRequest, v1::DeleteGlossaryResponse> DeleteGlossary;

// An entry as a request or a stored glossary has it.
GlossaryEntry EntryFrom(const v1::GlossaryEntry& proto);

// The lists of the glossaries that a request uses (AddKept).
absl::StatusOr<TermLists> GlossariesFor(const KeptUse& use, const v1::TranslateRequest& request);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_GLOSSARIES_H_
