// The naive Transformer against Hugging Face, and Dragoman's search on its logits: the standard
// that the engine must meet, tested without the engine.

#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "engine/search/beam.h"
#include "engine/search/logits.h"
#include "gtest/gtest.h"
#include "tests/golden/golden.h"
#include "tests/reference/compare.h"
#include "tests/reference/marian_directory.h"
#include "tests/reference/transformer.h"
#include "tests/search/rank_row.h"

namespace dragoman {
namespace {

using golden::Golden;
using golden::Setting;
using reference::Matrix;
using reference::Transformer;
using reference::Vector;

class ReferenceGolden : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    golden_ = golden::LoadGolden(GetParam());
    absl::StatusOr<Transformer> model = reference::ReadMarianDirectory(golden_.model_directory);
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
  }

  Golden golden_;
  Transformer model_;
};

TEST_P(ReferenceGolden, EncoderOutputs) {
  for (const golden::Input& input : golden_.inputs) {
    EXPECT_LE(reference::MaxDifference(reference::Encode(model_, input.ids),
                                       golden::ReadNpy(input.encoder_npy)),
              golden::LogitsTolerance(GetParam()))
        << input.text;
  }
}

TEST_P(ReferenceGolden, TeacherForcedLogits) {
  for (const golden::Input& input : golden_.inputs) {
    const Matrix logits =
        reference::Logits(model_, reference::Encode(model_, input.ids), input.decoder_input_ids);
    EXPECT_LE(reference::MaxDifference(logits, golden::ReadNpy(input.logits_npy)),
              golden::LogitsTolerance(GetParam()))
        << input.text;
  }
}

// The next logits of one source sentence, memoized by the tokens generated so far.
class CachedLogits {
 public:
  CachedLogits(const Transformer& model, const std::vector<int32_t>& source)
      : model_(model), encoded_(reference::Encode(model, source)) {}

  const Vector& Next(const std::vector<int32_t>& tokens) {
    const auto [place, is_new] = cache_.try_emplace(tokens);
    if (is_new) {
      std::vector<int32_t> inputs = {model_.config.decoder_start_id};
      inputs.insert(inputs.end(), tokens.begin(), tokens.end());
      place->second = reference::NextLogits(model_, encoded_, inputs);
    }
    return place->second;
  }

 private:
  const Transformer& model_;
  const Matrix encoded_;
  std::map<std::vector<int32_t>, Vector> cache_;
};

std::vector<Hypothesis> Search(const WholeSearch& options, CachedLogits* logits) {
  Beam beam(TaskOf(options));
  while (!beam.done()) {
    std::vector<Candidate> candidates;
    int parent = 0;
    for (const LiveHypothesis& live : beam.live()) {
      Vector row = logits->Next(live.tokens);
      RankContinuations(options, live.tokens, parent++, beam.candidates_per_row(),
                        absl::MakeSpan(row), &candidates);
    }
    beam.Advance(candidates);
  }
  return beam.Best(options.num_hypotheses);
}

TEST_P(ReferenceGolden, EverySettingFindsTheHypothesesOfHuggingFace) {
  absl::Mutex mutex;
  std::map<golden::Agreement, int> count;
  const auto search_half = [&](size_t first) {  // of the inputs
    for (size_t i = first; i < golden_.inputs.size(); i += 2) {
      CachedLogits logits(model_, golden_.inputs[i].ids);
      for (const Setting& setting : golden_.settings) {
        const golden::Comparison comparison =
            golden::Compare(setting.options, setting.outputs[i], Search(setting.options, &logits));
        EXPECT_NE(comparison.agreement, golden::Agreement::kDifferent)
            << setting.name << ": " << golden_.inputs[i].text << ": " << comparison.difference;
        absl::MutexLock lock(&mutex);
        ++count[comparison.agreement];
      }
    }
  };
  std::thread other(search_half, 1);
  search_half(0);
  other.join();
  const int same = count[golden::Agreement::kSame];
  const int tied = count[golden::Agreement::kTied];
  EXPECT_LE(tied, 2);
  std::cout << GetParam() << ": of " << golden_.inputs.size() * golden_.settings.size()
            << " searches " << same << " are the same and " << tied << " the same but for a tie\n";
}

INSTANTIATE_TEST_SUITE_P(Marian, ReferenceGolden, testing::ValuesIn(golden::kMarianGoldens),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace dragoman
