// The whole engine against CTranslate2: the tokens and scores of its translator for small models in
// the layouts of all its versions (tests/golden/ctranslate2).  DRAGOMAN_CTRANSLATE2_GOLDENS=DIR
// tests another directory of the same layout.

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/json.h"
#include "engine/decode/observer.h"
#include "engine/decode/worker_pool.h"
#include "engine/request/translator.h"
#include "gtest/gtest.h"
#include "tests/request/translate_and_wait.h"

namespace dragoman::ctranslate2_golden_test {
namespace {

using Json = nlohmann::json;

constexpr float kTolerance = 1e-3f;

std::string Root() {
  const char* const given = std::getenv("DRAGOMAN_CTRANSLATE2_GOLDENS");
  return given != nullptr ? given : "tests/golden/ctranslate2";
}

Json Expected() {
  const auto expected = ReadJsonObject(Root() + "/expected.json");
  EXPECT_TRUE(expected.ok()) << expected.status();
  return expected.ok() ? *expected : Json::object();
}

std::vector<Translation> Translate(std::shared_ptr<const Model> model, TranslateRequest request) {
  Observer observer;
  WorkerPool pool({.workers = 1}, &observer);
  const Translator translator(std::move(model), &pool, {});
  TranslateResponse answer = TranslateAndWait(translator, std::move(request));
  EXPECT_TRUE(answer.status.ok()) << answer.status;
  return std::move(answer.translations);
}

TEST(CTranslate2Golden, EveryLayoutTranslatesAsCTranslate2Does) {
  const Json expected = Expected();
  for (const auto& [name, outputs] : expected.at("outputs").items()) {
    SCOPED_TRACE(name);
    auto model = Model::Load(name, absl::StrCat(Root(), "/models/", name),
                             {.precision = Precision::kFloat32});
    ASSERT_TRUE(model.ok()) << model.status();
    TranslateRequest request;
    for (const Json& input : expected.at("inputs")) request.texts.push_back(input);
    request.options.beam_size = 1;
    request.options.length_penalty = 0.0f;
    request.options.min_length = 0;
    request.options.max_length = expected.at("max_length").get<int>();
    request.options.repetition_guard = false;
    request.keep_literals = false;  // single letters are no words
    const std::vector<Translation> found = Translate(*std::move(model), std::move(request));
    ASSERT_EQ(found.size(), outputs.size());
    for (size_t i = 0; i < found.size(); ++i) {
      const TranslatedHypothesis& best = found[i].hypotheses.at(0);
      EXPECT_EQ(best.tokens, outputs[i].at("tokens").get<std::vector<std::string>>())
          << expected.at("inputs")[i];
      EXPECT_NEAR(best.log_prob, outputs[i].at("score").get<float>(), kTolerance);
    }
  }
}

}  // namespace
}  // namespace dragoman::ctranslate2_golden_test
