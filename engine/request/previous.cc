#include "engine/request/previous.h"

#include <algorithm>

#include "engine/text/splitter.h"
#include "engine/text/text_span.h"

namespace dragoman {
namespace {

// How many bytes of either are at the same beginning or end, as a part of the longer one.
double Likeness(std::string_view a, std::string_view b) {
  const size_t shorter = std::min(a.size(), b.size());
  const size_t longer = std::max(a.size(), b.size());
  size_t begin = 0, end = 0;
  while (begin < shorter && a[begin] == b[begin]) ++begin;
  while (end < shorter - begin && a[a.size() - 1 - end] == b[b.size() - 1 - end]) ++end;
  return longer == 0 ? 0.0 : static_cast<double>(begin + end) / static_cast<double>(longer);
}

// Below this, sentences have little more in common than what begins or ends many of them.
constexpr double kAlike = 0.2;

}  // namespace

PreviousVersion::PreviousVersion(std::string_view source, std::string_view translation,
                                 bool split) {
  if (source.empty() || translation.empty()) return;
  if (split) {
    const std::vector<TextSpan> sources = SplitSentences(source);
    const std::vector<TextSpan> targets = SplitSentences(translation);
    for (size_t i = 0; i < sources.size() && sources.size() == targets.size(); ++i) {
      sentences_.emplace_back(source.substr(sources[i].begin, sources[i].size()),
                              translation.substr(targets[i].begin, targets[i].size()));
    }
  }
  // Sentences that cannot be told apart are one.
  if (sentences_.empty()) sentences_.emplace_back(source, translation);
}

std::string_view PreviousVersion::DraftOf(std::string_view sentence) const {
  std::string_view draft;
  double best = kAlike;
  for (const auto& [source, translation] : sentences_) {
    const double likeness = Likeness(source, sentence);
    if (likeness <= best) continue;
    best = likeness;
    draft = translation;
  }
  return draft;
}

}  // namespace dragoman
