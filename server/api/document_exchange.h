// One TranslateDocument over any transport: a file in, progress, and a file out.
//
//   auto exchange = std::make_shared<DocumentExchange>(parts, caller, ready);
//   exchange->Start();
//   whenever ready() is called, and whenever a message was read or written:
//     exchange->HasRoom()   then read one more message, and Add it, or NoMore()
//     exchange->Next()      a message to write, or the end, or nothing yet
//
//   receiving ──NoMore──► working ──written──► sending ──► ended
//   a spool fills         passages             chunks of another spool
//
// Both files are spooled (spool.h), so that at most the text of one part is in memory.  The work is
// done on a thread of the desk (document_desk.h): it reads a part, sends its passages as requests
// of a bulk call (bulk_exchange.h), a bounded number at a time, and writes the part when all are
// there. So a passage has the admission, the fairness and the quota of any bulk request; one that
// is refused waits and is sent again.
//
// A client that sends nothing of its file for a while (DocumentLimits::patience) is given up, so
// that another one gets its place.
//
// An error of one passage is that of the whole, unless the header says to skip errors.  It names
// the part and the line.

#ifndef DRAGOMAN_SERVER_API_DOCUMENT_EXCHANGE_H_
#define DRAGOMAN_SERVER_API_DOCUMENT_EXCHANGE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/bulk_exchange.h"
#include "server/api/document_desk.h"
#include "server/api/document_translator.h"

namespace dragoman {

using DocumentEvent = ExchangeEvent<v1::TranslateDocumentResponse>;

// Thread-safe; Next is called by one thread at a time.
class DocumentExchange : public std::enable_shared_from_this<DocumentExchange> {
 public:
  // The bytes of a chunk of the result: a multiple of three, so that chunks in base64 can be put
  // one behind the other.
  static constexpr size_t kChunkBytes = 60 << 10;

  // Fills the header and returns the file that has arrived as a whole, or why it cannot be read.
  // Called on a thread of the desk.
  using ReadFile = std::function<absl::StatusOr<std::shared_ptr<Spool>>(v1::DocumentHeader*)>;

  // `ready` is called, in Start or on another thread, whenever the result of HasRoom or Next may
  // have changed.  It must not block, and may be called after the call has ended.  `parts` must
  // outlive the exchange.
  DocumentExchange(const ServerParts* parts, Caller caller, std::function<void()> ready);
  ~DocumentExchange();

  // Admits the caller.
  void Start();

  // Whether the transport may read one more message.
  bool HasRoom();
  // Calls `read` at once if there is so much memory for it.  REQUIRES: HasRoom was true, and
  // neither NoMore nor Work was called.
  void Add(size_t memory, absl::FunctionRef<absl::StatusOr<v1::TranslateDocumentRequest>()> read);
  // The client has sent everything or, with an error, nothing more can be read.
  void NoMore(const absl::Status& status = absl::OkStatus());

  // Instead of Add and NoMore: `read` gives the file.
  void Work(ReadFile read, PassageJournal journal = {});

  // Whose call it is; nothing if the call was refused.  After Start.
  std::optional<std::string> principal() const;

  DocumentEvent Next();

  // The translated file, instead of its chunks.  REQUIRES: Next has returned a chunk or the report.
  std::shared_ptr<Spool> TakeOutput() { return std::exchange(output_, nullptr); }
  // REQUIRES: as TakeOutput.
  const v1::DocumentReport& report() const { return translator_->report(); }

  // The caller has gone or its deadline has passed.
  void Cancel();

 private:
  enum class Stage { kReceiving, kWorking, kSending, kEnded };

  void OnNews();
  void OnProgress(const v1::DocumentProgress& progress);
  absl::Status Receive(const v1::TranslateDocumentRequest& message);
  absl::Status CountHeader(const v1::DocumentHeader& header);
  void EndIfSilent(absl::Time now);
  void BeginWork(ReadFile read, PassageJournal journal);
  // On a thread of the desk.
  void DoWork(const ReadFile& read, const PassageJournal& journal);
  absl::StatusOr<std::shared_ptr<Spool>> TranslateFile(const ReadFile& read,
                                                       const PassageJournal& journal);

  const ServerParts* const parts_;
  Caller caller_;  // until Start
  const std::function<void()> ready_;
  std::shared_ptr<BulkExchange> bulk_;
  std::optional<DocumentTranslator> translator_;  // set by Start
  int tick_ = 0;                                  // at the ticker, likewise

  // Used by the transport while receiving, then by the working thread, then by the transport.
  v1::DocumentHeader header_;
  bool has_header_ = false;
  std::shared_ptr<Spool> input_, output_;
  std::string holder_;     // of its place and memory
  Share place_, memory_;   // the latter for the header
  size_t sent_ = 0;        // bytes of output_
  bool reported_ = false;  // the report was pulled

  absl::Mutex mutex_;
  Stage stage_ ABSL_GUARDED_BY(mutex_) = Stage::kReceiving;
  absl::Time heard_ ABSL_GUARDED_BY(mutex_);  // when something last came of the file
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<v1::DocumentProgress> progress_ ABSL_GUARDED_BY(mutex_);  // not pulled yet
  std::optional<CallEnd> end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_DOCUMENT_EXCHANGE_H_
