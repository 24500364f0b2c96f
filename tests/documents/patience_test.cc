// A caller that does not wait any longer ends the work on a file, wherever that is.

#include "engine/base/patience.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/documents/zip_of.h"

namespace dragoman::patience_test {
namespace {

// Asked at every step, it answers OK that often, and then CANCELLED.
DocumentOptions WantedFor(size_t answers, size_t* asked) {
  *asked = 0;
  return {.source_language = "en",
          .target_language = "de",
          .columns = {"text"},
          .wanted =
              [=] {
                return ++*asked > answers ? absl::CancelledError("it has gone") : absl::OkStatus();
              },
          .wanted_step = 1};
}

TEST(Patience, AsksAfterEachStepAndNotAgainAfterAnError) {
  size_t asked = 0;
  DocumentOptions options = WantedFor(2, &asked);
  options.wanted_step = 100;
  Patience patience(options);
  EXPECT_TRUE(patience.Lasts(99));
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE(patience.Lasts(1));
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(patience.Lasts(1000));
  EXPECT_TRUE(patience.Lasts(99));
  EXPECT_EQ(asked, 2);
  EXPECT_FALSE(patience.Lasts(1));
  EXPECT_FALSE(patience.Lasts(1));
  EXPECT_FALSE(patience.Lasts(100));
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(patience.status(), absl::CancelledError("it has gone"));
}

TEST(Patience, WithoutACallerLastsForever) {
  Patience patience{DocumentOptions()};
  EXPECT_TRUE(patience.Lasts(size_t{1} << 40));
}

TEST(Patience, DoesNotLastBeyondTheMemoryThatAFileMayTake) {
  Patience patience({.max_memory = 100});
  EXPECT_TRUE(patience.Takes(60));
  EXPECT_TRUE(patience.Takes(40));
  patience.Returns(30);
  EXPECT_TRUE(patience.Takes(30));
  patience.ReturnTo(20);
  EXPECT_TRUE(patience.Takes(80));
  EXPECT_TRUE(patience.Lasts(1));
  EXPECT_FALSE(patience.Takes(1));
  patience.ReturnTo(0);
  EXPECT_FALSE(patience.Takes(1));
  EXPECT_FALSE(patience.Lasts(1));
  EXPECT_EQ(patience.status(),
            absl::ResourceExhaustedError(
                "takes more than 100 bytes of memory, which is the most for a document"));
}

TEST(Patience, OfEachFormatEndsTheWork) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/documents/data")) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    SCOPED_TRACE(file);
    size_t questions = 0, asked = 0;
    const absl::Status whole = TranslateFile(file, Upper, WantedFor(1 << 30, &questions)).status;
    ASSERT_TRUE(whole.ok()) << whole;
    EXPECT_GE(questions, 5);
    for (const size_t answers : {size_t{0}, questions / 3, questions / 2, questions - 1}) {
      const absl::Status status = TranslateFile(file, Upper, WantedFor(answers, &asked)).status;
      EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << answers << " of " << questions;
      EXPECT_EQ(asked, answers + 1);
    }
  }
}

// Nothing that may be long is looked for again and again.
TEST(Patience, IsAskedForAllThatIsLookedAt) {
  size_t questions = 0;
  DocumentOptions options = WantedFor(1 << 30, &questions);
  options.wanted_step = 64 << 10;
  const std::string path = TemporaryPath(".md");
  WriteBytes(path, std::string(100'000, '{'));
  EXPECT_TRUE(TranslateFile(path, Same, options).status.ok());
  EXPECT_GE(questions, 500);  // each brace may belong to another one 4,000 bytes on
}

TEST(Patience, IsNotNeededForALongValueOfProperties) {
  const std::string path = TemporaryPath(".properties");
  for (const char* const part : {"x\\\n", "{0,", "0"}) {
    std::string value;
    while (value.size() < 2'000'000) value += part;
    WriteBytes(path, "a=one " + value);
    const absl::Time start = absl::Now();
    EXPECT_TRUE(TranslateFile(path, Same, {}).status.ok());
    EXPECT_LT(absl::Now() - start, absl::Seconds(10)) << part;
  }
}

}  // namespace
}  // namespace dragoman::patience_test
