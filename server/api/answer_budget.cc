#include "server/api/answer_budget.h"

#include "engine/base/status.h"
#include "server/base/errors.h"

namespace dragoman {
absl::Status AnswerBudget::Check(const AnswerReader& reader, bool reads) const {
  absl::MutexLock lock(&mutex_);
  const auto found = held_.find(reader.holder);
  const size_t bytes = found == held_.end() ? 0 : found->second;
  const size_t shares = reads || !connected_.contains(reader.connection) ? 2 : 1;
  const size_t all = reads ? 2 * limits_.all : limits_.all;
  if (bytes <= limits_.little || (bytes < shares * limits_.holder && all_ < all)) {
    return absl::OkStatus();
  }
  ++refusals_;
  return UnreadAnswers(bytes);
}

BudgetStats AnswerBudget::Stats() const {
  absl::MutexLock lock(&mutex_);
  return {.name = "answers", .used = all_, .limit = limits_.all, .refusals = refusals_};
}

void AnswerBudget::Change(const AnswerReader& reader, size_t before, size_t now) {
  absl::MutexLock lock(&mutex_);
  for (const auto& [held, name] :
       {std::pair(&held_, &reader.holder), {&connected_, &reader.connection}}) {
    size_t& bytes = (*held)[*name];
    DRAGOMAN_CHECK(bytes >= before);
    bytes += now - before;
    if (bytes == 0) held->erase(*name);
  }
  all_ += now - before;
}

void HeldAnswer::Set(size_t bytes) {
  if (bytes != bytes_) budget_->Change(reader_, bytes_, bytes);
  bytes_ = bytes;
}

}  // namespace dragoman
