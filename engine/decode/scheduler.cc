#include "engine/decode/scheduler.h"

namespace dragoman {

void Scheduler::Enqueue(JobPtr job) {
  DRAGOMAN_CHECK(job->KvBytes() <= limits_.kv_capacity_bytes);
  line_.push_back(std::move(job));
}

std::vector<JobPtr> Scheduler::Admit(const BatchLoad& running) {
  std::vector<JobPtr> admitted;
  BatchLoad load = running;
  int tokens = 0;
  while (!line_.empty()) {
    const Job& next = *line_.front();
    const BatchLoad after = {load.rows + next.Rows(), load.kv_bytes + next.KvBytes()};
    const int tokens_after = tokens + static_cast<int>(next.source.size());
    const bool fits = after.rows <= limits_.max_rows &&
                      after.kv_bytes <= limits_.kv_capacity_bytes &&
                      (admitted.empty() || tokens_after <= limits_.max_encode_tokens);
    // One job may be larger than the limit of rows: it then runs alone.
    if (!fits && load.rows > 0) break;
    load = after;
    tokens = tokens_after;
    admitted.push_back(std::move(line_.front()));
    line_.pop_front();
  }
  return admitted;
}

std::vector<std::pair<JobPtr, absl::Status>> Scheduler::TakeUnwanted(absl::Time now) {
  std::vector<std::pair<JobPtr, absl::Status>> unwanted;
  for (JobPtr& job : line_) {
    absl::Status wanted = job->request->Wanted(now);
    if (!wanted.ok()) unwanted.emplace_back(std::move(job), std::move(wanted));
  }
  if (!unwanted.empty()) std::erase_if(line_, [](const JobPtr& job) { return job == nullptr; });
  return unwanted;
}

}  // namespace dragoman
