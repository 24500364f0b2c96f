// What the caller of one call may do.  Every refusal for want of a right is made here, whatever the
// transport: the services ask, and pass on the answer.
//
//   RETURN_IF_ERROR(permit.MayCall("Score"));   // Call::Admit
//   RETURN_IF_ERROR(permit.MayUse("en-de"));    // before the model is looked for
//
//   PERMISSION_DENIED: "shop" lacks the right models=en-de
//
// What a request asks for beyond its caller's rights is refused; what it leaves open stays within
// them: without a beam size it gets at most the largest that its caller may ask for.

#ifndef DRAGOMAN_SERVER_AUTH_PERMIT_H_
#define DRAGOMAN_SERVER_AUTH_PERMIT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/decode/quota.h"
#include "server/auth/rights.h"

namespace dragoman {

// How many texts principals have sent lately.  Thread-safe.
class TextBook {
 public:
  // RESOURCE_EXHAUSTED, with the time to wait (RetryAfterOf), if no text is left of those that the
  // principal may send in a minute.  As with a quota of work, a request is taken whole if any is.
  absl::Status Take(const std::string& principal, int64_t per_minute, int texts, absl::Time now);
  // They were not translated after all.
  void Return(const std::string& principal, int64_t per_minute, int texts, absl::Time now);

 private:
  absl::Mutex mutex_;
  QuotaBook book_ ABSL_GUARDED_BY(mutex_);  // of texts
};

// Thread-safe; copies are cheap.
class Permit {
 public:
  // Of callers who are not restricted.
  explicit Permit(std::string principal = "") : principal_(std::move(principal)) {}
  // `book` must outlive the permit and its copies; null rights are not restricted.
  Permit(std::string principal, std::shared_ptr<const Rights> rights, TextBook* book)
      : principal_(std::move(principal)), rights_(std::move(rights)), book_(book) {}

  // Of who has started the server, as "owner": administers, and is not restricted.
  static Permit OfOwner();

  // "" is anonymous.
  const std::string& principal() const { return principal_; }

  // PERMISSION_DENIED (MissingRight) if the right is missing.  A method of AdminService is called
  // "AdminService/Drain".
  absl::Status MayCall(std::string_view method) const;
  // Of "en-de@canary" the part before the @ counts; a request that names no model may get those
  // that it may use.  The answer is the same whether or not there is such a model.
  absl::Status MayUse(std::string_view model) const;
  // The same as a yes or no, for as long as needed: nobody is told of other models.
  std::function<bool(const std::string& model)> Models() const {
    return [permit = *this](const std::string& model) { return permit.MayUse(model).ok(); };
  }
  // For so many rows of a sentence in a batch: with a beam, or several, or so many hypotheses or
  // candidates.
  absl::Status MayAskForBeam(int beam, int beams = 1) const;
  absl::Status MayBeInteractive() const;

  // For what a request leaves open.
  int LargestBeam(int otherwise, int beams = 1) const;
  bool only_batch() const { return rights_ != nullptr && rights_->only_batch; }

  // Counts texts that are about to be translated or scored.  RESOURCE_EXHAUSTED (TextBook::Take).
  absl::Status TakeTexts(int texts) const;
  // The end of what was taken: texts that were refused do not count.
  void SettleTexts(int texts, const absl::Status& outcome) const;

 private:
  std::string principal_;
  std::shared_ptr<const Rights> rights_;  // null: not restricted
  TextBook* book_ = nullptr;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_AUTH_PERMIT_H_
