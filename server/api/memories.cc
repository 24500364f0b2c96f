#include "server/api/memories.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "server/api/glossaries.h"

namespace dragoman {
namespace {

constexpr int kMaxMemoryIds = 16;
constexpr int kMaxPage = 1000;  // segments

absl::StatusOr<MemoryStore*> MemoriesOf(const ServerParts& parts) {
  if (parts.memories != nullptr) return parts.memories;
  return absl::FailedPreconditionError(
      "this server keeps no translation memories (--translation-memories)");
}

v1::TranslationMemory MemoryProto(const StoredMemory& memory, const Call& call) {
  v1::TranslationMemory proto;
  proto.set_id(memory.id);
  proto.set_name(memory.name);
  proto.set_shared(memory.shared || memory.owner.empty());
  proto.set_version(memory.version);
  proto.mutable_create_time()->set_seconds(absl::ToUnixSeconds(memory.created));
  proto.set_source_language(memory.memory->languages().source);
  proto.set_target_language(memory.memory->languages().target);
  proto.set_segment_count(static_cast<int>(memory.memory->size()));
  proto.set_read_only(!memory.IsChangedBy(call.principal()));
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

absl::StatusOr<v1::TranslationMemory> CreateMemory(
    absl::FunctionRef<absl::StatusOr<v1::CreateMemoryRequest>()> parse, const ServerParts& parts,
    Call* call) {
  RETURN_IF_ERROR(call->Admit());
  ASSIGN_OR_RETURN(const v1::CreateMemoryRequest request, parse());
  ASSIGN_OR_RETURN(MemoryStore* const store, MemoriesOf(parts));
  const v1::TranslationMemory& memory = request.memory();
  ASSIGN_OR_RETURN(const StoredMemoryPtr stored,
                   store->Create({.name = memory.name(),
                                  .owner = call->principal(),
                                  .shared = memory.shared(),
                                  .languages = {memory.source_language(), memory.target_language()},
                                  .segments = SegmentsFrom(request.segments())}));
  return MemoryProto(*stored, *call);
}

absl::StatusOr<v1::TranslationMemory> GetMemory(
    absl::FunctionRef<absl::StatusOr<v1::GetMemoryRequest>()> parse, const ServerParts& parts,
    Call* call) {
  RETURN_IF_ERROR(call->Admit());
  ASSIGN_OR_RETURN(const v1::GetMemoryRequest request, parse());
  ASSIGN_OR_RETURN(const MemoryStore* const store, MemoriesOf(parts));
  ASSIGN_OR_RETURN(const StoredMemoryPtr memory, store->Find(request.id(), call->principal()));
  return MemoryProto(*memory, *call);
}

absl::StatusOr<v1::ListMemoriesResponse> ListMemories(
    absl::FunctionRef<absl::StatusOr<v1::ListMemoriesRequest>()> parse, const ServerParts& parts,
    Call* call) {
  RETURN_IF_ERROR(call->Admit());
  RETURN_IF_ERROR(parse().status());
  ASSIGN_OR_RETURN(const MemoryStore* const store, MemoriesOf(parts));
  v1::ListMemoriesResponse response;
  for (const StoredMemoryPtr& memory : store->List(call->principal())) {
    *response.add_memories() = MemoryProto(*memory, *call);
  }
  return response;
}

absl::StatusOr<v1::GetMemorySegmentsResponse> GetMemorySegments(
    absl::FunctionRef<absl::StatusOr<v1::GetMemorySegmentsRequest>()> parse,
    const ServerParts& parts, Call* call) {
  RETURN_IF_ERROR(call->Admit());
  ASSIGN_OR_RETURN(const v1::GetMemorySegmentsRequest request, parse());
  ASSIGN_OR_RETURN(const MemoryStore* const store, MemoriesOf(parts));
  ASSIGN_OR_RETURN(const StoredMemoryPtr memory, store->Find(request.id(), call->principal()));
  if (request.start() < 0) return InvalidField("start", "is negative");
  if (request.limit() < 0 || request.limit() > kMaxPage) {
    return InvalidField("limit", absl::StrCat("is ", request.limit(), ", want at most ", kMaxPage));
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

absl::StatusOr<v1::TranslationMemory> LearnSegments(
    absl::FunctionRef<absl::StatusOr<v1::LearnSegmentsRequest>()> parse, const ServerParts& parts,
    Call* call) {
  RETURN_IF_ERROR(call->Admit());
  ASSIGN_OR_RETURN(const v1::LearnSegmentsRequest request, parse());
  ASSIGN_OR_RETURN(MemoryStore* const store, MemoriesOf(parts));
  if (request.segments().empty()) return InvalidField("segments", "are none, want at least one");
  ASSIGN_OR_RETURN(const StoredMemoryPtr memory,
                   store->Learn(request.id(), call->principal(), SegmentsFrom(request.segments())));
  return MemoryProto(*memory, *call);
}

absl::StatusOr<v1::DeleteMemoryResponse> DeleteMemory(
    absl::FunctionRef<absl::StatusOr<v1::DeleteMemoryRequest>()> parse, const ServerParts& parts,
    Call* call) {
  RETURN_IF_ERROR(call->Admit());
  ASSIGN_OR_RETURN(const v1::DeleteMemoryRequest request, parse());
  ASSIGN_OR_RETURN(MemoryStore* const store, MemoriesOf(parts));
  RETURN_IF_ERROR(store->Delete(request.id(), call->principal()));
  return v1::DeleteMemoryResponse();
}

absl::StatusOr<std::vector<MemoryPtr>> MemoriesFor(const ServerParts& parts,
                                                   const v1::TranslateRequest& request,
                                                   const std::string& principal,
                                                   const std::string& model) {
  std::vector<MemoryPtr> memories;
  const auto add = [&](const StoredMemory& stored) {
    if (std::find(memories.begin(), memories.end(), stored.memory) != memories.end()) return;
    memories.push_back(stored.memory);
  };
  if (request.memory_ids_size() > kMaxMemoryIds) {
    return InvalidField("memory_ids", absl::StrCat("are ", request.memory_ids_size(),
                                                   ", the most is ", kMaxMemoryIds));
  }
  for (const std::string& id : request.memory_ids()) {
    ASSIGN_OR_RETURN(const MemoryStore* const store, MemoriesOf(parts));
    ASSIGN_OR_RETURN(const StoredMemoryPtr memory, store->Find(id, principal));
    add(*memory);
  }
  if (parts.memories == nullptr) return memories;
  for (const std::string& id : IdsByDefault(parts.default_memories, principal, model)) {
    const absl::StatusOr<StoredMemoryPtr> memory = parts.memories->Find(id, principal);
    if (memory.ok()) add(**memory);
  }
  return memories;
}

}  // namespace dragoman
