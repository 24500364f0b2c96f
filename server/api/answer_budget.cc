#include "server/api/answer_budget.h"

#include "engine/base/status.h"
#include "server/base/errors.h"

namespace dragoman {
absl::Status AnswerBudget::Check(const std::string& holder, bool reads) const {
  absl::MutexLock lock(&mutex_);
  const auto found = held_.find(holder);
  const size_t bytes = found == held_.end() ? 0 : found->second;
  const size_t times = reads ? 2 : 1;
  if (bytes <= limits_.little || (bytes < times * limits_.holder && all_ < times * limits_.all)) {
    return absl::OkStatus();
  }
  ++refusals_;
  return UnreadAnswers(bytes);
}

BudgetStats AnswerBudget::Stats() const {
  absl::MutexLock lock(&mutex_);
  return {.name = "answers", .used = all_, .limit = limits_.all, .refusals = refusals_};
}

void AnswerBudget::Change(const std::string& holder, size_t before, size_t now) {
  absl::MutexLock lock(&mutex_);
  size_t& bytes = held_[holder];
  DRAGOMAN_CHECK(bytes >= before && all_ >= before);
  bytes += now - before;
  all_ += now - before;
  if (bytes == 0) held_.erase(holder);
}

void HeldAnswer::Set(size_t bytes) {
  if (bytes != bytes_) budget_->Change(holder_, bytes_, bytes);
  bytes_ = bytes;
}

}  // namespace dragoman
