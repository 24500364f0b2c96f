#include "engine/base/status.h"

#include "gtest/gtest.h"

namespace dragoman {
namespace {

absl::StatusOr<int> Half(int n) {
  if (n % 2 != 0) return absl::InvalidArgumentError("odd");
  return n / 2;
}

absl::StatusOr<int> Quarter(int n) {
  ASSIGN_OR_RETURN(const int half, Half(n));
  ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

absl::Status IsMultipleOfFour(int n) {
  RETURN_IF_ERROR(Quarter(n).status());
  return absl::OkStatus();
}

TEST(Status, MacrosPassTheFirstErrorOn) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(3).status(), absl::InvalidArgumentError("odd"));
  EXPECT_EQ(Quarter(6).status(), absl::InvalidArgumentError("odd"));
  EXPECT_TRUE(IsMultipleOfFour(4).ok());
  EXPECT_FALSE(IsMultipleOfFour(6).ok());
}

TEST(Status, AnAnnotationKeepsCodeAndPayloads) {
  const absl::Status status = Annotate(InvalidField("model", "is empty"), "config: ");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "config: model: is empty");
  EXPECT_EQ(FieldOf(status), "model");
  EXPECT_TRUE(Annotate(absl::OkStatus(), "config: ").ok());
}

TEST(Status, PathsCanBeMadeRelativeToADirectory) {
  const absl::Status status = absl::NotFoundError("/m/a/x.spm: cannot open; want /m/a/y.spm");
  EXPECT_EQ(RelativeTo("/m/a", status), absl::NotFoundError("x.spm: cannot open; want y.spm"));
  EXPECT_TRUE(RelativeTo("/m/a", absl::OkStatus()).ok());
}

TEST(Status, AnInvalidFieldTravelsWithItsName) {
  const absl::Status status = InvalidField("contents[3]", "is not UTF-8");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "contents[3]: is not UTF-8");
  EXPECT_EQ(FieldOf(status), "contents[3]");
  EXPECT_EQ(FieldOf(absl::InvalidArgumentError("x")), "");
  EXPECT_EQ(FieldOf(absl::OkStatus()), "");
}

TEST(Status, ABrokenCheckEndsTheProcessAndSaysWhere) {
  EXPECT_DEATH(DRAGOMAN_CHECK(1 + 1 == 3), "status_test.cc:[0-9]+: check failed: 1 \\+ 1 == 3");
}

}  // namespace
}  // namespace dragoman
