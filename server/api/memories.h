// The stored translation memories, for any transport: what callers may do with them, and which of
// them a request uses.

#ifndef DRAGOMAN_SERVER_API_MEMORIES_H_
#define DRAGOMAN_SERVER_API_MEMORIES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/call.h"
#include "server/api/kept.h"
#include "server/memories/memory_store.h"

namespace dragoman {

AnswerMethod<v1::CreateMemoryRequest, v1::TranslationMemory> CreateMemory;
AnswerMethod<v1::GetMemoryRequest, v1::TranslationMemory> GetMemory;
AnswerMethod<v1::ListMemoriesRequest, v1::ListMemoriesResponse> ListMemories;
AnswerMethod<v1::GetMemorySegmentsRequest, v1::GetMemorySegmentsResponse> GetMemorySegments;
AnswerMethod<v1::LearnSegmentsRequest, v1::TranslationMemory> LearnSegments;
AnswerMethod<v1::DeleteMemoryRequest, v1::DeleteMemoryResponse> DeleteMemory;

// The memories that a request uses (AddKept).
absl::StatusOr<std::vector<MemoryPtr>> MemoriesFor(const KeptUse& use,
                                                   const v1::TranslateRequest& request);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_MEMORIES_H_
