#include "server/api/memories.h"

#include <utility>

#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr int kMaxPage = 1000;  // segments

v1::TranslationMemory MemoryProto(const Owned& memory, const Call& call) {
  v1::TranslationMemory proto;
  Describe(memory, call.parts().memories->survives(), call, &proto);
  proto.set_source_language(memory.lists[0].languages.source);
  proto.set_target_language(memory.lists[0].languages.target);
  proto.set_segment_count(static_cast<int>(memory.lists[0].size));
  return proto;
}

template <typename Protos>
std::vector<MemorySegment> SegmentsFrom(const Protos& protos) {
  std::vector<MemorySegment> segments;
  for (const v1::MemorySegment& proto : protos) {
    segments.push_back(
        {proto.source(), proto.target(), proto.previous_source(), proto.next_source()});
  }
  return segments;
}

}  // namespace

absl::StatusOr<v1::TranslationMemory> CreateMemory(const v1::CreateMemoryRequest& request,
                                                   Call* call) {
  const v1::TranslationMemory& memory = request.memory();
  ASSIGN_OR_RETURN(const Owned stored,
                   call->parts().memories->Create(
                       StoreDeadline(call->deadline()),
                       {{.name = memory.name(),
                         .owner = call->principal(),
                         .shared = memory.shared()},
                        {memory.source_language(), memory.target_language()},
                        SegmentsFrom(request.segments())}));
  return MemoryProto(stored, *call);
}

absl::StatusOr<v1::TranslationMemory> GetMemory(const v1::GetMemoryRequest& request, Call* call) {
  ASSIGN_OR_RETURN(const Owned memory,
                   call->parts().memories->Describe(AskerOf(*call), request.id()));
  return MemoryProto(memory, *call);
}

absl::StatusOr<v1::ListMemoriesResponse> ListMemories(const v1::ListMemoriesRequest&, Call* call) {
  ASSIGN_OR_RETURN(const std::vector<Owned> list, call->parts().memories->List(AskerOf(*call)));
  v1::ListMemoriesResponse response;
  for (const Owned& memory : list) *response.add_memories() = MemoryProto(memory, *call);
  return response;
}

absl::StatusOr<v1::GetMemorySegmentsResponse> GetMemorySegments(
    const v1::GetMemorySegmentsRequest& request, Call* call) {
  ASSIGN_OR_RETURN(const StoredMemoryPtr memory,
                   call->parts().memories->Find(AskerOf(*call), request.id()));
  if (request.start() < 0) return InvalidField("start", "is negative");
  if (request.limit() < 0 || request.limit() > kMaxPage) {
    return InvalidField("limit", "is ", request.limit(), ", want at most ", kMaxPage);
  }
  const int limit = request.limit() > 0 ? request.limit() : kMaxPage;
  v1::GetMemorySegmentsResponse response;
  *response.mutable_memory() = MemoryProto(*memory, *call);
  for (const MemorySegment& segment :
       memory->memory->Segments(static_cast<size_t>(request.start()), static_cast<size_t>(limit))) {
    v1::MemorySegment* const proto = response.add_segments();
    proto->set_source(segment.source);
    proto->set_target(segment.target);
    proto->set_previous_source(segment.previous);
    proto->set_next_source(segment.next);
  }
  return response;
}

absl::StatusOr<v1::TranslationMemory> LearnSegments(const v1::LearnSegmentsRequest& request,
                                                    Call* call) {
  if (request.segments().empty()) return InvalidField("segments", "are none, want at least one");
  ASSIGN_OR_RETURN(const Owned memory,
                   call->parts().memories->Learn(AskerOf(*call), request.id(),
                                                 SegmentsFrom(request.segments())));
  return MemoryProto(memory, *call);
}

absl::StatusOr<v1::DeleteMemoryResponse> DeleteMemory(const v1::DeleteMemoryRequest& request,
                                                      Call* call) {
  RETURN_IF_ERROR(call->parts().memories->Delete(AskerOf(*call), request.id()));
  return v1::DeleteMemoryResponse();
}

absl::StatusOr<std::vector<MemoryPtr>> MemoriesFor(const KeptUse& use,
                                                   const v1::TranslateRequest& request) {
  std::vector<MemoryPtr> memories;
  const auto add = [&](const StoredMemoryPtr& stored) {
    // It keeps what is stored, whose memory is counted as long as it is used.
    AppendNew(MemoryPtr(stored, stored->memory.get()), &memories);
  };
  RETURN_IF_ERROR(AddKept(use, use.parts.memories, "memory_ids", request.memory_ids(),
                          use.parts.config->default_memories(), add));
  return memories;
}

}  // namespace dragoman
