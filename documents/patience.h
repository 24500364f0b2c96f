// Whether the translation of a file is still wanted.
//
//   Patience patience(options);
//   while (NextLine(&line)) {
//     if (!patience.Lasts(line.size())) return patience.status();
//
// A file may keep its reader busy for longer than its caller waits: it is large, or was made for
// that.  So who goes through a part says how much is done, and after each so many bytes
// DocumentOptions::wanted is asked.

#ifndef DRAGOMAN_DOCUMENTS_PATIENCE_H_
#define DRAGOMAN_DOCUMENTS_PATIENCE_H_

#include <cstddef>
#include <functional>

#include "absl/status/status.h"
#include "documents/document.h"

namespace dragoman {

class Patience {
 public:
  explicit Patience(const DocumentOptions& options)
      : wanted_(options.wanted), step_(options.wanted_step) {}

  // Says that so many bytes more are done, or what took as long.  Once this is false, it always is.
  bool Lasts(size_t bytes) {
    done_ += bytes;
    return done_ < step_ ? status_.ok() : Ask();
  }
  // Why it does not last.
  const absl::Status& status() const { return status_; }

 private:
  bool Ask() {
    done_ = 0;
    if (status_.ok() && wanted_ != nullptr) status_ = wanted_();
    return status_.ok();
  }

  const std::function<absl::Status()> wanted_;
  const size_t step_;
  size_t done_ = 0;  // since it was asked
  absl::Status status_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_PATIENCE_H_
