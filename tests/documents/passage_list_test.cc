#include "documents/passage_list.h"

#include "gtest/gtest.h"

namespace dragoman::passage_list_test {
namespace {

TEST(PassageList, MakesTextsValidUtf8) {
  Patience patience{DocumentOptions()};
  PassageList passages(&patience);
  passages.Add({.text = "\xa0 a dog \xc3"});
  passages.Add({.text = "\u00e9"});
  const auto all = passages.Take();
  ASSERT_TRUE(all.ok());
  EXPECT_EQ((*all)[0].text, "\ufffd a dog \ufffd");
  EXPECT_EQ((*all)[1].text, "\u00e9");
}

TEST(PassageList, OfAnImpatientCallerIsAnError) {
  Patience patience({.wanted = [] { return absl::CancelledError("it has gone"); }});
  PassageList passages(&patience);
  passages.Add({.text = "dog"});
  EXPECT_FALSE(patience.Lasts(1 << 20));
  EXPECT_EQ(passages.Take().status(), absl::CancelledError("it has gone"));
}

TEST(PassageList, KeepsNoMoreThanThereIsMemoryFor) {
  Patience patience({.max_memory = 100'000});
  PassageList passages(&patience);
  for (int i = 0; i < 1000; ++i) passages.Add({.text = "dog"});
  EXPECT_LE(patience.taken(), 100'000);
  EXPECT_TRUE(absl::IsResourceExhausted(passages.Take().status()));
}

}  // namespace
}  // namespace dragoman::passage_list_test
