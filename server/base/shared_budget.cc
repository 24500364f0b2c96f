#include "server/base/shared_budget.h"

#include "engine/base/status.h"
#include "server/base/errors.h"

namespace dragoman {

absl::Status NoRoom(const BudgetStats& budget, size_t wanted) {
  return OverBudget(
      {.name = budget.name, .limit = budget.limit, .used = budget.used, .wanted = wanted});
}

absl::Status Share::Raise(size_t amount) {
  DRAGOMAN_CHECK(budget_ != nullptr);
  if (amount <= amount_) return absl::OkStatus();
  RETURN_IF_ERROR(budget_->Add(holder_, amount - amount_));
  amount_ = amount;
  return absl::OkStatus();
}

void Share::Return() {
  if (amount_ > 0) budget_->Subtract(holder_, amount_);
  amount_ = 0;
}

absl::StatusOr<Share> SharedBudget::Take(const std::string& holder, size_t amount) {
  Share share;
  share.budget_ = this;
  share.holder_ = holder;
  RETURN_IF_ERROR(share.Raise(amount));
  return share;
}

absl::Status SharedBudget::Add(const std::string& holder, size_t amount) {
  absl::MutexLock lock(&mutex_);
  const auto found = held_.find(holder);
  const size_t held = found == held_.end() ? 0 : found->second;
  if (!Fits(limit_, used_, held, amount)) {
    ++refusals_;
    return OverBudget({name_, limit_, used_, held, amount});
  }
  held_[holder] += amount;
  used_ += amount;
  return absl::OkStatus();
}

void SharedBudget::Subtract(const std::string& holder, size_t amount) {
  absl::MutexLock lock(&mutex_);
  const auto found = held_.find(holder);
  DRAGOMAN_CHECK(found != held_.end() && found->second >= amount && used_ >= amount);
  used_ -= amount;
  found->second -= amount;
  if (found->second == 0) held_.erase(found);
}

BudgetStats SharedBudget::Stats() const {
  absl::MutexLock lock(&mutex_);
  return {.name = name_, .used = used_, .limit = limit_, .refusals = refusals_};
}

}  // namespace dragoman
