#include "engine/decode/worker.h"

#include <algorithm>
#include <utility>

namespace dragoman {

Worker::Worker(int index, int threads, const SchedulerLimits& limits, const Clock& clock,
               Observer* observer, WaitingRoom* waiting_room)
    : index_(index),
      clock_(clock),
      observer_(observer),
      waiting_room_(waiting_room),
      scheduler_(limits),
      scratch_(threads) {}

Worker::~Worker() { DRAGOMAN_CHECK(idle() && !thread_.joinable()); }

void Worker::Submit(JobPtr job) {
  work_.fetch_add(job->Work(), std::memory_order_relaxed);
  absl::MutexLock lock(&mutex_);
  mail_.push_back(std::move(job));
}

void Worker::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Worker::Drain() {
  {
    absl::MutexLock lock(&mutex_);
    draining_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void Worker::Run() {
  const auto called = [this] {
    mutex_.AssertHeld();
    return !mail_.empty() || draining_;
  };
  while (true) {
    if (idle()) {
      absl::MutexLock lock(&mutex_, absl::Condition(&called));
      if (mail_.empty()) return;
    }
    Turn();
  }
}

bool Worker::Turn() {
  const absl::Time start = clock_();
  TakeMail();
  if (idle()) return false;
  DropUnwanted();
  Admit();
  for (const auto& [model, batch] : batches_) {
    if (!batch->empty()) batch->Step();
  }
  std::erase_if(batches_, [](const auto& entry) { return entry.second->empty(); });
  kv_bytes_.store(load().kv_bytes, std::memory_order_relaxed);
  observer_->OnBusy(index_, clock_() - start);
  return true;
}

void Worker::TakeMail() {
  std::vector<JobPtr> mail;
  {
    absl::MutexLock lock(&mutex_);
    mail.swap(mail_);
  }
  for (JobPtr& job : mail) scheduler_.Enqueue(std::move(job));
}

void Worker::DropUnwanted() {
  for (auto& [job, status] : scheduler_.TakeUnwanted(clock_())) {
    waiting_room_->Leave(*job);
    JobResult result;
    result.times.queue = clock_() - job->submitted;
    result.status = std::move(status);
    Conclude(job.get(), std::move(result), this);
  }
  for (const auto& [model, batch] : batches_) batch->DropUnwanted();
}

void Worker::Admit() {
  std::vector<std::pair<DecodeBatch*, std::vector<JobPtr>>> joining;
  for (JobPtr& job : scheduler_.Admit(load())) {
    waiting_room_->Leave(*job);
    const Model* const model = job->model.get();
    auto batch = std::find_if(batches_.begin(), batches_.end(),
                              [&](const auto& entry) { return entry.first == model; });
    if (batch == batches_.end()) {
      batch = batches_.emplace(batch, model,
                               std::make_unique<DecodeBatch>(
                                   job->model, clock_, static_cast<Observer*>(this), &scratch_));
    }
    auto group = std::find_if(joining.begin(), joining.end(), [&](const auto& entry) {
      return entry.first == batch->second.get();
    });
    if (group == joining.end()) {
      group = joining.emplace(group, batch->second.get(), std::vector<JobPtr>());
    }
    group->second.push_back(std::move(job));
  }
  for (auto& [batch, jobs] : joining) batch->Join(std::move(jobs));
  kv_bytes_.store(load().kv_bytes, std::memory_order_relaxed);
}

BatchLoad Worker::load() const {
  BatchLoad load;
  for (const auto& [model, batch] : batches_) {
    load.rows += batch->load().rows;
    load.kv_bytes += batch->load().kv_bytes;
  }
  return load;
}

void Worker::OnEncode(const Model& model, int sentences, int tokens, absl::Duration took) {
  observer_->OnEncode(model, sentences, tokens, took);
}

void Worker::OnDecodeStep(const Model& model, int sentences, int rows, absl::Duration took) {
  observer_->OnDecodeStep(model, sentences, rows, took);
}

void Worker::OnBusy(int worker, absl::Duration took) { observer_->OnBusy(worker, took); }

void Worker::OnJobDone(const Job& job, const JobResult& result) {
  work_.fetch_sub(job.Work(), std::memory_order_relaxed);
  observer_->OnJobDone(job, result);
}

}  // namespace dragoman
