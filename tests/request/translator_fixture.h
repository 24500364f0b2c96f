// A translator of a small model, with small limits.

#ifndef DRAGOMAN_TESTS_REQUEST_TRANSLATOR_FIXTURE_H_
#define DRAGOMAN_TESTS_REQUEST_TRANSLATOR_FIXTURE_H_

#include <string>
#include <utility>

#include "engine/base/status.h"
#include "engine/request/translator.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"
#include "tests/request/translate_and_wait.h"

namespace dragoman {

class TranslatorTest : public testing::Test {
 protected:
  TranslatorTest()
      : pool_({.workers = 2}, &observer_), translator_(TrainedModel(), &pool_, limits_) {}

  TranslateResponse Translate(TranslateRequest request,
                              absl::Time deadline = absl::InfiniteFuture()) {
    return TranslateAndWait(translator_, std::move(request), deadline);
  }

  // Expects an INVALID_ARGUMENT error that names `field`.
  void ExpectInvalid(TranslateRequest request, const std::string& field) {
    const TranslateResponse response = Translate(std::move(request));
    EXPECT_TRUE(absl::IsInvalidArgument(response.status)) << response.status;
    EXPECT_EQ(FieldOf(response.status), field) << response.status;
    EXPECT_TRUE(response.translations.empty());
  }

  Observer observer_;
  Limits limits_ = {.max_texts = 4, .max_characters = 1000, .max_source_tokens = 40};
  WorkerPool pool_;
  Translator translator_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_REQUEST_TRANSLATOR_FIXTURE_H_
