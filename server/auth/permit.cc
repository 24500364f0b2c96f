#include "server/auth/permit.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/limit.h"
#include "engine/base/status.h"
#include "server/base/errors.h"
#include "server/base/methods.h"

namespace dragoman {
namespace {

// Methods that only other APIs have, and the method whose right they need; "" is no right.
constexpr std::pair<std::string_view, std::string_view> kOfOtherApis[] = {
    {"BreakSentence", "Tokenize"}, {"IssueToken", ""}, {"StreamCoreMetrics", ""}};

Quota TextsOf(int64_t per_minute) { return {.per_minute = static_cast<double>(per_minute)}; }

}  // namespace

absl::Status TextBook::Take(const std::string& principal, int64_t per_minute, int texts,
                            absl::Time now) {
  const Quota quota = TextsOf(per_minute);
  absl::MutexLock lock(&mutex_);
  const absl::Status used_up = book_.Check(principal, quota, now);
  if (used_up.ok()) {
    book_.Spend(principal, quota, texts, now);
    return absl::OkStatus();
  }
  absl::Status refusal =
      OverLimit(ResourceExhaustedError("\"", principal,
                                       "\" has used up its right texts=", per_minute, " a minute"),
                "texts");
  return RetryAfter(std::move(refusal), RetryAfterOf(used_up).value_or(absl::Seconds(1)));
}

void TextBook::Return(const std::string& principal, int64_t per_minute, int texts, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  book_.Return(principal, TextsOf(per_minute), texts, now);
}

Permit Permit::OfOwner() {
  static const auto& rights =
      *new std::shared_ptr<const Rights>(std::make_shared<Rights>(Rights{.admin = AdminMethods()}));
  return Permit("owner", rights, nullptr);
}

absl::Status Permit::MayCall(std::string_view method) const {
  if (const std::optional<std::string_view> name = AdminMethodOf(method)) {
    if (rights_ != nullptr && rights_->admin.contains(*name)) return absl::OkStatus();
    return MissingRight(principal_, "admin", std::string(*name));
  }
  if (rights_ == nullptr || !rights_->methods.has_value()) return absl::OkStatus();
  for (const auto& [other, right] : kOfOtherApis) {
    if (method == other) method = right;
  }
  if (method.empty() || rights_->methods->contains(method)) return absl::OkStatus();
  return MissingRight(principal_, "methods", std::string(method));
}

absl::Status Permit::MayUse(std::string_view model) const {
  const std::string_view name = model.substr(0, model.find('@'));
  if (name.empty() || rights_ == nullptr || !rights_->models.has_value() ||
      rights_->models->contains(name)) {
    return absl::OkStatus();
  }
  return MissingRight(principal_, "models", std::string(name));
}

absl::Status Permit::MayAskForBeam(int beam, int beams) const {
  const int64_t rows = int64_t{beam} * beams;
  if (rights_ == nullptr || rights_->beam == 0 || rows <= rights_->beam) return absl::OkStatus();
  return MissingRight(principal_, "beam", absl::StrCat(rows));
}

absl::Status Permit::MayBeInteractive() const {
  return only_batch() ? MissingRight(principal_, "priority", "interactive") : absl::OkStatus();
}

int Permit::LargestBeam(int otherwise, int beams) const {
  if (rights_ == nullptr || rights_->beam == 0) return otherwise;
  return std::min(otherwise, std::max(1, rights_->beam / beams));
}

absl::Status Permit::TakeTexts(int texts) const {
  if (rights_ == nullptr || rights_->texts_per_minute == 0) return absl::OkStatus();
  return book_->Take(principal_, rights_->texts_per_minute, texts, absl::Now());
}

void Permit::SettleTexts(int texts, const absl::Status& outcome) const {
  const bool refused = absl::IsResourceExhausted(outcome) || absl::IsInvalidArgument(outcome);
  if (!refused || rights_ == nullptr || rights_->texts_per_minute == 0) return;
  book_->Return(principal_, rights_->texts_per_minute, texts, absl::Now());
}

}  // namespace dragoman
