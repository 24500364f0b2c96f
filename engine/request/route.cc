#include "engine/request/route.h"

#include <utility>

#include "absl/strings/str_join.h"

namespace dragoman {

Route::Route(std::shared_ptr<const Translator> translator) {
  translators_.push_back(std::move(translator));
}

Route::Route(std::shared_ptr<const Translator> first, const std::string& pivot,
             std::shared_ptr<const Translator> second)
    : translators_({std::move(first), std::move(second)}), pivot_(pivot) {}

std::string Route::name() const {
  return absl::StrJoin(translators_, "+", [](std::string* out, const auto& translator) {
    out->append(translator->name());
  });
}

std::string Route::version() const {
  return absl::StrJoin(translators_, "+", [](std::string* out, const auto& translator) {
    out->append(translator->model().version());
  });
}

}  // namespace dragoman
