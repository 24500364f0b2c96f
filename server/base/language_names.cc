#include "server/base/language_names.h"

#include <memory>
#include <string>

#define U_SHOW_CPLUSPLUS_API 0
#include "unicode/uldnames.h"
#include "unicode/uloc.h"
#include "unicode/ustring.h"

namespace dragoman {
namespace {

constexpr size_t kLongestTag = 100;  // bytes of a tag

class IcuNames {
 public:
  explicit IcuNames(const std::string& in) {
    // Otherwise the environment of the process would decide what an unknown language gets.
    static const bool kEnglish = [] {
      UErrorCode status = U_ZERO_ERROR;
      uloc_setDefault("en", &status);
      return U_SUCCESS(status);
    }();
    UErrorCode status = kEnglish ? U_ZERO_ERROR : U_INTERNAL_PROGRAM_ERROR;
    UDisplayContext context[] = {UDISPCTX_CAPITALIZATION_FOR_UI_LIST_OR_MENU};
    names_.reset(
        uldn_openForContext(in.size() > kLongestTag ? "en" : in.c_str(), context, 1, &status));
    if (U_FAILURE(status)) names_.reset();
  }

  // "" if there is none.
  std::string Of(const std::string& tag) const {
    if (names_ == nullptr || tag.empty() || tag.size() > kLongestTag) return "";
    UErrorCode status = U_ZERO_ERROR;
    UChar name[256];
    const int32_t size = uldn_localeDisplayName(names_.get(), tag.c_str(), name, 256, &status);
    char utf8[3 * 256];
    int32_t bytes = 0;
    u_strToUTF8(utf8, sizeof(utf8), &bytes, name, size, &status);
    return U_SUCCESS(status) ? std::string(utf8, bytes) : "";
  }

 private:
  struct Close {
    void operator()(ULocaleDisplayNames* names) const { uldn_close(names); }
  };
  std::unique_ptr<ULocaleDisplayNames, Close> names_;
};

}  // namespace

std::string NameOf(const std::string& tag, const std::string& in) {
  const std::string name = IcuNames(in).Of(tag);
  return name.empty() ? tag : name;
}

std::map<std::string, std::string> TagsByName(const std::string& in) {
  const IcuNames names(in);
  std::map<std::string, std::string> tags;
  for (const char* tag : {"zh-Hans", "zh-Hant"}) tags.emplace(names.Of(tag), tag);
  for (const char* const* tag = uloc_getISOLanguages(); *tag != nullptr; ++tag) {
    tags.emplace(names.Of(*tag), *tag);
  }
  return tags;
}

}  // namespace dragoman
