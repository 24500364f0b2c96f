// A translation, for those who wait for it.

#ifndef DRAGOMAN_TESTS_REQUEST_TRANSLATE_AND_WAIT_H_
#define DRAGOMAN_TESTS_REQUEST_TRANSLATE_AND_WAIT_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "engine/request/running_request.h"
#include "engine/request/translator.h"

namespace dragoman {

// What `start` calls back with.
template <typename Start>
TranslateResponse WaitFor(const Start& start) {
  TranslateResponse response;
  absl::Notification done;
  start([&](TranslateResponse answer) {
    response = std::move(answer);
    done.Notify();
  });
  done.WaitForNotification();
  return response;
}

inline TranslateResponse TranslateAndWait(const Translator& translator, TranslateRequest request,
                                          absl::Time deadline = absl::InfiniteFuture()) {
  return WaitFor([&](std::function<void(TranslateResponse)> done) {
    translator.Translate(std::move(request), deadline, std::move(done));
  });
}

inline TranslateResponse TranslateAndWait(Itinerary itinerary, TranslateRequest request,
                                          absl::Time deadline = absl::InfiniteFuture()) {
  return WaitFor([&](std::function<void(TranslateResponse)> done) {
    Translate(std::move(request), std::move(itinerary), std::make_shared<RequestState>(deadline),
              std::move(done));
  });
}

inline TranslateResponse TranslateAndWait(const Route& route, const TranslateRequest& request) {
  return TranslateAndWait(Itinerary{{{.language = request.source_language, .route = route}}},
                          request);
}

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_REQUEST_TRANSLATE_AND_WAIT_H_
