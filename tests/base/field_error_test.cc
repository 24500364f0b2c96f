#include "engine/base/field_error.h"

#include <gtest/gtest.h>

#include "engine/base/status.h"

namespace dragoman {
namespace {

TEST(FieldError, AListElementHasAListAndAnIndex) {
  const std::optional<ListElement> element = ParseListElement("target_prefixes[12]");
  ASSERT_TRUE(element.has_value());
  EXPECT_EQ(element->list, "target_prefixes");
  EXPECT_EQ(element->index, 12u);
}

TEST(FieldError, OtherFieldsAreNotListElements) {
  for (const char* field : {"", "model", "options.beam_size", "[", "]", "contents[", "contents[]",
                            "contents[x]", "contents[-1]", "contents[1].text", "contents]1["}) {
    EXPECT_FALSE(ParseListElement(field).has_value()) << field;
  }
}

TEST(FieldError, TheNewNameReplacesTheOldOneInTheMessage) {
  const absl::Status status = WithField(InvalidField("contents[0]", "is too long"), "contents[2]");
  EXPECT_EQ(status, InvalidField("contents[2]", "is too long"));
  EXPECT_EQ(FieldOf(status), "contents[2]");
}

}  // namespace
}  // namespace dragoman
