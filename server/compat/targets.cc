#include "server/compat/targets.h"

#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

using Cancel = std::function<void()>;

// The calls of one answer, which lives as long as any of them.  Thread-safe.
class Gathering {
 public:
  Gathering(std::shared_ptr<HttpAnswer> answer, RenderTargets render)
      : answer_(std::move(answer)), render_(std::move(render)) {}

  // How many calls there will be.  REQUIRES: none has ended yet.
  void Expect(size_t calls) {
    absl::MutexLock lock(&mutex_);
    left_ = calls;
    responses_.resize(calls);
  }

  // The end of call `i`.  The last one sends the answer.
  void Add(size_t i, const CallEnd& end, v1::TranslateResponse response) {
    if (!end.status.ok()) CancelAll();
    absl::ReleasableMutexLock lock(&mutex_);
    if (end_.status.ok() && (i == 0 || !end.status.ok())) end_ = end;
    responses_[i] = std::move(response);
    if (--left_ > 0) return;
    lock.Release();
    if (!end_.status.ok()) responses_.clear();
    answer_->Send(render_(end_, responses_));
  }

  // Also cancels calls that start later.
  void CancelAll() {
    std::vector<Cancel> cancels;
    {
      absl::MutexLock lock(&mutex_);
      cancelled_ = true;
      cancels.swap(cancels_);
    }
    for (const Cancel& cancel : cancels) cancel();
  }

  bool cancelled() {
    absl::MutexLock lock(&mutex_);
    return cancelled_;
  }

  void OnCancel(Cancel cancel) {
    {
      absl::MutexLock lock(&mutex_);
      if (!cancelled_) return cancels_.push_back(std::move(cancel));
    }
    cancel();
  }

 private:
  const std::shared_ptr<HttpAnswer> answer_;
  const RenderTargets render_;
  absl::Mutex mutex_;
  size_t left_ ABSL_GUARDED_BY(mutex_) = 1;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<Cancel> cancels_ ABSL_GUARDED_BY(mutex_);
  // Guarded by mutex_ until no call is left.
  CallEnd end_;  // the first error, or else the end of the first call
  std::vector<v1::TranslateResponse> responses_{1};
};

// What one of the calls takes for its answer.
class PartOfAnswer : public HttpAnswer {
 public:
  explicit PartOfAnswer(std::shared_ptr<Gathering> whole) : whole_(std::move(whole)) {}

  void Send(HttpResponse) override {}  // Gathering::Add has everything
  void Begin(HttpResponse) override {}
  void Write(std::string, std::function<void()>) override {}
  void End() override {}
  void OnGone(std::function<void()> gone) override { whole_->OnCancel(std::move(gone)); }

 private:
  const std::shared_ptr<Gathering> whole_;
};

}  // namespace

void TranslateToTargets(const ApiContext& context, const char* api, const HttpRequest& http,
                        std::shared_ptr<HttpAnswer> answer,
                        absl::FunctionRef<absl::StatusOr<std::vector<v1::TranslateRequest>>()> read,
                        RenderTargets render) {
  const auto whole = std::make_shared<Gathering>(answer, std::move(render));
  std::vector<v1::TranslateRequest> wanted;
  const auto start = [&](size_t i) {
    const auto read_one = [&]() -> absl::StatusOr<v1::TranslateRequest> {
      if (i == 0) {
        ASSIGN_OR_RETURN(wanted, read());
        whole->Expect(wanted.size());
      }
      return std::move(wanted[i]);
    };
    TranslateOverHttp(context, api, http, std::make_shared<PartOfAnswer>(whole), read_one,
                      [whole, i](const CallEnd& end, v1::TranslateResponse response) {
                        whole->Add(i, end, std::move(response));
                        return HttpResponse();
                      });
  };
  start(0);
  for (size_t i = 1; i < wanted.size(); ++i) {
    if (whole->cancelled()) {  // there is an answer already
      whole->Add(i, {.status = absl::CancelledError("another of the languages failed")}, {});
    } else {
      start(i);
    }
  }
  answer->OnGone([gone = std::weak_ptr(whole)] {
    if (const auto calls = gone.lock()) calls->CancelAll();
  });
}

}  // namespace dragoman
