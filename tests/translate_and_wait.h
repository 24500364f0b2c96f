// A translation, for those who wait for it.

#ifndef DRAGOMAN_TESTS_TRANSLATE_AND_WAIT_H_
#define DRAGOMAN_TESTS_TRANSLATE_AND_WAIT_H_

#include <memory>
#include <utility>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "engine/request/translator.h"

namespace dragoman {

// By a Translator or a Route.
template <typename AnyTranslator>
TranslateResponse TranslateAndWait(const AnyTranslator& translator, TranslateRequest request,
                                   absl::Time deadline = absl::InfiniteFuture()) {
  TranslateResponse response;
  absl::Notification done;
  translator.Translate(std::move(request), std::make_shared<RequestState>(deadline),
                       [&](TranslateResponse answer) {
                         response = std::move(answer);
                         done.Notify();
                       });
  done.WaitForNotification();
  return response;
}

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_TRANSLATE_AND_WAIT_H_
