// Sends requests over one TranslateBulk instead of one call each: the server takes as many as it
// can use and answers each as soon as it is done.
//
//   BulkCall bulk(...);                    // client.OpenBulk()
//   bulk.TranslateAsync(request, done);    // any number of times, without waiting
//
// When the call ends, every unanswered request fails with its status, and the next request opens a
// new call.

#ifndef DRAGOMAN_CLIENT_BULK_CALL_H_
#define DRAGOMAN_CLIENT_BULK_CALL_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/translation_client.h"
#include "dragoman/v1/translation.pb.h"
#include "engine/base/not_copyable.h"

namespace grpc {
class ClientContext;
class Status;
}  // namespace grpc

namespace dragoman {

// Thread-safe.
class BulkCall : private NotCopyable {
 public:
  // What a call needs from the client, which must outlive it.
  struct Connection {
    void* stub = nullptr;  // v1::TranslationService::Stub
    std::function<void(grpc::ClientContext*)> prepare;
    std::function<absl::Status(const grpc::Status&)> to_status;
  };

  explicit BulkCall(Connection connection);
  // Cancels unanswered requests, and waits for their end.
  ~BulkCall();

  // `done` is called exactly once, on one of gRPC's threads or on this one, and must not block.
  // The caller must limit the number of requests in progress, which are kept in memory.
  void TranslateAsync(v1::TranslateRequest request, TranslationClient::TranslateDone done);

  // All unanswered requests fail with `status`.
  void Cancel(const absl::Status& status);

 private:
  struct Stream;

  const Connection connection_;
  absl::Mutex mutex_;
  std::shared_ptr<Stream> stream_ ABSL_GUARDED_BY(mutex_);  // null: the next request opens one
  int streams_ ABSL_GUARDED_BY(mutex_) = 0;                 // that have not ended
};

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_BULK_CALL_H_
