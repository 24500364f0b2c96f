// Asks now and then whether long work for a request is still wanted.
//
//   for (const std::string& text : texts) {
//     RETURN_IF_ERROR(wanted->After(text.size()));
//     ... tokenize the text ...
//   }
//
// Work is counted in bytes that are read, more or less, so that short work asks nothing and costs
// no look at a clock, and long work ends soon after it is useless.  Used by one thread at a time.

#ifndef DRAGOMAN_ENGINE_REQUEST_STILL_WANTED_H_
#define DRAGOMAN_ENGINE_REQUEST_STILL_WANTED_H_

#include <cstddef>
#include <functional>
#include <utility>

#include "absl/status/status.h"

namespace dragoman {

class RequestState;

class StillWanted {
 public:
  // About a millisecond of tokenizing.
  static constexpr size_t kWorkBetween = 4096;

  // OK, or why the work is not wanted.
  using Ask = std::function<absl::Status()>;

  // Null: it always is.
  explicit StillWanted(Ask ask = nullptr) : ask_(std::move(ask)) {}

  // Asks if there was enough work since it asked last, this included.  Once the work is not wanted,
  // it stays so.
  const absl::Status& After(size_t work) {
    work_ += work;
    if (work_ < kWorkBetween || ask_ == nullptr || !status_.ok()) return status_;
    work_ = 0;
    status_ = ask_();
    return status_;
  }

  // The last answer.
  const absl::Status& status() const { return status_; }

 private:
  const Ask ask_;
  size_t work_ = 0;
  absl::Status status_;
};

// For a request, until it is cancelled or late.  `state` must outlive it.
StillWanted WantedBy(const RequestState* state);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_STILL_WANTED_H_
