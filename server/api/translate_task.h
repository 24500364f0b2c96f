// One v1::TranslateRequest on its way to the engine and back, as the exchanges that translate need
// it: to the models that serve it, to the engine's request, and from what the engine has found to
// the answer and its metrics.

#ifndef DRAGOMAN_SERVER_API_TRANSLATE_TASK_H_
#define DRAGOMAN_SERVER_API_TRANSLATE_TASK_H_

#include <functional>
#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/auto_source.h"
#include "server/api/call.h"

namespace dragoman {

class TranslateTask {
 public:
  // `parts` must outlive the task.
  explicit TranslateTask(const ServerParts* parts) : parts_(parts) {}

  // Takes the request and finds who serves it.  Nothing is started.
  absl::Status Prepare(v1::TranslateRequest request);

  // Who translates, first; nullptr while no model was found.
  std::shared_ptr<const Translator> translator() const;

  // Starts the translation; as Translator::Translate.  REQUIRES: Prepare was OK; called once.
  void Run(std::shared_ptr<RequestState> state, std::function<void(TranslateResponse)> done,
           OnProgress on_progress = nullptr);

  // News of it as the messages of a stream, in order.
  void ToMessages(TranslateProgress progress,
                  absl::FunctionRef<void(v1::TranslateStreamResponse)> add);

  // The answer, and its metrics; `elapsed` is the time since the request came.  Translations that
  // were told one by one are not in it.
  // REQUIRES: translated.status is OK.
  v1::TranslateResponse Answer(const TranslateResponse& translated, absl::Duration elapsed);

  // Keeps for the log what is known of a request whether or not it was translated.
  void NoteTimes(const TranslateResponse& translated);

  // For the log; complete after NoteTimes and Answer.
  const CallSize& size() const { return size_; }

 private:
  void Count(const Translation& translation);
  void SetDetected(size_t text, v1::Translation* translation) const;
  absl::Status FindRoutes(const v1::TranslateRequest& request);

  const ServerParts* const parts_;
  std::optional<Route> route_;               // of all texts, or of the first that are translated
  std::optional<DetectedSources> detected_;  // if the source language is "auto"
  TranslateRequest request_;
  v1::OutputOptions output_;
  CallSize size_;
  int characters_ = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_TRANSLATE_TASK_H_
