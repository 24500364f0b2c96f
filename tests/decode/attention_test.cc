// The attention of a hypothesis, whichever search found it, equals that of forced decoding of its
// tokens to the last bit, because a row depends only on its own hypothesis.

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "engine/decode/decode_batch.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman::attention_test {
namespace {

// A source and the options of its translation.
struct Request {
  std::string name;
  std::string text;
  WholeSearch options;
  std::vector<int32_t> prefix = {};
  std::vector<Phrase> phrases = {};
  bool score_prefix = false;
};

class AttentionTest : public testing::Test {
 protected:
  std::vector<std::vector<Hypothesis>> Translate(const std::vector<Request>& requests) {
    std::vector<std::vector<Hypothesis>> found(requests.size());
    DecodeBatch batch(TrainedModel(), absl::Now, &observer_, &scratch_);
    std::vector<JobPtr> jobs;
    for (size_t i = 0; i < requests.size(); ++i) {
      const Request& request = requests[i];
      jobs.push_back(MakeJob(request.text, request.options, [&found, i](JobResult result) {
        EXPECT_TRUE(result.status.ok()) << result.status;
        found[i] = std::move(result.hypotheses);
      }));
      jobs.back()->prefix = request.prefix;
      jobs.back()->phrases = request.phrases;
      jobs.back()->score_prefix = request.score_prefix;
      jobs.back()->attention = i % 5 != 4;  // some sentences do not ask for it
      Price(1.25, nullptr, jobs.back().get());
    }
    batch.Join(std::move(jobs));
    while (!batch.empty()) batch.Step();
    EXPECT_EQ(scratch_.kv_pool.taken_bytes(), 0u);
    return found;
  }

  std::vector<float> OfForcedDecoding(const std::string& text, const std::vector<int32_t>& tokens) {
    WholeSearch options = TestSearch(1, static_cast<int>(tokens.size()) + 1);
    return Translate({{"forced", text, options, tokens, {}, true}})[0][0].attention;
  }

  Observer observer_;
  DecodeScratch scratch_;
};

std::vector<Request> EveryKindOfSearch() {
  std::vector<Request> requests;
  const std::vector<int32_t> prefix = TrainedModel()->tokenizer().EncodeTarget("Das alte");
  const std::vector<int32_t> phrase = TrainedModel()->tokenizer().EncodeTarget("Haus");
  for (const std::string& text : TestSentences()) {
    const auto add = [&](const char* name, int beam, int length) -> Request& {
      return requests.emplace_back(Request{name, text, TestSearch(beam, length)});
    };
    add("greedy", 1, 40);
    add("beam", 4, 40);
    add("short", 4, 5);
    add("prefix", 3, 40).prefix = prefix;
    add("none", 4, 40);
    add("phrase", 4, 40).phrases = {Phrase{{phrase}}};
    add("groups", 4, 40).options.beam_groups = 2;
    Request& alternatives = add("alternatives", 2, 40);
    alternatives.options.return_alternatives = true;
    alternatives.prefix = prefix;
    Request& sampling = add("sampling", 3, 40);
    sampling.options.sampling = true;
    sampling.options.repetition_guard = true;
  }
  return requests;
}

TEST_F(AttentionTest, IsThatOfForcedDecoding) {
  const std::vector<Request> requests = EveryKindOfSearch();
  const auto found = Translate(requests);
  for (size_t i = 0; i < requests.size(); ++i) {
    SCOPED_TRACE(requests[i].name + ": " + requests[i].text);
    ASSERT_FALSE(found[i].empty());
    for (const Hypothesis& hypothesis : found[i]) {
      if (i % 5 == 4) {
        EXPECT_TRUE(hypothesis.attention.empty());
        continue;
      }
      std::vector<float> forced = OfForcedDecoding(requests[i].text, hypothesis.tokens);
      const bool has_end = hypothesis.token_log_probs.size() > hypothesis.tokens.size();
      EXPECT_EQ(forced.size() / (hypothesis.tokens.size() + 1) * (hypothesis.tokens.size() + 1),
                forced.size());
      if (!has_end && hypothesis.finish_reason != FinishReason::kRepetition) {
        forced.resize(forced.size() / (hypothesis.tokens.size() + 1) * hypothesis.tokens.size());
      }
      EXPECT_EQ(hypothesis.attention, forced);
    }
  }
}

TEST_F(AttentionTest, RowsSumToOne) {
  const std::vector<Request> requests = EveryKindOfSearch();
  const auto found = Translate({requests[0], requests[1], requests[3]});
  for (const std::vector<Hypothesis>& hypotheses : found) {
    const std::vector<float>& attention = hypotheses[0].attention;
    const size_t rows = hypotheses[0].tokens.size() + 1;
    const size_t source = attention.size() / rows;
    ASSERT_GT(source, 1u);
    for (size_t r = 0; r < rows; ++r) {
      const auto begin = attention.begin() + static_cast<std::ptrdiff_t>(r * source);
      EXPECT_NEAR(std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(source), 0.0f), 1.0f,
                  1e-5f);
    }
  }
}

// By the definition of Wu et al. 2016, a translation that covers the source scores higher.
TEST_F(AttentionTest, CoveragePenaltyIsThatOfTheAttention) {
  int reordered = 0;
  for (const std::string& text : TestSentences()) {
    for (const int beam : {1, 4}) {
      Request plain{"plain", text, TestSearch(beam, 40)};
      Request covered = plain;
      covered.options.coverage_penalty = 0.4f;
      const auto found = Translate({plain, covered});
      ASSERT_EQ(found[1].size(), static_cast<size_t>(beam));
      for (size_t h = 0; h < found[1].size(); ++h) {
        const Hypothesis& hypothesis = found[1][h];
        const size_t source = TrainedModel()->tokenizer().Encode(text).ids.size();
        float coverage = 0.0f;
        for (size_t s = 0; s < source; ++s) {
          float given = 0.0f;
          for (size_t i = s; i < hypothesis.attention.size(); i += source) {
            given += hypothesis.attention[i];
          }
          coverage += std::log(std::min(1.0f, given));
        }
        const float length = static_cast<float>(hypothesis.token_log_probs.size());
        EXPECT_NEAR(hypothesis.score, hypothesis.log_prob / length + 0.4f * coverage, 1e-4f)
            << text;
        if (h > 0) {
          EXPECT_LE(hypothesis.score, found[1][h - 1].score);
        }
        if (hypothesis.tokens != found[0][h].tokens) ++reordered;
      }
    }
  }
  EXPECT_GT(reordered, 0);
}

TEST_F(AttentionTest, IsPartOfTheReservation) {
  const JobPtr job = MakeJob(TestSentences()[0], TestSearch(4, 40), [](JobResult) {});
  const size_t without = job->cost.kv_bytes;
  job->attention = true;
  Price(1.25, nullptr, job.get());
  EXPECT_GE(job->cost.kv_bytes, without + 40 * 4 * job->source.size() * sizeof(float));
}

}  // namespace
}  // namespace dragoman::attention_test
