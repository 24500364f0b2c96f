#include "server/net/arrivals.h"

#include <functional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

namespace dragoman {

Arrivals& Arrivals::Get() {
  static auto& arrivals = *new Arrivals();
  return arrivals;
}

void Arrivals::Begin(const std::string& peer) {
  absl::MutexLock lock(&mutex_);
  ++clients_[peer].waits;
  any_ = true;
}

void Arrivals::Add(const std::string& peer, size_t bytes) {
  absl::MutexLock lock(&mutex_);
  const auto found = clients_.find(peer);
  if (found == clients_.end()) return;
  constexpr size_t kAround = 512, kPart = 64;  // headers; frames, and the records of TLS
  found->second.came += static_cast<int64_t>(bytes + bytes / kPart + kAround);
}

void Arrivals::End(const std::string& peer) {
  absl::MutexLock lock(&mutex_);
  const auto found = clients_.find(peer);
  if (--found->second.waits == 0) clients_.erase(found);
  any_ = !clients_.empty();
}

void Arrivals::Await(const std::atomic<bool>& woken, absl::Duration time, bool may_sleep) {
  const auto is_woken = [&] { return woken.load(); };
  const auto is_due = [&] { return woken || any_; };
  absl::MutexLock lock(&mutex_);
  if (mutex_.AwaitWithTimeout(absl::Condition(&is_woken), time) || !may_sleep) return;
  mutex_.Await(absl::Condition(&is_due));
}

void Arrivals::Wake(std::atomic<bool>* woken) {
  absl::MutexLock lock(&mutex_);
  *woken = true;
}

void Arrivals::Look(int64_t most, Listener* listener) {
  if (!any()) return;
  std::vector<std::pair<int64_t, std::string>> kept;
  int64_t all = 0;
  const std::vector<std::pair<std::string, int64_t>> received = listener->Received();
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [peer, bytes] : received) {
      const auto found = clients_.find(peer);
      if (found == clients_.end()) continue;
      Client& client = found->second;
      if (client.before < 0 || bytes < client.before + client.came) {
        client.before = bytes;
        client.came = 0;
      }
      kept.emplace_back(bytes - client.before - client.came, peer);
      all += kept.back().first;
    }
  }
  absl::c_sort(kept, std::greater<>());
  for (const auto& [bytes, peer] : kept) {
    if (all <= most) return;
    listener->Abort(peer);
    all -= bytes;
  }
}

}  // namespace dragoman
