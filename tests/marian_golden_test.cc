// The whole engine against Marian NMT: the results of marian-scorer and marian-decoder for small
// models that Marian trained (tests/golden/marian).  DRAGOMAN_MARIAN_GOLDENS=DIR tests another
// directory of the same layout.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "engine/base/json.h"
#include "engine/base/utf8.h"
#include "engine/decode/observer.h"
#include "engine/decode/worker_pool.h"
#include "engine/request/translator.h"
#include "gtest/gtest.h"
#include "tests/request/translate_and_wait.h"

namespace dragoman::marian_golden_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr float kTolerance = 1e-3f;

std::string Root() {
  const char* const given = std::getenv("DRAGOMAN_MARIAN_GOLDENS");
  return given != nullptr ? given : "tests/golden/marian";
}

std::vector<std::string> Models() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(Root() + "/expected")) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// A directory with the model of a run.  Its decoder.yml has the options of the run's command line.
class RunDirectory {
 public:
  RunDirectory(const std::string& name, const Json& run, const Json& meta) {
    const fs::path models = fs::absolute(fs::path(Root()) / "models" / name);
    path_ = fs::temp_directory_path() / absl::StrCat("dragoman-marian-", getpid());
    fs::create_directory(path_);
    const std::string model = run.at("model");
    const auto link = [&](const std::string& file) {
      if (!fs::exists(path_ / file)) fs::create_symlink(models / file, path_ / file);
    };
    link(model);
    Json search = run.value("options", Json::object());
    search["relative-paths"] = true;
    search["models"] = {model};
    search["vocabs"] = meta.at("vocabs");
    for (const Json& vocabulary : meta.at("vocabs")) link(vocabulary);
    if (run.contains("shortlist")) link(run.at("shortlist"));
    std::ofstream(path_ / "decoder.yml") << search.dump();  // JSON is YAML
  }
  ~RunDirectory() { fs::remove_all(path_); }

  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

class Engine {
 public:
  Engine(const std::string& directory, Precision precision) : pool_({.workers = 1}, &observer_) {
    auto model = Model::Load("test", directory, {.precision = precision});
    EXPECT_TRUE(model.ok()) << model.status();
    if (!model.ok()) return;
    limits_.max_hypotheses = 16;
    translator_ = std::make_unique<Translator>(*std::move(model), &pool_, limits_);
  }

  bool ok() const { return translator_ != nullptr; }

  std::vector<Translation> Translate(TranslateRequest request) {
    request.keep_literals = false;  // marian-decoder translates them like words
    TranslateResponse answer = TranslateAndWait(*translator_, std::move(request));
    EXPECT_TRUE(answer.status.ok()) << answer.status;
    return std::move(answer.translations);
  }

 private:
  Observer observer_;
  WorkerPool pool_;
  Limits limits_;
  std::unique_ptr<Translator> translator_;
};

class MarianGolden : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto golden =
        ReadJsonObject(absl::StrCat(Root(), "/expected/", GetParam(), "/golden.json"));
    ASSERT_TRUE(golden.ok()) << golden.status();
    golden_ = *golden;
    for (const Json& input : golden_["inputs"]) inputs_.push_back(input["text"]);
  }

  Json golden_;
  std::vector<std::string> inputs_;
};

Precision PrecisionOf(const Json& run) {
  return run.contains("int8") ? Precision::kInt8 : Precision::kFloat32;
}

TEST_P(MarianGolden, Tokens) {
  const RunDirectory directory(GetParam(), golden_["runs"][0], golden_["meta"]);
  const auto model = Model::Load("test", directory.path(), {.precision = Precision::kFloat32});
  ASSERT_TRUE(model.ok()) << model.status();
  for (const Json& input : golden_["inputs"]) {
    EXPECT_EQ((*model)->tokenizer().Encode(input["text"].get<std::string>()).ids,
              input["src_ids"].get<std::vector<int32_t>>())
        << input["text"];
  }
}

TEST_P(MarianGolden, ScoresOfGivenTranslations) {
  for (const Json& run : golden_["runs"]) {
    if (run["tool"] != "marian-scorer") continue;
    const RunDirectory directory(GetParam(), run, golden_["meta"]);
    Engine engine(directory.path(), PrecisionOf(run));
    ASSERT_TRUE(engine.ok());
    TranslateRequest request;
    for (const Json& pair : golden_["pairs"]) {
      request.texts.push_back(pair["src"]);
      request.targets.push_back(pair["trg"]);
    }
    const auto scored = engine.Translate(std::move(request));
    ASSERT_EQ(scored.size(), run["results"].size());
    float farthest = 0.0f;
    for (size_t i = 0; i < scored.size(); ++i) {
      const float want = run["results"][i]["score"];
      farthest = std::max(farthest, std::abs(scored[i].hypotheses[0].log_prob - want));
      EXPECT_NEAR(scored[i].hypotheses[0].log_prob, want, kTolerance)
          << golden_["pairs"][i]["src"] << " -> " << golden_["pairs"][i]["trg"];
    }
    std::cout << GetParam() << " scores of " << scored.size() << " pairs: off by " << farthest
              << " at the most\n";
  }
}

// Whether the hypotheses are Marian's, in the same order.  Marian may list the empty hypothesis
// several times; we list it once.
bool SameHypotheses(const std::vector<TranslatedHypothesis>& found, const Json& wanted) {
  for (size_t h = 0; h < wanted.size(); ++h) {
    std::vector<int32_t> ids = wanted[h]["ids"];
    const bool ended = !ids.empty() && ids.back() == 0;
    if (ended) ids.pop_back();
    if (h >= found.size()) return ids.empty();
    const bool same_end = ended == (found[h].finish_reason == FinishReason::kEos);
    if (found[h].token_ids != ids || !same_end) return false;
  }
  return true;
}

