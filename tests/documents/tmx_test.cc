#include "documents/tmx.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::tmx_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kMemory[] = R"(<?xml version="1.0"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en-US" segtype="sentence"/><body>
<tu><prop type="x-context-pre">Before.</prop><prop type="next">After &amp; so on.</prop>
 <tuv xml:lang="en-US"><seg>The <bpt i="1">&lt;b></bpt>old<ept i="1">&lt;/b></ept> <hi>house</hi><ph/>.</seg></tuv>
 <tuv xml:lang="de"><seg>Das alte Haus.</seg></tuv></tu>
<tu><tuv xml:lang="de"><seg>Nur hier.</seg></tuv></tu>
<tu><tuv lang="en-GB"><seg>R &amp; D <![CDATA[<here>]]></seg></tuv><tuv lang="de"><seg>F &amp; E</seg></tuv></tu>
</body></tmx>)";

TEST(Tmx, SegmentsAreReadWithoutCodes) {
  const auto memory = ReadTmx(kMemory, "en", "de");
  ASSERT_TRUE(memory.ok()) << memory.status();
  ASSERT_THAT(memory->segments, SizeIs(2));
  EXPECT_EQ(memory->segments[0].source, "The old house.");
  EXPECT_EQ(memory->segments[0].target, "Das alte Haus.");
  EXPECT_EQ(memory->segments[0].previous, "Before.");
  EXPECT_EQ(memory->segments[0].next, "After & so on.");
  EXPECT_EQ(memory->segments[1].source, "R & D <here>");
}

TEST(Tmx, LanguagesThatAreNotNamedAreThoseOfTheFile) {
  const std::string two = R"(<tmx><header srclang="en"/><body><tu><tuv xml:lang="EN"><seg>One.</seg>
      </tuv><tuv xml:lang="de"><seg>Eins.</seg></tuv></tu></body></tmx>)";
  const auto memory = ReadTmx(two, "", "");
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(memory->source_language, "en");
  EXPECT_EQ(memory->target_language, "de");
  EXPECT_THAT(memory->segments, SizeIs(1));
  const auto back = ReadTmx(two, "de", "en");
  EXPECT_EQ(back->segments.at(0).source, "Eins.");
  EXPECT_THAT(ReadTmx(two, "fr", "de")->segments, IsEmpty());
  const std::string three = R"(<tmx><header srclang="*all*"/><body><tu><tuv xml:lang="en"><seg>One.
      </seg></tuv><tuv xml:lang="de"><seg>Eins.</seg></tuv></tu></body></tmx>)";
  EXPECT_THAT(std::string(ReadTmx(three, "", "").status().message()), HasSubstr("de, en"));
}

TEST(Tmx, WhatIsWrittenIsReadAgain) {
  const TmxMemory memory = {"en", "de", {{"A < B & \"C\"", "ä > ö", "x", ""}, {"One.", "Eins."}}};
  const auto again = ReadTmx(WriteTmx(memory), "", "");
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_THAT(again->segments, SizeIs(2));
  EXPECT_EQ(again->segments[0].source, memory.segments[0].source);
  EXPECT_EQ(again->segments[0].target, memory.segments[0].target);
  EXPECT_EQ(again->segments[0].previous, "x");
  EXPECT_EQ(again->segments[1].next, "");
}

TEST(Tmx, WhatIsNoTmxIsRefused) {
  EXPECT_FALSE(ReadTmx("<tmx>", "en", "de").ok());
  EXPECT_FALSE(ReadTmx("\xff", "en", "de").ok());
  EXPECT_THAT(ReadTmx("<html/>", "en", "de")->segments, IsEmpty());
}

}  // namespace
}  // namespace dragoman::tmx_test
