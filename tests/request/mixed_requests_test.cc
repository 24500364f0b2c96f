// Requests with every kind of decoding option run at the same time through the Translator; each
// must be answered exactly as if it were alone.  (tests/decode/decode_batch_test.cc tests the same
// one level below, without what the translator adds: minimum Bayes risk, alignments, replaced
// unknowns, sentences.)

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "engine/request/translator.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman::mixed_requests_test {
namespace {

constexpr int kRequests = 200;

TranslateRequest RequestNumber(int i) {
  const std::vector<std::string>& sentences = TestSentences();
  TranslateRequest request;
  request.texts = {sentences[i % sentences.size()],
                   sentences[(i + 5) % sentences.size()] + " " + sentences[i % 3]};
  request.splitting = Splitting::kNone;
  request.options.beam_size = 1 + i % 5;
  request.options.max_length = 20 + i % 20;
  request.alignment.wanted = i % 3 == 0;
  switch (i % 10) {
    case 0:
      request.options.beam_size = 4;
      request.options.mbr_candidates = 4;
      break;
    case 1:
      request.options.beam_size = 1;
      request.options.sampling = true;
      request.options.sampling_seed = i;
      request.options.num_hypotheses = 1 + i % 3;
      break;
    case 2:
      request.options.beam_size = 1;
      request.options.sampling = true;
      request.options.sampling_temperature = 0.7f;
      request.options.mbr_candidates = 5;
      request.options.num_hypotheses = 2;
      break;
    case 3:
      request.target_prefixes = {"Der alte"};
      request.return_prefix = i % 2 == 0;
      break;
    case 4:
      request.words.glossary = {{"house", {"Haus", "Hauses"}}, {"apple", {"Apfel"}}};
      break;
    case 5:
      request.options.coverage_penalty = 0.3f;
      request.options.repetition_penalty = 1.2f;
      request.options.num_hypotheses = request.options.beam_size;
      break;
    case 6:
      request.options.replace_unknowns = true;
      request.options.no_repeat_ngram_size = 2;
      break;
    case 7:
      request.options.beam_size = 4;
      request.options.beam_groups = 2;
      request.options.num_hypotheses = 3;
      break;
    case 8:
      request.options.return_alternatives = true;
      request.options.num_hypotheses = 3;
      request.target_prefixes = {"Die"};
      break;
    default:
      request.splitting = Splitting::kSentences;
      request.options.length_normalization = LengthNormalization::kGnmt;
      request.words.never_say = {"kleines"};
  }
  return request;
}

void Append(const void* data, size_t size, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&size), sizeof(size));
  bytes->append(static_cast<const char*>(data), size);
}

// Everything that a caller sees, to the last bit.
std::string BytesOf(const TranslateResponse& response) {
  std::string bytes = response.status.ToString();
  for (const Translation& translation : response.translations) {
    for (const TranslatedHypothesis& hypothesis : translation.hypotheses) {
      Append(hypothesis.text.data(), hypothesis.text.size(), &bytes);
      Append(&hypothesis.score, sizeof(hypothesis.score), &bytes);
      Append(hypothesis.token_ids.data(), hypothesis.token_ids.size() * sizeof(int32_t), &bytes);
      Append(hypothesis.token_scores.data(), hypothesis.token_scores.size() * sizeof(float),
             &bytes);
      for (const AttentionBlock& block : hypothesis.alignment.attention) {
        Append(block.probabilities.data(), block.probabilities.size() * sizeof(float), &bytes);
      }
      for (const WordLink& link : hypothesis.alignment.words) {
        Append(&link.source.begin, sizeof(size_t), &bytes);
        Append(&link.target.begin, sizeof(size_t), &bytes);
      }
    }
  }
  return bytes;
}

// The answers to all requests, `at_once` of which are in the pool at the same time.
std::vector<std::string> Answers(int at_once) {
  Observer observer;
  WorkerPool pool({.workers = 2}, &observer);
  const Translator translator(TrainedModel(), &pool, Limits());
  std::vector<std::string> answers(kRequests);
  for (int first = 0; first < kRequests; first += at_once) {
    const int end = std::min(first + at_once, kRequests);
    absl::BlockingCounter left(end - first);
    for (int i = first; i < end; ++i) {
      translator.Translate(RequestNumber(i), absl::InfiniteFuture(),
                           [&answers, &left, i](TranslateResponse response) {
                             EXPECT_TRUE(response.status.ok()) << i << ": " << response.status;
                             answers[i] = BytesOf(response);
                             left.DecrementCount();
                           });
    }
    left.Wait();
  }
  return answers;
}

TEST(MixedRequests, AreAnsweredAsTheyAreAlone) {
  const std::vector<std::string> alone = Answers(1);
  const std::vector<std::string> together = Answers(kRequests);
  for (int i = 0; i < kRequests; ++i) EXPECT_EQ(together[i], alone[i]) << "request " << i;
}

}  // namespace
}  // namespace dragoman::mixed_requests_test
