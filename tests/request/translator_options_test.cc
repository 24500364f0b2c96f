#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "gtest/gtest.h"
#include "tests/request/translator_fixture.h"

namespace dragoman::translator_options_test {
namespace {

constexpr char kText[] = "The old house is small.";

// The searches that an option may be used with, by name.
const std::pair<const char*, DecodingOptions> kSearches[] = {
    {"greedy", {.beam_size = 1}},
    {"greedy, renormalized", {.beam_size = 1, .renormalize_logits = true}},
    {"beam", {.beam_size = 4}},
    {"all of a beam",
     {.beam_size = 4, .num_hypotheses = 4, .early_stopping = EarlyStopping::kNever}},
    {"shrinking beam", {.beam_size = 4, .shrinking_beam = true}},
    {"diverse beam", {.beam_size = 4, .beam_groups = 2}},
    {"alternatives", {.beam_size = 1, .num_hypotheses = 3, .return_alternatives = true}},
    {"consensus", {.beam_size = 4, .mbr_candidates = 4}},
    {"sampling", {.num_hypotheses = 2, .sampling = true, .sampling_seed = 7}},
};

// The smallest and the largest value that the table allows.
template <typename T>
std::pair<T, T> Extremes(const Option& option) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, int>) {
    return {static_cast<T>(option.low), static_cast<T>(option.high)};
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return {0, std::numeric_limits<T>::max()};
  } else if constexpr (std::is_same_v<T, EarlyStopping>) {
    return {EarlyStopping::kFull, EarlyStopping::kNever};
  } else if constexpr (std::is_same_v<T, LengthNormalization>) {
    return {LengthNormalization::kLength, LengthNormalization::kGnmt};
  } else {
    return {false, true};
  }
}

// Of an integer, also the largest that these limits and this model allow.
std::vector<int> Values(std::pair<int, int> extremes, const Limits& limits,
                        const ModelSpec& model) {
  return {extremes.first,
          extremes.second,
          limits.max_beam_size,
          limits.max_hypotheses,
          model.max_positions,
          model.max_positions - 1,
          model.target_vocabulary - 1};
}
template <typename T>
std::vector<T> Values(std::pair<T, T> extremes, const Limits&, const ModelSpec&) {
  return {extremes.first, extremes.second};
}

class TranslatorOptionsTest : public TranslatorTest {
 protected:
  // Expects a translation with finite scores, or an error that names an option.
  void ExpectNoErrorOfOurs(const DecodingOptions& options, const std::string& what) {
    const TranslateResponse response = Translate({.texts = {kText}, .options = options});
    if (!response.status.ok()) {
      EXPECT_TRUE(absl::IsInvalidArgument(response.status)) << what << ": " << response.status;
      EXPECT_TRUE(FieldOf(response.status).starts_with("options"))
          << what << ": " << response.status;
      return;
    }
    for (const auto& hypothesis : response.translations[0].hypotheses) {
      EXPECT_TRUE(std::isfinite(hypothesis.score)) << what << ": " << hypothesis.score;
    }
  }

  // The model's tokens but these.
  static std::vector<int32_t> AllBut(const std::vector<int32_t>& kept) {
    std::vector<int32_t> all(TrainedModel()->tokenizer().target_vocabulary_size());
    std::iota(all.begin(), all.end(), 0);
    std::erase_if(all, [&](int32_t token) { return std::ranges::find(kept, token) != kept.end(); });
    return all;
  }
};

TEST_F(TranslatorOptionsTest, NoAllowedValueIsAnErrorOfTheServer) {
  for (const Option& option : kOptionTable) {
    const auto check = [&](const auto& members) {
      using T = typename std::decay_t<decltype(DecodingOptions().*members.said)>::value_type;
      for (const T value : Values(Extremes<T>(option), limits_, TrainedModel()->spec())) {
        for (const auto& [search, base] : kSearches) {
          DecodingOptions options = base;
          options.*members.said = value;
          ExpectNoErrorOfOurs(
              options, absl::StrCat(option.name, " ", static_cast<double>(value), ", ", search));
        }
      }
    };
    std::visit(check, option.members);
  }
}

