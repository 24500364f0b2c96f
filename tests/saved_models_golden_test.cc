// The whole engine against the toolkits that saved a directory: tokens, and the translations of
// greedy and beam search (tests/golden/README.md).  The models are small and random.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/json.h"
#include "engine/base/utf8.h"
#include "engine/decode/observer.h"
#include "engine/decode/worker_pool.h"
#include "engine/request/translator.h"
#include "gtest/gtest.h"
#include "tests/request/translate_and_wait.h"

namespace dragoman::saved_models_golden_test {
namespace {

using Json = nlohmann::json;

constexpr char kRoot[] = "tests/golden/";

class SavedModel : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto golden =
        ReadJsonObject(absl::StrCat(kRoot, "expected/", GetParam(), "/golden.json"));
    ASSERT_TRUE(golden.ok()) << golden.status();
    golden_ = *golden;
    auto model = Model::Load(GetParam(), absl::StrCat(kRoot, "models/", GetParam()),
                             {.precision = Precision::kFloat32});
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
  }

  // A language of the golden; "": none.  T5's are English and German.
  std::string Language(const char* field) const {
    const Json& language = golden_.at("meta").at(field);
    if (language.is_string()) return language.get<std::string>();
    if (golden_.at("meta").value("prefix", "").empty()) return "";
    return std::string_view(field) == "src_lang" ? "en" : "de";
  }

  Json golden_;
  std::shared_ptr<const Model> model_;
};

TEST_P(SavedModel, TextsBecomeTheTokensOfItsToolkit) {
  const Tokenizer& tokenizer = model_->tokenizer();
  const auto languages = tokenizer.languages().Resolve(Language("src_lang"), Language("tgt_lang"));
  ASSERT_TRUE(languages.ok()) << languages.status();
  const Frame frame = tokenizer.FrameOf(*languages);
  size_t texts = 0;
  for (const char* const list : {"inputs", "tokenizer_only"}) {
    for (const Json& input : golden_.at(list)) {
      const std::string text = input.at("text");
      if (text.empty() && !frame.text_prefix.empty()) continue;  // is no text to us
      EXPECT_EQ(tokenizer.Encode(text, frame).ids,
                input.at("input_ids").get<std::vector<int32_t>>())
          << text;
      ++texts;
    }
  }
  EXPECT_GT(texts, 80u);
}

TEST_P(SavedModel, TranslatesAsItsToolkitDoes) {
  Observer observer;
  WorkerPool pool({.workers = 1}, &observer);
  const Translator translator(model_, &pool, {});
  for (const Json& setting : golden_.at("settings")) {
    SCOPED_TRACE(setting.at("name").get<std::string>());
    const Json& asked = setting.at("kwargs");
    TranslateRequest request = {.source_language = Language("src_lang"),
                                .target_language = Language("tgt_lang")};
    request.splitting = Splitting::kNone;
    request.keep_literals = false;
    request.options.beam_size = asked.value("num_beams", 1);
    request.options.num_hypotheses = asked.value("num_return_sequences", 1);
    request.options.length_penalty = asked.value("length_penalty", 1.0f);
    request.options.max_length = asked.value("max_length", 48) - 1;
    if (asked.contains("min_length")) {
      request.options.min_length = asked.at("min_length").get<int>() - 1;
    }
    request.options.early_stopping = EarlyStopping::kHeuristic;
    request.options.repetition_guard = false;
    for (const Json& input : golden_.at("inputs")) request.texts.push_back(input.at("text"));
    const TranslateResponse answer = TranslateAndWait(translator, std::move(request));
    ASSERT_TRUE(answer.status.ok()) << answer.status;
    const Json& outputs = golden_.at("outputs").at(setting.at("name").get<std::string>());
    ASSERT_EQ(answer.translations.size(), outputs.size());
    for (size_t t = 0; t < outputs.size(); ++t) {
      const Json& wanted = outputs[t].at("legacy");
      const auto& hypotheses = answer.translations[t].hypotheses;
      ASSERT_EQ(hypotheses.size(), wanted.size());
      for (size_t h = 0; h < wanted.size(); ++h) {
        std::vector<int32_t> ids = wanted[h].at("ids");
        ids.erase(ids.begin());  // the decoder's start
        if (!ids.empty() && ids.back() == model_->spec().eos_id) ids.pop_back();
        EXPECT_EQ(hypotheses[h].token_ids, ids) << t << " " << golden_.at("inputs")[t].at("text");
        // That of SMaLL-100 was decoded without its tokenizer, which leaves languages out.
        const std::string text(StripWhiteSpace(wanted[h].at("text").get<std::string>()));
        if (text.find("__") == text.npos) {
          EXPECT_EQ(hypotheses[h].text, text) << t;
        }
        if (!wanted[h].at("score").is_null()) {
          EXPECT_NEAR(hypotheses[h].score, wanted[h].at("score").get<float>(), 1e-4f) << t;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SavedModel,
                         testing::Values("byt5-rand", "mbart25-v5", "mt5-rand", "nllb-trained-v5",
                                         "quickmt-joint-rand", "quickmt-split-rand",
                                         "small100-rand", "t5-v5", "umt5-rand"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace dragoman::saved_models_golden_test
