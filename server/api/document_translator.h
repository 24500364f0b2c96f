// Translates a file by a bulk exchange (bulk_exchange.h), whose transport it is: it reads a part of
// the file, sends its passages as requests, a bounded number at a time, and writes the part when
// all their translations are there.  One that is refused for lack of room or quota is sent again.
// It reads and writes in turns with what other callers have to be prepared (WorkTurn).
//
// Runs on a thread that may wait.

#ifndef DRAGOMAN_SERVER_API_DOCUMENT_TRANSLATOR_H_
#define DRAGOMAN_SERVER_API_DOCUMENT_TRANSLATOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "documents/part_loop.h"
#include "dragoman/v1/translation.pb.h"
#include "engine/base/work_threads.h"
#include "server/api/bulk_exchange.h"
#include "server/base/spool.h"

namespace dragoman {

// What one document has in flight: enough for all rows of a server, but one of several callers.
inline constexpr BulkLimits kDocumentInFlight = {.items = 128, .bytes = 1 << 20};

// The format of the file that a header describes.  INVALID_ARGUMENT names the field if there is
// none, or if the header has what it must not have.
absl::StatusOr<const DocumentFormat*> CheckHeader(const v1::DocumentHeader& header);

// Passages of the document that were translated before, as serialized v1::TranslateBulkResponses,
// by what was asked for.  Null functions: there are none.
struct PassageJournal {
  std::function<std::optional<std::string>(const std::string& key)> find;
  std::function<void(const std::string& key, const std::string& answer)> add;
};

// Used by one thread, except for Wake.
class DocumentTranslator {
 public:
  // `on_progress` must not block.  `parts` and `bulk` must outlive it.
  DocumentTranslator(const ServerParts* parts, BulkExchange* bulk,
                     std::function<void(const v1::DocumentProgress& progress)> on_progress)
      : parts_(parts), bulk_(bulk), on_progress_(std::move(on_progress)) {}

  // Translates `input` and returns the output, both within what the desk has for `holder`.
  // REQUIRES: called once.
  absl::StatusOr<std::shared_ptr<Spool>> Translate(v1::DocumentHeader header, const Spool& input,
                                                   const std::string& holder,
                                                   PassageJournal journal = {});

  // Ends the bulk call with the status of Translate, and waits for its end.
  CallEnd Finish(const absl::Status& status);

  // Of what was translated.
  const v1::DocumentReport& report() const { return report_; }

  // Something has changed in the bulk exchange.  Thread-safe.
  void Wake();

 private:
  struct Part;

  void TakeGlossary();
  absl::Status TranslateParts(std::unique_ptr<Document> document);
  absl::Status DetectSource(absl::Span<const Passage> passages);
  absl::Status TranslatePart(Part* part);
  absl::StatusOr<bool> SendPassages(Part* part);
  absl::Status TakeAnswer(const v1::TranslateBulkResponse& answer, Part* part);
  absl::Status CountLonger(size_t translation, size_t passage);
  void Take(size_t passage, const PassageAnswer& answer, Part* part);
  absl::Status TakeError(const v1::Error& error, size_t passage, Part* part);
  void NoteProgress(const Part& part) const;
  void Warn(const std::string& warning);
  void AwaitNews(absl::Time until);
  // What `work` returns, which is done in turns; or why it is not wanted any more.
  template <typename Work>
  auto InTurns(const Work& work) -> decltype(work());
  // In messages.
  std::string FileName() const {
    return header_.file_name().empty() ? "the file" : header_.file_name();
  }

  const ServerParts* const parts_;
  BulkExchange* const bulk_;
  const std::function<void(const v1::DocumentProgress& progress)> on_progress_;
  std::optional<WorkTurn> turn_;
  v1::DocumentHeader header_;
  std::shared_ptr<SharedGlossary> glossary_;  // of its request, which is without it then
  std::string glossary_digest_;
  PassageJournal journal_;
  v1::DocumentReport report_;
  std::optional<CallEnd> end_;  // of the bulk call
  std::shared_ptr<Spool> output_;
  Share memory_;
  size_t counted_ = 0, longer_ = 0;  // of it: for the file, and for what is longer than the file

  absl::Mutex mutex_;
  bool news_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_DOCUMENT_TRANSLATOR_H_
