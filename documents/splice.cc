#include <algorithm>

#include "documents/document.h"
#include "documents/patience.h"
#include "documents/source_text.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

std::string WithoutTags(std::string_view text, PassageMarkup markup) {
  if (markup == PassageMarkup::kNone) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const size_t tag = std::min(text.find('<'), text.size());
    out += text.substr(0, tag);
    text.remove_prefix(std::min(std::min(text.find('>', tag), text.size() - 1) + 1, text.size()));
  }
  return out;
}

}  // namespace

bool IsLost(const Passage& passage, std::string_view translation) {
  const auto blank = [](std::string_view text) { return StripWhiteSpace(text).empty(); };
  if (blank(translation)) return !blank(passage.text);
  return blank(WithoutTags(translation, passage.markup)) &&
         HasWords(WithoutTags(passage.text, passage.markup));
}

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
    } else if (!translation.has_value() || IsLost(passage, *translation) ||
               (!passage.bilingual && *translation == passage.text)) {
      out.append(part.substr(passage.begin, passage.end - passage.begin));
    } else {
      out += passage.write == nullptr ? *translation : passage.write(*translation);
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
