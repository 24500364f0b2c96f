// The stored glossaries, for any transport: what callers may do with them, and which of them a
// request uses.

#ifndef DRAGOMAN_SERVER_API_GLOSSARIES_H_
#define DRAGOMAN_SERVER_API_GLOSSARIES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/call.h"
#include "server/glossaries/glossary_store.h"

namespace dragoman {

UnaryMethod<v1::CreateGlossaryRequest, v1::Glossary> CreateGlossary;
UnaryMethod<v1::GetGlossaryRequest, v1::Glossary> GetGlossary;
UnaryMethod<v1::ListGlossariesRequest, v1::ListGlossariesResponse> ListGlossaries;
UnaryMethod<v1::GetGlossaryRequest, v1::Glossary> GetGlossaryEntries;
UnaryMethod<v1::ReplaceGlossaryRequest, v1::Glossary> ReplaceGlossary;
UnaryMethod<v1::DeleteGlossaryRequest, v1::DeleteGlossaryResponse> DeleteGlossary;

// The store.  FAILED_PRECONDITION if the server keeps no glossaries.
absl::StatusOr<GlossaryStore*> GlossariesOf(const ServerParts& parts);

// An entry as a request or a stored glossary has it.
GlossaryEntry EntryFrom(const v1::GlossaryEntry& proto);

// The ids that requests of a principal to a model use by default.  One that is gone, or that the
// caller must not see, is not missed.
std::vector<std::string> IdsByDefault(const std::vector<DefaultGlossary>& defaults,
                                      const std::string& principal, const std::string& model);

// The lists of the glossaries with these ids, and of those that the principal or the model (a name
// as in TranslateResponse.model) uses by default.  INVALID_ARGUMENT if there are too many,
// NOT_FOUND if the principal does not see one that it asks for.
absl::StatusOr<TermLists> GlossariesFor(const ServerParts& parts,
                                        const v1::TranslateRequest& request,
                                        const std::string& principal, const std::string& model);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_GLOSSARIES_H_
