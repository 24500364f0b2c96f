#include "engine/request/search_request.h"

#include <memory>
#include <string>
#include <type_traits>
#include <variant>

#include "engine/base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::search_request_test {
namespace {

const ModelSpec kModel = [] {
  ModelSpec config;
  config.max_positions = 512;
  config.eos_id = 3;
  config.decoder_start_id = 9;
  config.target_vocabulary = 100;
  return config;
}();

// The lengths that the search of a sentence with `source_tokens` is given.
SearchOptions Lengths(const DecodingOptions& options, int source_tokens,
                      const GenerationConfig& generation = {}) {
  const absl::StatusOr<SearchOptions> resolved =
      ResolveSearch(options, Limits(), generation, kModel);
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  SearchOptions search = resolved.value_or(SearchOptions());
  const absl::Status status = SetLengths(options, source_tokens, generation, kModel, &search);
  EXPECT_TRUE(status.ok()) << status;
  return search;
}

TEST(SearchRequest, TakesFromTheModelWhatTheRequestLeavesOut) {
  GenerationConfig generation;
  generation.options.beam_size = 6;
  generation.options.length_penalty = 0.8f;
  generation.options.early_stopping = EarlyStopping::kFull;
  generation.options.renormalize_logits = true;
  generation.options.forced_eos_id = 3;
  generation.bad_words_ids = {{7}};
  auto search = ResolveSearch({}, Limits(), generation, kModel);
  ASSERT_TRUE(search.ok()) << search.status();
  EXPECT_EQ(search->beam_size, 6);
  EXPECT_EQ(search->num_hypotheses, 1);
  EXPECT_EQ(search->length_penalty, 0.8f);
  EXPECT_EQ(search->early_stopping, EarlyStopping::kFull);
  EXPECT_TRUE(search->renormalize_logits);
  EXPECT_EQ(search->forced_eos_id, 3);

  search = ResolveSearch({.beam_size = 2, .length_penalty = 0.0f}, Limits(), generation, kModel);
  ASSERT_TRUE(search.ok()) << search.status();
  EXPECT_EQ(search->beam_size, 2);
  EXPECT_EQ(search->length_penalty, 0.0f);
}

TEST(SearchRequest, TheModelBansWhatNoRequestCanAllow) {
  GenerationConfig generation;
  generation.bad_words_ids = {{7}, {1, 2}};
  const std::shared_ptr<const SearchRules> rules = MakeRules(generation, kModel);
  EXPECT_THAT(rules->bad_words_ids, ::testing::UnorderedElementsAreArray(generation.bad_words_ids));
  EXPECT_EQ(rules->eos_id, 3);
  EXPECT_EQ(rules->decoder_start_id, 9);
}

TEST(SearchRequest, EveryEntryOfTheTableChecksItsRange) {
  for (const Option& option : kOptionTable) {
    const auto check = [&](const auto& members) {
      using T = typename std::decay_t<decltype(DecodingOptions().*members.said)>::value_type;
      if constexpr (std::is_same_v<T, int> || std::is_same_v<T, float>) {
        for (const double wrong :
             {option.low - 1, option.low > 0 ? option.low / 2 : option.low - 1, option.high + 1}) {
          DecodingOptions options;
          options.*members.said = static_cast<T>(wrong);
          const auto search = ResolveSearch(options, Limits(), {}, kModel);
          EXPECT_TRUE(absl::IsInvalidArgument(search.status())) << option.name << " " << wrong;
          EXPECT_EQ(FieldOf(search.status()), std::string("options.") + option.name);
        }
      }
    };
    std::visit(check, option.members);
  }
}

TEST(SearchRequest, TheBeamOfAModelIsCappedAtTheServersLimit) {
  GenerationConfig generation;
  generation.options.beam_size = 12;
  const auto search = ResolveSearch({}, {.max_beam_size = 4}, generation, kModel);
  ASSERT_TRUE(search.ok()) << search.status();
  EXPECT_EQ(search->beam_size, 4);
}

TEST(SearchRequest, TheDefaultMaximumIsProportionalToTheSource) {
  EXPECT_EQ(Lengths({}, 10).max_length, 2 * 10 + 32);
  EXPECT_EQ(Lengths({.max_length_ratio = 1.5f}, 11).max_length, 17 + 32);
  EXPECT_EQ(Lengths({}, 400).max_length, 512);  // the model's positions
}

TEST(SearchRequest, TheModelsLengthsHoldWhereTheRequestHasNone) {
  GenerationConfig generation;
  generation.options.max_length = 47;
  EXPECT_EQ(Lengths({}, 30, generation).max_length, 47);
  EXPECT_EQ(Lengths({.max_length = 100}, 30, generation).max_length, 100);
  generation.options.min_length = 9;
  EXPECT_EQ(Lengths({}, 30, generation).min_length, 9);
}

TEST(SearchRequest, MakesRoomForTheMinimum) {
  EXPECT_EQ(Lengths({.min_length = 200}, 1).max_length, 201);
  GenerationConfig generation;
  generation.options.min_length = 30;
  EXPECT_EQ(Lengths({.max_length = 5}, 1, generation).min_length, 4);
}

}  // namespace
}  // namespace dragoman::search_request_test
