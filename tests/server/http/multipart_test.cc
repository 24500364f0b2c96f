// Forms that come in pieces of any size, and forms over the limits.

#include "server/http/multipart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace dragoman {
namespace {

using ::testing::HasSubstr;

constexpr char kType[] = "multipart/form-data; boundary=XY";

struct ReadForm {
  absl::Status status;
  std::vector<std::pair<std::string, std::string>> parts;  // names and values
  size_t taken = 0;                                        // bytes, until an error
};

// Reads `body` in pieces of `size` bytes.
ReadForm ReadInPieces(const std::string& body, size_t size) {
  ReadForm form;
  MultipartReader reader(kType, {.begin =
                                     [&](FormPart part) {
                                       form.parts.emplace_back(part.name, "");
                                       return absl::OkStatus();
                                     },
                                 .value =
                                     [&](std::string_view piece) {
                                       form.parts.back().second += piece;
                                       return absl::OkStatus();
                                     },
                                 .end = [] { return absl::OkStatus(); }});
  while (form.status.ok() && form.taken < body.size()) {
    const std::string piece = body.substr(form.taken, size);
    form.status = reader.Add(piece);
    form.taken += piece.size();
  }
  if (form.status.ok()) form.status = reader.End();
  return form;
}

std::string Part(const std::string& name, const std::string& value,
                 const std::string& more_headers = "") {
  return absl::StrCat("--XY\r\nContent-Disposition: form-data; name=\"", name, "\"\r\n",
                      more_headers, "\r\n", value, "\r\n");
}

// Many beginnings of the delimiter, but never all of it.
std::string RandomValue(std::mt19937* random) {
  static constexpr const char* kBits[] = {"a",     "\r",     "\n",      "-",    "--",       "\r\n",
                                          "\r\n-", "\r\n--", "\r\n--X", "--XY", "\r\n\r\n", "Y"};
  std::string value;
  for (auto i = (*random)() % 12; i > 0; --i) {
    value += kBits[(*random)() % std::size(kBits)];
    const size_t whole = value.find("\r\n--XY");
    if (whole != value.npos) value.resize(whole);
  }
  return value;
}

TEST(Multipart, PiecesOfAnySizeMakeTheSameForm) {
  constexpr int kSeed = 20240611;
  std::mt19937 random(kSeed);
  for (int i = 0; i < 300; ++i) {
    std::vector<std::pair<std::string, std::string>> parts;
    std::string body;
    for (auto n = random() % 5; n > 0; --n) {
      parts.emplace_back(absl::StrCat("part ", n), RandomValue(&random));
      body += Part(parts.back().first, parts.back().second);
    }
    body += "--XY--\r\nanything";
    for (const size_t size : {size_t{1}, size_t{2}, size_t{7}, body.size()}) {
      const ReadForm form = ReadInPieces(body, size);
      EXPECT_TRUE(form.status.ok()) << form.status << " seed " << kSeed << ", form " << i;
      EXPECT_EQ(form.parts, parts) << " seed " << kSeed << ", form " << i;
    }
    // Without its end it is none, wherever it was cut.
    const ReadForm cut = ReadInPieces(body.substr(0, random() % (body.size() - 11)), 3);
    EXPECT_THAT(std::string(cut.status.message()), HasSubstr("truncated or malformed"));
  }
}

TEST(Multipart, FormsOverALimitAreRefusedWithTheNumber) {
  std::string many;
  for (int i = 0; i < kMaxParts; ++i) many += Part("n", "");
  const std::string header = "X: " + std::string(kMaxPartHead, 'x') + "\r\n";
  for (const auto& [body, message] :
       {std::pair<std::string, std::string>{many + Part("n", ""), "more than 10000 parts"},
        {Part(std::string(kMaxPartName + 1, 'n'), ""), "has 257 bytes, want at most 256"},
        {Part("a", "") + Part("n", "", header), "part 2 of the form has more than 4096 bytes"}}) {
    for (const size_t size : {size_t{1000}, body.size()}) {
      const ReadForm form = ReadInPieces(body + "--XY--", size);
      EXPECT_EQ(form.status.code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(form.status.message()), HasSubstr(message));
    }
  }
  for (const std::string& body : {many, Part(std::string(kMaxPartName, 'n'), "")}) {
    EXPECT_TRUE(ReadInPieces(body + "--XY--", 1000).status.ok());
  }
}

TEST(Multipart, HeadersMayHaveJustSoManyBytesInPiecesOfAnySize) {
  const std::string headers = "Content-Disposition: form-data; name=\"n\"\r\nX: ";
  for (const size_t more : {0, 1}) {
    const std::string body = "--XY\r\n" + headers +
                             std::string(kMaxPartHead + more - headers.size(), 'x') +
                             "\r\n\r\nvalue\r\n--XY--";
    for (const size_t size : {size_t{1}, size_t{2}, size_t{3}, size_t{5}, body.size()}) {
      EXPECT_EQ(ReadInPieces(body, size).status.ok(), more == 0) << size;
    }
  }
}

// Whatever a client sends, a part's head is not kept for longer than it may be.
TEST(Multipart, AHeadWithoutAnEndIsRefusedWhileItComes) {
  const ReadForm form = ReadInPieces("--XY\r\n" + std::string(1 << 20, 'x'), 100);
  EXPECT_THAT(std::string(form.status.message()), HasSubstr("4096 bytes of headers"));
  EXPECT_LE(form.taken, kMaxPartHead + 200);
  const ReadForm no_boundary = ReadInPieces(std::string(1 << 20, '-'), 100);
  EXPECT_THAT(std::string(no_boundary.status.message()), HasSubstr("malformed"));
  EXPECT_EQ(no_boundary.taken, 100u);
}

}  // namespace
}  // namespace dragoman
