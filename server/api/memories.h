// The stored translation memories, for any transport: what callers may do with them, and which of
// them a request uses.

#ifndef DRAGOMAN_SERVER_API_MEMORIES_H_
#define DRAGOMAN_SERVER_API_MEMORIES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/call.h"
#include "server/memories/memory_store.h"

namespace dragoman {

UnaryMethod<v1::CreateMemoryRequest, v1::TranslationMemory> CreateMemory;
UnaryMethod<v1::GetMemoryRequest, v1::TranslationMemory> GetMemory;
UnaryMethod<v1::ListMemoriesRequest, v1::ListMemoriesResponse> ListMemories;
UnaryMethod<v1::GetMemorySegmentsRequest, v1::GetMemorySegmentsResponse> GetMemorySegments;
UnaryMethod<v1::LearnSegmentsRequest, v1::TranslationMemory> LearnSegments;
UnaryMethod<v1::DeleteMemoryRequest, v1::DeleteMemoryResponse> DeleteMemory;

// The memories with these ids, and those that the principal or the model (a name as in
// TranslateResponse.model) uses by default.  INVALID_ARGUMENT if there are too many, NOT_FOUND if
// the principal does not see one that it asks for.
absl::StatusOr<std::vector<MemoryPtr>> MemoriesFor(const ServerParts& parts,
                                                   const v1::TranslateRequest& request,
                                                   const std::string& principal,
                                                   const std::string& model);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_MEMORIES_H_
