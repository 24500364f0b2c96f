#include "documents/document.h"

namespace dragoman {

std::string Splice(std::string_view part, absl::Span<const Passage> passages,
                   absl::Span<const std::string> translations) {
  std::string out;
  out.reserve(part.size());
  size_t end = 0;
  for (size_t i = 0; i < passages.size(); ++i) {
    const Passage& passage = passages[i];
    out.append(part.substr(end, passage.begin - end));
    if (!passage.always && translations[i] == passage.text) {
      out.append(part.substr(passage.begin, passage.end - passage.begin));
    } else {
      out += passage.write == nullptr ? translations[i] : passage.write(translations[i]);
    }
    end = passage.end;
  }
  out.append(part.substr(end));
  return out;
}

}  // namespace dragoman
