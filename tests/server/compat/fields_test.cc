#include "server/compat/fields.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "server/http/json.h"
#include "server/http/multipart.h"

namespace dragoman {
namespace {

const std::string kLong(10'000, 'x');

// What a glance at key, text and number sees: "key=k;" for each text, number or bool.
std::string Seen(const std::string& type, const std::string& body, const std::string& query = "") {
  HttpRequest request = {.query = query, .headers = {{"content-type", type}}, .body = body};
  const std::vector<std::string_view> names = {"key", "text", "number"};
  const CompatFields fields = CompatFields::Glance(request, names);
  std::string seen;
  for (const std::string_view name : names) {
    if (!fields.Has(name.data())) continue;
    absl::StrAppend(&seen, std::string(name), "=", fields.Text(name.data()).value_or("?"), ";");
  }
  return seen;
}

TEST(Glance, SeesFieldsOfJsonBehindWhatIsLongOrNests) {
  EXPECT_EQ(Seen(kJson, R"({"key": "k"})"), "key=k;");
  EXPECT_EQ(Seen(kJson, absl::StrCat(R"({"text":")", kLong, R"(", "x": {"key": [1, {"key": "no"}]},
      "number" :1 ,"key" : "a\/b\u00e4\"}{,:" })")),
            "key=a/b\u00e4\"}{,:;text=true;number=1;");
  EXPECT_EQ(Seen(kJson, R"({"text": ["a", "b"], "number": null, "key": "k", "key": "second"})"),
            "key=k;text=true;");
}

TEST(Glance, SeesNothingInWhatIsNoObject) {
  for (const char* body : {"", "[", R"(["key", "k"])", R"([{"key": "k"}])", R"("key": "k")",
                           R"({"key": k})", R"({"key)", R"({"key": "k)", R"(}}]]{:,,:{"key")"}) {
    EXPECT_EQ(Seen(kJson, body), "") << body;
  }
}

TEST(Glance, SeesFieldsOfFormsAndOfTheQuery) {
  const std::string form = absl::StrCat("text=", kLong, "&text=b&&x&key%5B%5D=a%2Bb&number=%zz");
  EXPECT_EQ(Seen("application/x-www-form-urlencoded", form, "key=other&number=2"),
            "key=a+b;text=true;number=;");
  const auto part = [](const std::string& name, const std::string& value) {
    return absl::StrCat("--B\r\nContent-Disposition: form-data; name=\"", name, "\"\r\n\r\n", value,
                        "\r\n");
  };
  EXPECT_EQ(Seen(absl::StrCat(kMultipart, "; boundary=B"),
                 part("text", kLong) + part("number", "") + part("key", "k") + "--B--"),
            "key=k;text=true;number=;");
}

}  // namespace
}  // namespace dragoman
