#include "server/api/reverse_checks.h"

#include <optional>
#include <string>
#include <utility>

#include "engine/base/status.h"

namespace dragoman {
namespace {

bool Serves(const Translator& translator, const LanguagePair& languages) {
  return !translator.languages().empty() &&
         translator.languages().Resolve(languages.source, languages.target).ok();
}

}  // namespace

absl::StatusOr<ReverseRoute> FindReverse(const ModelRegistry& models, const Route& route,
                                         const LanguagePair& asked, const Permit& permit) {
  LanguagePair forth = asked;
  const std::shared_ptr<const Translator>& first = route.translators().front();
  const bool is_one = route.translators().size() == 1;
  if (is_one) {
    ASSIGN_OR_RETURN(forth, first->languages().Resolve(asked.source, asked.target));
  }
  ReverseRoute check = {.languages = {forth.target, forth.source}};
  if (is_one && Serves(*first, check.languages)) {
    check.translator = first;
    return check;
  }
  const absl::StatusOr<Route> back = models.FindRoute(
      "", check.languages.source, check.languages.target, std::nullopt, permit.Models());
  if (!back.ok() || back->translators().size() != 1 ||
      !Serves(*back->translators().front(), check.languages)) {
    return FailedPreconditionError("reverse_check: no single model translates from \"",
                                   check.languages.source, "\" to \"", check.languages.target,
                                   "\"");
  }
  check.translator = back->translators().front();
  RETURN_IF_ERROR(permit.MayUse(check.translator->name()));
  return check;
}

}  // namespace dragoman
