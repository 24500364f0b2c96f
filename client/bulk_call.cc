#include "client/bulk_call.h"

#include <grpcpp/grpcpp.h>

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dragoman/v1/translation.grpc.pb.h"
#include "engine/base/status.h"
#include "google/rpc/error_details.pb.h"

namespace dragoman {
namespace {

template <typename Detail>
void Attach(const Detail& detail, absl::Status* status) {
  status->SetPayload("type.googleapis.com/" + detail.GetDescriptor()->full_name(),
                     absl::Cord(detail.SerializeAsString()));
}

// The error of one request, with the details that Translate would have given it.
absl::Status ToStatus(const v1::Error& error) {
  absl::Status status(static_cast<absl::StatusCode>(error.code()), error.message());
  if (!error.field().empty()) {
    google::rpc::BadRequest detail;
    detail.add_field_violations()->set_field(error.field());
    detail.mutable_field_violations(0)->set_description(error.message());
    Attach(detail, &status);
  }
  if (error.has_retry_delay()) {
    google::rpc::RetryInfo detail;
    *detail.mutable_retry_delay() = error.retry_delay();
    Attach(detail, &status);
  }
  return status;
}

}  // namespace

// One gRPC call.  It owns itself until OnDone.
struct BulkCall::Stream
    : grpc::ClientBidiReactor<v1::TranslateBulkRequest, v1::TranslateBulkResponse> {
  explicit Stream(BulkCall* its_owner) : owner(its_owner) {}

  // Attaches it to a call; nothing is sent before Start.
  void Open(std::shared_ptr<Stream> self) {
    own = std::move(self);
    owner->connection_.prepare(&context);
    static_cast<v1::TranslationService::Stub*>(owner->connection_.stub)
        ->async()
        ->TranslateBulk(&context, this);
    AddHold();  // writes may start at any time until the last read
  }
  void Start() {
    StartRead(&incoming);
    StartCall();
  }

  // False if the call has ended.
  bool Send(v1::TranslateRequest* request, TranslationClient::TranslateDone* done) {
    {
      absl::MutexLock lock(&mutex);
      if (ended) return false;
      const int64_t id = next_id++;
      v1::TranslateBulkRequest item;
      item.set_id(std::to_string(id));
      *item.mutable_request() = std::move(*request);
      pending.emplace(item.id(), std::move(*done));
      to_write.push_back(std::move(item));
    }
    Pump();
    return true;
  }

  bool idle() {
    absl::MutexLock lock(&mutex);
    return pending.empty();
  }

  // Called when everything is answered; lets the call end normally.
  void Close() {
    {
      absl::MutexLock lock(&mutex);
      closing = true;
    }
    Pump();
  }

  // Writes what can be written: the next request or, finally, the end of requests.  One thread at a
  // time does so, and checks again for what has come up meanwhile.
  void Pump() {
    mutex.Lock();
    if (pumping) return mutex.Unlock();
    pumping = true;
    while (!writing && !ended && (!to_write.empty() || closing)) {
      writing = true;
      const bool last = to_write.empty();
      if (last) {
        closing = false;
      } else {
        outgoing = std::move(to_write.front());
        to_write.pop_front();
      }
      mutex.Unlock();
      if (last) {
        StartWritesDone();
      } else {
        StartWrite(&outgoing);
      }
      mutex.Lock();
    }
    pumping = false;
    const bool release = std::exchange(hold_left, false);
    mutex.Unlock();
    if (release) RemoveHold();
  }

  void OnWriteDone(bool) override {
    {
      absl::MutexLock lock(&mutex);
      writing = false;
    }
    Pump();
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      bool release = false;
      {
        absl::MutexLock lock(&mutex);
        ended = true;
        release = !pumping;
        hold_left = pumping;
      }
      if (release) RemoveHold();
      return;
    }
    TranslationClient::TranslateDone done;
    {
      absl::MutexLock lock(&mutex);
      const auto found = pending.find(incoming.id());
      if (found != pending.end()) {
        done = std::move(found->second);
        pending.erase(found);
      }
    }
    if (done != nullptr && incoming.has_response()) {
      done(std::move(*incoming.mutable_response()));
    } else if (done != nullptr) {
      done(ToStatus(incoming.error()));
    }
    StartRead(&incoming);
  }