TEST_F(TranslatorOptionsTest, RulesThatLeaveNoTokenAreTheCallersMistake) {
  const int32_t eos = TrainedModel()->spec().eos_id;
  const int32_t word = TrainedModel()->tokenizer().EncodeTarget("Haus").front();
  for (const auto& [search, options] : kSearches) {
    const auto request = [&](std::vector<int32_t> suppressed, int min_length, int no_repeat) {
      TranslateRequest asked = {.texts = {kText}, .options = options};
      asked.options.min_length = min_length;
      asked.options.no_repeat_ngram_size = no_repeat;
      asked.words.suppress_token_ids = std::move(suppressed);
      return asked;
    };
    SCOPED_TRACE(search);
    ExpectInvalid(request(AllBut({}), 0, 0), "options");
    ExpectInvalid(request(AllBut({eos}), 5, 0), "options");
    ExpectInvalid(request(AllBut({eos, word}), 5, 1), "options");
    EXPECT_TRUE(Translate(request(AllBut({eos}), 0, 0)).status.ok());
    EXPECT_TRUE(Translate(request(AllBut({eos, word}), 5, 0)).status.ok());
  }
}

TEST_F(TranslatorOptionsTest, AGlossaryThatMayNotRepeatItselfIsRefused) {
  const auto request = [](const std::string& text, const std::string& target, int size) {
    TranslateRequest asked = {.texts = {text}};
    asked.splitting = Splitting::kNone;
    asked.options.no_repeat_ngram_size = size;
    asked.words.glossary = {{"house", {target}}};
    return asked;
  };
  for (const int size : {1, 2})
    ExpectInvalid(request("A house.", "der der der", size), "options.glossary");
  ExpectInvalid(request("The house, the house.", "alte Haus", 2), "options.glossary");
  EXPECT_TRUE(Translate(request("The house, the house.", "alte Haus", 0)).status.ok());
  EXPECT_TRUE(Translate(request("The house.", "alte Haus", 2)).status.ok());
  // In the prefix it has been said.
  TranslateRequest continued = request("The house.", "alte Haus", 2);
  continued.target_prefixes = {"Das alte Haus ist"};
  EXPECT_TRUE(Translate(continued).status.ok());
  continued.texts = {"The house, the house."};
  ExpectInvalid(continued, "options.glossary");
}

// The words of a text that begin with `beginning`, where a letter begins a word that follows none.
int WordsWith(const std::string& beginning, const std::string& text) {
  int count = 0;
  for (size_t i = text.find(beginning); i != text.npos; i = text.find(beginning, i + 1)) {
    const char before = i == 0 ? ' ' : text[i - 1];
    count += (before & 0x80) == 0 && std::isalnum(static_cast<unsigned char>(before)) == 0;
  }
  return count;
}

TEST_F(TranslatorOptionsTest, NoWordBeginsWithWhatMustNotBeSaid) {
  DecodingOptions wild = {.sampling = true, .sampling_temperature = 4.0f};
  for (const std::string& text : TestSentences()) {
    for (const std::string never : {"D", "H", "k", "er", "l", "e", "s"}) {
      for (const uint64_t seed : {1, 2, 3}) {
        TranslateRequest request = {.texts = {text}, .options = wild};
        request.options.sampling_seed = seed;
        request.options.max_length = 20;
        request.words.never_say = {never};
        const TranslateResponse response = Translate(request);
        ASSERT_TRUE(response.status.ok()) << response.status;
        const std::string& said = response.translations[0].hypotheses[0].text;
        EXPECT_EQ(WordsWith(never, said), 0) << never << ": " << said;
      }
    }
  }
}

}  // namespace
}  // namespace dragoman::translator_options_test
