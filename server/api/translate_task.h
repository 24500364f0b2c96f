// One v1::TranslateRequest on its way to the engine and back, for the exchanges that translate: it
// finds the models that serve the request, converts it for the engine, and turns the results into
// the answer and its metrics.

#ifndef DRAGOMAN_SERVER_API_TRANSLATE_TASK_H_
#define DRAGOMAN_SERVER_API_TRANSLATE_TASK_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "dragoman/v1/translation.pb.h"
#include "engine/request/running_request.h"
#include "engine/request/still_wanted.h"
#include "server/api/auto_source.h"
#include "server/api/call.h"

namespace dragoman {

class TranslateTask {
 public:
  // `parts` must outlive the task.  A glossary takes the place of that of the request.
  explicit TranslateTask(const ServerParts* parts,
                         std::shared_ptr<SharedGlossary> glossary = nullptr)
      : parts_(parts), glossary_(std::move(glossary)) {}

  // Takes the request and finds its models and glossaries.  Nothing is started.  PERMISSION_DENIED
  // if the caller may not use them, or may not ask for such options.  If the request asks the store
  // (WorkOf), this may wait, but not after the deadline.
  absl::Status Prepare(v1::TranslateRequest request, const Permit& permit, absl::Time deadline,
                       StillWanted* wanted);

  // What Prepare takes: it asks the store for what principals keep, and detects languages.
  static CallWork WorkOf(const ServerParts& parts, const v1::TranslateRequest& request);

  // The first translator; nullptr if no model was found.
  std::shared_ptr<const Translator> translator() const;

  // What was detected; nothing unless the source language is "auto".
  const std::optional<DetectedSources>& detected() const { return detected_; }

  // Counts the texts for their sender, and starts the translation, like Translator::Translate.
  // REQUIRES: Prepare was OK, and was called since the last Run.  The task lives until `done` is
  // called.
  void Run(std::shared_ptr<RequestState> state, std::function<void(TranslateResponse)> done,
           OnProgress on_progress = nullptr);

  // Converts its progress to the messages of a stream, in order.
  void ToMessages(TranslateProgress progress,
                  absl::FunctionRef<void(v1::TranslateStreamResponse)> add);

  // The answer, which is also counted in the metrics; `elapsed` is the time since the request
  // arrived.  Translations that were reported one by one are not in it.  Once it is not `wanted`,
  // it ends early and is not complete.  REQUIRES: translated.status is OK.
  v1::TranslateResponse Answer(const TranslateResponse& translated, absl::Duration elapsed,
                               StillWanted* wanted);

  // Records for the log what is known whether or not the request succeeded.
  void NoteTimes(const TranslateResponse& translated);

  // For the log; complete after NoteTimes and Answer.
  const CallSize& size() const { return size_; }

 private:
  void Count(const Translation& translation);
  void SetDetected(size_t text, v1::Translation* translation) const;
  absl::Status FindRoutes(const v1::TranslateRequest& request, StillWanted* wanted);
  absl::Status FindAnyRoute(const v1::TranslateRequest& request);
  std::vector<std::shared_ptr<const Translator>> Translators() const;
  absl::Status JudgeOptions();
  absl::Status PrepareCheck(const v1::TranslateRequest& request);

  const ServerParts* const parts_;
  const std::shared_ptr<SharedGlossary> glossary_;
  Permit permit_;
  std::optional<Route> route_;  // of all texts, or of the first ones that are translated
  bool unchanged_ = false;      // the texts are to be in the language that they are in
  std::optional<DetectedSources> detected_;  // if the source language is "auto"
  TranslateRequest request_;
  std::optional<ReverseRoute> check_;  // if one is wanted
  v1::OutputOptions output_;
  std::string request_digest_;  // for the receipt; empty unless one is wanted
  CallSize size_;
  int characters_ = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_TRANSLATE_TASK_H_
