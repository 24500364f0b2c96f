// Whole models give the same bytes on every CPU (docs/bytes.md): texts, tokens and the bits of all
// scores.  The preset arm64 runs this on three more.  See tests/math/same_bytes_test.cc for the
// parts.

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/decode/observer.h"
#include "engine/math/kernels.h"
#include "engine/request/translator.h"
#include "gtest/gtest.h"
#include "tests/request/translate_and_wait.h"

namespace dragoman::every_cpu_test {
namespace {

constexpr char kTexts[] =
    "The committee adopted the report by 15 votes to 3, with two abstentions. It asked the Member "
    "States to publish the figures for 1997 and 1998, which had been late.\n"
    "Where are you going? I would rather stay at home tonight: it is raining, and we have no "
    "umbrella.";

struct Case {
  std::string model;
  Precision precision;
  uint64_t digests[2];  // with a beam of 1 and of 4
};

void Append(absl::Span<const float> numbers, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float));
}

// The digest of all hypotheses.
uint64_t DigestOf(const Translator& translator, int beam) {
  TranslateRequest request;
  request.texts = {kTexts};
  request.keep_literals = false;  // the model's own words, whether it loses a number or not
  request.options.beam_size = beam;
  request.options.num_hypotheses = beam;
  if (!translator.languages().empty()) {
    request.source_language = "en", request.target_language = "de";
  }
  const TranslateResponse response = TranslateAndWait(translator, std::move(request));
  EXPECT_TRUE(response.status.ok()) << response.status;
  if (!response.status.ok()) return 0;
  std::string bytes;
  for (const TranslatedHypothesis& hypothesis : response.translations.front().hypotheses) {
    absl::StrAppend(&bytes, hypothesis.text, "\n");
    for (const int32_t token : hypothesis.token_ids) absl::StrAppend(&bytes, token, " ");
    Append(hypothesis.token_scores, &bytes);
    Append({hypothesis.score}, &bytes);
  }
  return XXH3_64bits(bytes.data(), bytes.size());
}

TEST(EveryCpu, GivesTheSameBytes) {
  if (!FusesMulAdd()) GTEST_SKIP() << "this CPU does not fuse multiplications and additions";
  const Case cases[] = {
      {"tests/golden/models/en-de", Precision::kInt8, {0x084326fa245116d8, 0xc18890307c53a930}},
      {"tests/golden/models/en-de", Precision::kFloat32, {0xf731a178c63e8b51, 0x05406c0f7c3a3bae}},
      {"tests/golden/models/t5v11-trained",
       Precision::kInt8,
       {0x43634b391268ea97, 0x09a619a0f994a93b}},
      {"models/en-de-fr-es", Precision::kInt8, {0x2f043b95f30ec46b, 0x62070c978d3ec102}},
  };
  for (const Case& c : cases) {
    Observer observer;
    WorkerPool pool({.workers = 1}, &observer);
    const auto model = Model::Load("model", c.model, {.precision = c.precision});
    ASSERT_TRUE(model.ok()) << model.status();
    const Translator translator(*model, &pool, Limits());
    for (const int beam : {1, 4}) {
      EXPECT_EQ(DigestOf(translator, beam), c.digests[beam == 1 ? 0 : 1])
          << c.model << " in " << (*model)->isa() << ", beam " << beam << ", on " << HighwayIsa();
    }
  }
}

}  // namespace
}  // namespace dragoman::every_cpu_test