  void OnDone(const grpc::Status& grpc_status) override {
    std::map<std::string, TranslationClient::TranslateDone> left;
    absl::Status status;
    {
      absl::MutexLock lock(&mutex);
      ended = true;
      left.swap(pending);
      status = cancelled;
    }
    if (status.ok()) {
      status = owner->connection_.to_status(grpc_status);
      // Not cancelled by this side: a server behind a load balancer went away, or a drain cut the
      // call.
      if (absl::IsCancelled(status)) {
        status = UnavailableError("the call was interrupted: ", status.message());
      }
    }
    if (status.ok()) status = absl::UnavailableError("the server has ended the call");
    BulkCall* const its_owner = owner;
    {
      absl::MutexLock lock(&its_owner->mutex_);
      if (its_owner->stream_.get() == this) its_owner->stream_ = nullptr;
    }
    // Drops the last reference here, unless another thread still holds one because it has not yet
    // noticed the end. The context holds the channel, which must not be destroyed on gRPC's thread.
    std::shared_ptr<Stream>(std::move(own)).reset();
    for (auto& [id, done] : left) done(status);
    absl::MutexLock lock(&its_owner->mutex_);
    --its_owner->streams_;
  }

  BulkCall* const owner;
  std::shared_ptr<Stream> own;
  grpc::ClientContext context;
  v1::TranslateBulkRequest outgoing;   // being written
  v1::TranslateBulkResponse incoming;  // being read

  absl::Mutex mutex;
  int64_t next_id ABSL_GUARDED_BY(mutex) = 0;
  std::deque<v1::TranslateBulkRequest> to_write ABSL_GUARDED_BY(mutex);
  std::map<std::string, TranslationClient::TranslateDone> pending ABSL_GUARDED_BY(mutex);
  bool writing ABSL_GUARDED_BY(mutex) = false;
  bool pumping ABSL_GUARDED_BY(mutex) = false;    // a thread is in Pump
  bool hold_left ABSL_GUARDED_BY(mutex) = false;  // it will remove the hold
  bool closing ABSL_GUARDED_BY(mutex) = false;    // no more requests will come
  bool ended ABSL_GUARDED_BY(mutex) = false;      // no request is accepted any more
  absl::Status cancelled ABSL_GUARDED_BY(mutex);
};

BulkCall::BulkCall(Connection connection) : connection_(std::move(connection)) {}

BulkCall::~BulkCall() {
  std::shared_ptr<Stream> stream;
  {
    absl::MutexLock lock(&mutex_);
    stream = stream_;
  }
  if (stream != nullptr && stream->idle()) {
    stream->Close();
  } else {
    Cancel(absl::CancelledError("given up"));
  }
  stream = nullptr;
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(
      +[](int* streams) { return *streams == 0; }, &streams_));
}

void BulkCall::TranslateAsync(v1::TranslateRequest request, TranslationClient::TranslateDone done) {
  if (absl::Status status = CheckTexts(request); !status.ok()) return done(std::move(status));
  while (true) {
    std::shared_ptr<Stream> stream;
    bool open = false;
    {
      absl::MutexLock lock(&mutex_);
      open = stream_ == nullptr;
      if (open) {
        stream_ = std::make_shared<Stream>(this);
        stream_->Open(stream_);
        ++streams_;
      }
      stream = stream_;
    }
    if (open) stream->Start();
    if (stream->Send(&request, &done)) return;
    absl::MutexLock lock(&mutex_);
    if (stream_ == stream) stream_ = nullptr;
  }
}

void BulkCall::Cancel(const absl::Status& status) {
  std::shared_ptr<Stream> stream;
  {
    absl::MutexLock lock(&mutex_);
    stream = stream_;
  }
  if (stream == nullptr) return;
  {
    absl::MutexLock lock(&stream->mutex);
    stream->cancelled = status;
  }
  stream->context.TryCancel();
}

}  // namespace dragoman
