#include "server/grpc/first_message.h"

#include <grpc/grpc.h>
#include <grpc/support/alloc.h>

#include "server/net/arrivals.h"

namespace dragoman {
namespace {

// Does what completes an operation of this queue, if that is done while the operation is started.
// gRPC would wake another thread for it.
void StartHere(grpc_completion_queue* queue, absl::FunctionRef<void()> start) {
  static thread_local bool completes = false;  // perhaps another call's, which may come here again
  if (completes) return start();
  grpc_completion_queue_thread_local_cache_init(queue);
  start();
  void* tag = nullptr;
  int ok = 0;
  if (!grpc_completion_queue_thread_local_cache_flush(queue, &tag, &ok)) return;
  auto* const completion = static_cast<grpc_completion_queue_functor*>(tag);
  completes = true;
  completion->functor_run(completion, ok);
  completes = false;
}

std::string PeerOf(grpc_call* call) {
  const std::unique_ptr<char, void (*)(void*)> peer(grpc_call_get_peer(call), gpr_free);
  return peer.get();
}

}  // namespace

void FirstMessage::Read(const Incoming& incoming, std::shared_ptr<void> owner,
                        absl::FunctionRef<absl::StatusOr<Share>()> judge, Then then) {
  {
    absl::MutexLock lock(&mutex_);
    owner_ = std::move(owner);
  }
  grpc::internal::Call call = incoming.call;
  arrival_.Set(
      call.call(), [this](bool) { OnArrival(); }, &read_, /*can_inline=*/true);
  read_.set_core_cq_tag(&arrival_);
  read_.RecvMessage(&bytes_);
  StartHere(call.cq()->cq(), [&] { call.PerformOps(&read_); });
  const bool waits = !has_arrived();
  absl::StatusOr<Share> room = waits ? judge() : Share();
  const std::string peer = waits || Arrivals::Get().any() ? PeerOf(call.call()) : "";
  {
    absl::MutexLock lock(&mutex_);
    if (!arrived_ && room.ok()) {
      room_ = *std::move(room);
      then_ = std::move(then);
      Arrivals::Get().Begin(peer_ = peer);
      return;
    }
    if (arrived_) room = Share();
    if (arrived_ && !peer.empty()) Arrivals::Get().Add(peer, bytes_.Length());
  }
  then(room.status());
}

bool FirstMessage::has_arrived() {
  absl::MutexLock lock(&mutex_);
  return arrived_;
}

void FirstMessage::OnArrival() {
  std::shared_ptr<void> owner;  // outlives what follows
  std::string peer;
  Share room;
  Then then;
  {
    absl::MutexLock lock(&mutex_);
    arrived_ = true;
    std::swap(owner, owner_);
    std::swap(room, room_);
    std::swap(then, then_);
    std::swap(peer, peer_);
  }
  if (then == nullptr) return;
  Arrivals::Get().Add(peer, bytes_.Length());
  Arrivals::Get().End(peer);
  then(absl::OkStatus());
}

}  // namespace dragoman
