// The bookkeeping for one call: identifies its caller, and counts, times and logs it, whatever its
// outcome.  Every service answers through it, over any transport, so that no answer is missing from
// the metrics.

#ifndef DRAGOMAN_SERVER_API_CALL_H_
#define DRAGOMAN_SERVER_API_CALL_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/decode/worker_pool.h"
#include "engine/request/still_wanted.h"
#include "server/api/answer_budget.h"
#include "server/api/gate.h"
#include "server/auth/caller.h"
#include "server/auth/principals.h"
#include "server/base/shared_budget.h"
#include "server/base/ticker.h"
#include "server/config/config.h"
#include "server/models/model_registry.h"
#include "server/observe/load_meter.h"
#include "server/observe/metrics.h"
#include "server/observe/trace.h"
#include "server/observe/tracer.h"

namespace dragoman {

struct AdminActions;
class DocumentDesk;
class DocumentStore;
class GlossaryStore;
class MemoryStore;
class WorkThreads;

// What the services share.  Owned by the Server, which outlives them.
struct ServerParts {
  const ModelRegistry* models = nullptr;
  std::function<absl::Status()> ready;  // whether the server wants calls
  WorkerPool* pool = nullptr;
  Gate* gate = nullptr;
  Principals* principals = nullptr;
  AnswerBudget* answers = nullptr;
  SharedBudget* requests = nullptr;  // bytes that calls take while they are worked on
  Tracer* tracer = nullptr;          // null: nothing is traced
  const LoadMeter* load = nullptr;   // null: nobody is told
  Ticker* ticker = nullptr;
  DocumentDesk* documents = nullptr;
  DocumentStore* stored_documents = nullptr;
  WorkThreads* store_threads = nullptr;
  GlossaryStore* glossaries = nullptr;
  MemoryStore* memories = nullptr;  // of translations
  const AdminActions* admin = nullptr;
  Metrics* metrics = nullptr;
  const v1::ServerConfig* config = nullptr;
  int max_message_bytes = 0;  // of a request
};

// On which thread the work of a call is done, besides reading its request and writing its answer:
// the threads that serve connections serve others, too.
enum class CallWork {
  kShort,  // about a millisecond at most: where it is
  kLong,   // on a thread for preparing requests
  kStore,  // on a thread that may wait for the store
};

// That of a call whose message has so many bytes: what takes long for a long one does not for a
// short one.
inline CallWork WorkOf(CallWork work, size_t bytes) {
  const bool is_short = work == CallWork::kLong && bytes <= StillWanted::kWorkBetween;
  return is_short ? CallWork::kShort : work;
}

// Calls `then` on such a thread or, as soon as the request is not wanted any more, to tell it why.
// RESOURCE_EXHAUSTED if too much waits already; then it is not called.  Threads are shared by
// principals as the request's terms say.
absl::Status DoWork(CallWork work, const ServerParts& parts,
                    const std::shared_ptr<RequestState>& request,
                    const std::function<void(const absl::Status& wanted)>& then);

// The amount of work of a call and its waiting time, for the log.
struct CallSize {
  int texts = 0;
  int source_tokens = 0;
  int target_tokens = 0;          // of the best hypotheses
  absl::Duration queue;           // how long it waited for models, threads and places in batches
  absl::Duration encode, decode;  // likewise
  absl::Time decoded = absl::InfinitePast();  // when the last one was; unless the call failed

  // Of what was translated just now.
  void SetTimes(const TranslateTimes& times, bool ok);
};

// What the caller gets at the end of a call.
struct CallEnd {
  const char* method = "";     // as Call's
  absl::Status status;         // with a code and a message suitable for clients
  absl::Duration retry_delay;  // for RESOURCE_EXHAUSTED: how long to wait
  std::string request_id;
  std::string load;  // of the server (LoadMeter::report), over gRPC
  // Null after an error.  The transport sets the bytes of the answer, and keeps it until these are
  // sent.
  std::shared_ptr<HeldAnswer> held = nullptr;
};

// The status of a call, or of a request of several, with this deadline: a store that has not
// answered until then is no fault of its own, the call is late.
absl::Status OrLate(const absl::Status& status, absl::Time deadline);

// Lives as long as its call.  Not thread-safe; End may be called on another thread than the rest.
class Call {
 public:
  // `method` is a literal such as "Translate".  `parts` must outlive the call.
  Call(const ServerParts* parts, const char* method, Caller caller);

