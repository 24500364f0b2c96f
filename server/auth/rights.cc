#include "server/auth/rights.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/base/status.h"
#include "server/base/methods.h"

namespace dragoman {
namespace {

// The names between commas; nothing if one of them is empty or, unless `known` is, not known.
std::optional<Names> ReadNames(std::string_view value, absl::Span<const std::string> known) {
  Names names;
  for (const absl::string_view name :
       absl::StrSplit(absl::string_view(value.data(), value.size()), ',')) {
    if (name.empty()) return std::nullopt;
    if (!known.empty() && !absl::c_linear_search(known, name)) {
      return std::nullopt;
    }
    names.emplace(name);
  }
  return names;
}

// A whole number of 1 or more; 0 for anything else.
int64_t ReadNumber(std::string_view value) {
  int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, failed] = std::from_chars(value.data(), end, number);
  return failed == std::errc() && stop == end && number > 0 ? number : 0;
}

bool ReadModels(std::string_view value, Rights* rights) {
  rights->models = ReadNames(value, {});
  return rights->models.has_value();
}

bool ReadMethods(std::string_view value, Rights* rights) {
  rights->methods = value == "none" ? Names() : ReadNames(value, ApiMethods());
  return rights->methods.has_value();
}

bool ReadAdmin(std::string_view value, Rights* rights) {
  rights->admin =
      value == "all" ? AdminMethods() : ReadNames(value, AdminServiceMethods()).value_or(Names());
  return !rights->admin.empty();
}

bool ReadBeam(std::string_view value, Rights* rights) {
  constexpr int64_t kMost = 256;
  const int64_t beam = ReadNumber(value);
  rights->beam = static_cast<int>(beam);
  return beam > 0 && beam <= kMost;
}

bool ReadPriority(std::string_view value, Rights* rights) {
  return rights->only_batch = value == "batch";
}

bool ReadTexts(std::string_view value, Rights* rights) {
  return (rights->texts_per_minute = ReadNumber(value)) > 0;
}

bool ReadQuota(std::string_view value, Rights* rights) {
  return (rights->quota.per_minute = static_cast<double>(ReadNumber(value))) > 0;
}

bool ReadBurst(std::string_view value, Rights* rights) {
  return (rights->quota.burst = static_cast<double>(ReadNumber(value))) > 0;
}

struct Right {
  absl::string_view name;
  bool (*read)(std::string_view value, Rights* rights);
  absl::string_view wanted;
};

constexpr absl::string_view kWholeNumber = "a whole number of 1 or more";
constexpr Right kRights[] = {{"models", ReadModels, "names of models with commas between them"},
                             {"methods", ReadMethods, "none, or some of "},
                             {"beam", ReadBeam, "1 to 256"},
                             {"priority", ReadPriority, "batch"},
                             {"texts", ReadTexts, kWholeNumber},
                             {"quota", ReadQuota, kWholeNumber},
                             {"burst", ReadBurst, kWholeNumber},
                             {"admin", ReadAdmin, "all, or some of "}};

std::string WantedOf(const Right& right) {
  std::string wanted(right.wanted);
  if (right.read == ReadMethods) wanted += absl::StrJoin(ApiMethods(), ",");
  if (right.read == ReadAdmin) wanted += absl::StrJoin(AdminServiceMethods(), ",");
  return wanted;
}

std::string WantedAfterToken() {
  const auto with_value = [](std::string* out, const Right& right) {
    absl::StrAppend(out, "[", right.name, "=...]");
  };
  return absl::StrCat("want `principal token ", absl::StrJoin(kRights, " ", with_value), "`");
}

}  // namespace

const Names& AdminMethods() {
  static const Names& methods =
      *new Names(AdminServiceMethods().begin(), AdminServiceMethods().end());
  return methods;
}

absl::StatusOr<Rights> ReadRights(const std::vector<std::string>& words) {
  Rights rights;
  std::set<absl::string_view> named;
  for (const std::string& word : words) {
    const size_t equals = std::min(word.find('='), word.size());
    const absl::string_view name(word.data(), equals);
    const auto* const right =
        absl::c_find_if(kRights, [&](const Right& known) { return known.name == name; });
    if (right == std::end(kRights)) return absl::InvalidArgumentError(WantedAfterToken());
    if (!named.insert(right->name).second) {
      return InvalidArgumentError(right->name, " is named twice");
    }
    if (!right->read(std::string_view(word).substr(std::min(equals + 1, word.size())), &rights)) {
      return InvalidArgumentError(right->name, ": want ", WantedOf(*right));
    }
  }
  if (rights.quota.burst > 0 && rights.quota.per_minute == 0) {
    return absl::InvalidArgumentError("a burst without a quota");
  }
  return rights;
}

}  // namespace dragoman
