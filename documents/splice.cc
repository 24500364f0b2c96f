#include <algorithm>

#include "documents/document.h"
#include "documents/mending.h"
#include "engine/base/patience.h"

namespace dragoman {

std::string Splice(std::string_view part, absl::Span<const Passage> passages,
                   const PassageTranslations& translations, Patience* patience) {
  std::string out;
  out.reserve(part.size());
  size_t end = 0;
  for (size_t i = 0; i < passages.size(); ++i) {
    const Passage& passage = passages[i];
    if (patience != nullptr && !patience->Lasts(passage.end - end)) return out;
    out.append(part.substr(end, passage.begin - end));
    const std::optional<std::string>& translation = translations[i];
    if (passage.text.empty()) {
      out += passage.write("");
    } else if (!translation.has_value() || (!passage.bilingual && *translation == passage.text)) {
      out.append(part.substr(passage.begin, passage.end - passage.begin));
    } else if (const auto mended = MendTranslation(passage, *translation); mended.has_value()) {
      out += passage.write == nullptr ? *mended : passage.write(*mended);
    } else {
      out.append(part.substr(passage.begin, passage.end - passage.begin));
    }
    end = passage.end;
  }
  out.append(part.substr(end));
  return out;
}

bool HasText(absl::Span<const Passage> passages) {
  return std::any_of(passages.begin(), passages.end(),
                     [](const Passage& passage) { return !passage.text.empty(); });
}

}  // namespace dragoman
