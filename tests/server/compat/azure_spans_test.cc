#include "server/compat/azure_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dragoman {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void Link(int source_begin, int source_end, int target_begin, int target_end,
          v1::AlignedText* aligned) {
  v1::WordLink* const word = aligned->add_words();
  word->set_source_begin(source_begin);
  word->set_source_end(source_end);
  word->set_target_begin(target_begin);
  word->set_target_end(target_end);
}

TEST(AzureSpans, AlignmentCountsCharactersInTheOrderOfTheSource) {
  v1::AlignedText aligned;
  Link(6, 9, 0, 5, &aligned);  // "old"
  Link(0, 5, 6, 7, &aligned);  // "café", of five bytes
  EXPECT_EQ(AzureAlignment("caf\u00e9 old", "\u00e4ltes C", aligned), "0:3-5:5 5:7-0:3");
  EXPECT_EQ(AzureAlignment("a", "b", {}), "");
}

TEST(AzureSpans, SentencesIncludeTheWhiteSpaceAfterThem) {
  EXPECT_THAT(AzureSentences(" \u00e9h? Ja.\n", {{1, 5}, {6, 9}}), ElementsAre(5, 4));
  EXPECT_THAT(AzureSentences("", {}), IsEmpty());
}

}  // namespace
}  // namespace dragoman