TEST_P(MarianGolden, Searches) {
  for (const Json& run : golden_["runs"]) {
    if (run["tool"] != "marian-decoder") continue;
    SCOPED_TRACE(run["name"]);
    const RunDirectory directory(GetParam(), run, golden_["meta"]);
    const bool exact = !run.contains("int8");
    Engine engine(directory.path(), PrecisionOf(run));
    ASSERT_TRUE(engine.ok());
    TranslateRequest request;
    request.texts = inputs_;
    request.options.num_hypotheses = run["options"]["beam-size"].get<int>();
    const auto found = engine.Translate(std::move(request));
    ASSERT_EQ(found.size(), inputs_.size());
    // marian-decoder does not run tr-pre models as they were trained.
    const bool comparable = !absl::StartsWith(GetParam(), "tr-pre");
    int same = 0, same_text = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      const Json& wanted = run["results"][i];
      const auto& hypotheses = found[i].hypotheses;
      const bool equal = SameHypotheses(hypotheses, wanted["nbest"]);
      same += equal ? 1 : 0;
      // Our texts have no white space at the ends, and where the model finds no words, the source
      // stays.  Some runs do not record the text.
      const std::string theirs = wanted.value("text", hypotheses[0].text);
      const std::string text(StripWhiteSpace(theirs.empty() ? inputs_[i] : theirs));
      same_text += hypotheses[0].text == text ? 1 : 0;
      if (!exact || !comparable) continue;
      EXPECT_TRUE(equal) << inputs_[i] << "\n  " << hypotheses[0].text << "\n  " << wanted["text"];
      EXPECT_EQ(hypotheses[0].text, text) << inputs_[i];
      // A source that is empty or stays has no score.
      for (size_t h = 0; equal && h < hypotheses.size() && !theirs.empty(); ++h) {
        EXPECT_NEAR(hypotheses[h].score, wanted["nbest"][h]["score"].get<float>(), kTolerance);
      }
    }
    std::cout << GetParam() << " " << run["name"].get<std::string>() << ": n-best lists " << same
              << ", texts " << same_text << " of " << found.size() << " equal\n";
    // Activations are rounded to other numbers than Marian's, so a few sentences may differ.
    EXPECT_GE(same_text, exact ? 0 : 20);
  }
}

// The source token that each target token attends to most; of equal ones, the first.
std::vector<int> HardAlignment(const std::vector<std::vector<float>>& rows) {
  std::vector<int> aligned;
  for (const std::vector<float>& row : rows) {
    aligned.push_back(static_cast<int>(std::max_element(row.begin(), row.end()) - row.begin()));
  }
  return aligned;
}

TEST_P(MarianGolden, HardAlignments) {
  for (const Json& run : golden_["runs"]) {
    if (run["name"] != "greedy") continue;
    const RunDirectory directory(GetParam(), run, golden_["meta"]);
    auto model = Model::Load("test", directory.path(), {.precision = Precision::kFloat32});
    ASSERT_TRUE(model.ok()) << model.status();
    Observer observer;
    WorkerPool pool({.workers = 1}, &observer);
    int same = 0, compared = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Json& wanted = run["results"][i]["nbest"][0];
      const bool says_nothing = wanted["ids"].size() == 1;
      if (!wanted.contains("alignment") || says_nothing) continue;
      auto job = std::make_unique<Job>();
      job->model = *model;
      job->request = std::make_shared<RequestState>(absl::InfiniteFuture());
      job->source = golden_["inputs"][i]["src_ids"].get<std::vector<int32_t>>();
      job->options = *ResolveSearch({}, Limits(), (*model)->generation(), (*model)->spec());
      ASSERT_TRUE(SetLengths({}, static_cast<int>(job->source.size()), (*model)->generation(),
                             (*model)->spec(), &job->options)
                      .ok());
      job->rules = MakeRules((*model)->generation(), (*model)->spec(),
                             (*model)->tokenizer().target_unknown_id());
      job->attention = true;
      const size_t source = job->source.size();
      absl::Notification done;
      JobResult result;
      job->on_done = [&](JobResult r) {
        result = std::move(r);
        done.Notify();
      };
      std::vector<JobPtr> jobs;
      jobs.push_back(std::move(job));
      ASSERT_TRUE(pool.Submit(std::move(jobs)).ok());
      done.WaitForNotification();
      ASSERT_TRUE(result.status.ok()) << result.status;
      const std::vector<float>& attention = result.hypotheses[0].attention;
      std::vector<std::vector<float>> rows;
      for (size_t begin = 0; begin < attention.size(); begin += source) {
        rows.emplace_back(attention.begin() + begin, attention.begin() + begin + source);
      }
      const auto want = HardAlignment(wanted["alignment"].get<std::vector<std::vector<float>>>());
      const bool equal = HardAlignment(rows) == want;
      ++compared;
      same += equal ? 1 : 0;
      // marian-decoder does not run tr-pre models as they were trained.
      const bool comparable = !absl::StartsWith(GetParam(), "tr-pre");
      EXPECT_TRUE(equal || !comparable) << inputs_[i];
    }
    std::cout << GetParam() << " hard alignments: " << same << " of " << compared << " equal\n";
  }
}

std::string Underscored(const testing::TestParamInfo<std::string>& tested) {
  std::string name = tested.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Models, MarianGolden, testing::ValuesIn(Models()), Underscored);

}  // namespace
}  // namespace dragoman::marian_golden_test