  // Checks that the caller may make this call; UNAUTHENTICATED, PERMISSION_DENIED or
  // RESOURCE_EXHAUSTED if not, or what is wrong with what the caller said (Caller::wrong).
  // REQUIRES: called once, before anything else is done for the call.
  absl::Status Admit();
  // Instead of Admit, for what everybody may ask: a caller without a valid token is anonymous.
  absl::Status AdmitAnybody();

  // The translator that answers, kept alive until the call has ended; nullptr if no model was
  // found.
  void set_translator(std::shared_ptr<const Translator> translator) {
    translator_ = std::move(translator);
  }
  const std::shared_ptr<const Translator>& translator() const { return translator_; }

  // Takes memory for a message of the caller's, until the share ends; `more_bytes` as Caller's.
  // RESOURCE_EXHAUSTED if there is none; IsMessageTooLarge if there never is.  REQUIRES: admitted.
  absl::StatusOr<Share> TakeMemory(size_t message_bytes, size_t more_bytes) const;

  // Takes so much more, until the call ends.  REQUIRES: admitted.
  absl::Status TakeMore(size_t bytes) { return memory_.Raise(memory_.amount() + bytes); }

  // To count an answer that waits for the caller.  REQUIRES: admitted.
  std::shared_ptr<HeldAnswer> Hold() const;
  // RESOURCE_EXHAUSTED if too many of the caller's answers wait.  REQUIRES: admitted.
  absl::Status CheckAnswers(bool reads = false) const {
    return parts_->answers->Check({Holder(), caller_.peer}, reads);
  }

  // Of its request; interactive until it is known.
  void set_priority(Priority priority) { priority_ = priority; }

  const ServerParts& parts() const { return *parts_; }
  // What the caller may do.  REQUIRES: admitted.
  const Permit& permit() const { return *permit_; }
  // REQUIRES: admitted.
  const std::string& principal() const { return permit_->principal(); }
  // Nothing before it is known, or if the caller is nobody.
  std::optional<std::string> principal_if_known() const;
  absl::Time deadline() const { return caller_.deadline; }
  const std::string& request_id() const { return request_id_; }
  absl::Duration Elapsed() const;

  // To be completed before End.
  CallSize& size() { return size_; }
  // A part of the call has ended; for its trace, if it has one.
  void AddPart(TracedPart part);

  // Records the end of the call and returns what the caller gets.  REQUIRES: called once.
  CallEnd End(const absl::Status& status);

 private:
  absl::Status AdmitAs(Permit permit);
  std::string_view ModelName() const;
  std::string Holder() const { return HolderOf(principal(), caller_.peer); }
  void WriteLog(const absl::Status& status) const;
  void Trace(const absl::Status& status) const;

  const ServerParts* const parts_;
  const char* const method_;
  const Caller caller_;
  const absl::Time start_;
  const std::string request_id_;  // the caller's, or a new one
  const std::optional<TraceContext> trace_;
  const std::optional<SpanIds> span_;  // if the call is traced
  std::optional<Permit> permit_;       // once the caller is identified
  bool admitted_ = false;
  Share memory_;
  Priority priority_ = Priority::kInteractive;
  CallSize size_;
  std::vector<TracedPart> parts_traced_;
  std::shared_ptr<const Translator> translator_;
};

// A method that one function answers (answered_call.h).  REQUIRES: the call is admitted.
template <typename Request, typename Response>
using AnswerMethod = absl::StatusOr<Response>(const Request& request, Call* call);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_CALL_H_
