#include "engine/decode/worker.h"

#include <utility>

#include "absl/algorithm/container.h"

namespace dragoman {

Worker::Worker(int index, int threads, const Clock& clock, Observer* observer,
               Dispatcher* dispatcher, PriceList* prices)
    : index_(index),
      clock_(clock),
      observer_(observer),
      dispatcher_(dispatcher),
      prices_(prices),
      scratch_(threads, dispatcher->limits().turn.kv_capacity_bytes) {}

Worker::~Worker() { DRAGOMAN_CHECK(batches_.empty() && !thread_.joinable()); }

void Worker::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Worker::Join() {
  if (thread_.joinable()) thread_.join();
}

void Worker::Run() {
  while (!batches_.empty() || dispatcher_->AwaitWork(index_)) Turn();
}

bool Worker::Turn() {
  const absl::Time start = clock_();
  residents_.clear();
  for (const auto& [model, batch] : batches_) {
    batch->DropUnwanted();
    batch->AppendResidents(&residents_);
  }
  TurnPlan plan = dispatcher_->PlanTurn(index_, absl::MakeSpan(residents_), start);
  if (residents_.empty() && plan.start.empty() && plan.refuse.empty()) {
    batches_.clear();
    CountMemory();
    return false;
  }
  size_t next = 0;
  for (const auto& [model, batch] : batches_) next = batch->SetRunning(residents_, next);
  Refuse(std::move(plan.refuse));
  Begin(std::move(plan.start));
  for (const auto& [model, batch] : batches_) {
    batch->Encode();
    if (batch->runs()) batch->Step();
  }
  std::erase_if(batches_, [](const auto& entry) { return entry.second->empty(); });
  CountMemory();
  const absl::Time end = clock_();
  if (batches_.empty()) dispatcher_->OnTurnEnd(index_, end);
  const absl::Duration took = end - start;
  const double interactive = plan.seconds[Priority::kInteractive];
  const double all = interactive + plan.seconds[Priority::kBatch];
  observer_->OnBusy(index_, took, all > 0 ? took * (interactive / all) : absl::ZeroDuration());
  return true;
}

void Worker::Refuse(std::vector<std::pair<JobPtr, absl::Status>> jobs) {
  for (auto& [job, status] : jobs) {
    JobResult result;
    result.times.queue = clock_() - job->submitted;
    result.status = std::move(status);
    observer_->OnJobDone(*job, result);
    job->Finish(std::move(result));
  }
}

void Worker::Begin(std::vector<Starting> starting) {
  std::vector<std::pair<DecodeBatch*, std::vector<JobPtr>>> joining;
  for (auto& [job, encode_stages] : starting) {
    DecodeBatch* const batch = BatchOf(job->model);
    if (encode_stages < job->cost.encode_stages) {
      batch->JoinUnencoded(std::move(job), encode_stages);
      continue;
    }
    auto group = absl::c_find_if(joining, [&](const auto& entry) { return entry.first == batch; });
    if (group == joining.end()) {
      group = joining.emplace(group, batch, std::vector<JobPtr>());
    }
    group->second.push_back(std::move(job));
  }
  for (auto& [batch, group] : joining) batch->Join(std::move(group));
  CountMemory();
}

DecodeBatch* Worker::BatchOf(const std::shared_ptr<const Model>& model) {
  for (const auto& [known, batch] : batches_) {
    if (known == model.get()) return batch.get();
  }
  batches_.emplace_back(
      model.get(),
      std::make_unique<DecodeBatch>(model, clock_, observer_, &scratch_,
                                    [this](Job* job, JobResult r) { End(job, std::move(r)); }));
  return batches_.back().second.get();
}

void Worker::CountMemory() {
  size_t kv_bytes = 0;
  for (const auto& [model, batch] : batches_) kv_bytes += batch->load().kv_bytes;
  kv_bytes_.store(kv_bytes, std::memory_order_relaxed);
}

// A job of a batch has ended.  The dispatcher forgets it before the caller hears of it, so that a
// caller who has all answers finds the queue empty.
void Worker::End(Job* job, JobResult result) {
  dispatcher_->OnEnd(*job, result.status);
  if (result.status.ok()) prices_->Learn(*job, result.times.steps);
  observer_->OnJobDone(*job, result);
  job->Finish(std::move(result));
}

}  // namespace dragoman
