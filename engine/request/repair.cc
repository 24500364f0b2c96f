#include "engine/request/repair.h"

#include <algorithm>
#include <utility>

#include "engine/model/attention_tree.h"
#include "engine/text/segment_index.h"

namespace dragoman {
namespace {

// Which words of b are not matched with equal ones of a, by the longest common subsequence.
std::vector<bool> Unmatched(absl::Span<const std::string_view> a,
                            absl::Span<const std::string_view> b) {
  const size_t columns = b.size() + 1;
  std::vector<size_t> common((a.size() + 1) * columns, 0);  // of a from i and b from j
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      common[i * columns + j] =
          a[i] == b[j] ? common[(i + 1) * columns + j + 1] + 1
                       : std::max(common[(i + 1) * columns + j], common[i * columns + j + 1]);
    }
  }
  std::vector<bool> unmatched(b.size(), true);
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      unmatched[j++] = false;
      ++i;
    } else if (common[(i + 1) * columns + j] >= common[i * columns + j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return unmatched;
}

}  // namespace

void AddToShortlist(absl::Span<const int32_t> tokens, std::vector<int32_t>* shortlist) {
  if (shortlist->empty()) return;
  shortlist->insert(shortlist->end(), tokens.begin(), tokens.end());
  std::sort(shortlist->begin(), shortlist->end());
  shortlist->erase(std::unique(shortlist->begin(), shortlist->end()), shortlist->end());
}

std::vector<char> ChangedTokens(std::string_view stored, std::string_view sentence,
                                absl::Span<const TextSpan> tokens) {
  const std::vector<std::string_view> words = ComparedWords(sentence);
  const std::vector<bool> unmatched = Unmatched(ComparedWords(stored), words);
  std::vector<char> changed(tokens.size(), 0);
  for (size_t w = 0; w < unmatched.size(); ++w) {
    if (!unmatched[w]) continue;
    const size_t begin = static_cast<size_t>(words[w].data() - sentence.data());
    const size_t end = begin + words[w].size();
    for (size_t t = 0; t < tokens.size(); ++t) {
      if (tokens[t].begin < end && tokens[t].end > begin) changed[t] = 1;
    }
  }
  return changed;
}

bool IsRepairable(const Job& plain) {
  const SearchOptions& options = plain.options;
  return !options.sampling && !options.return_alternatives && options.num_hypotheses == 1 &&
         options.beam_groups <= 1 && options.mbr_candidates == 0 && plain.phrases.empty() &&
         plain.prefix.empty() && !plain.score_prefix &&
         plain.model->network().takes_several_tokens() && plain.model->network().attends() &&
         plain.source.size() <= AttentionTree::kMaxSourceTokens;
}

JobPtr MakeRepair(const Job& plain, std::vector<int32_t> target, std::vector<char> changed,
                  float most_loss) {
  auto job = std::make_unique<Job>(plain);
  job->options.beam_size = 1;
  job->options.shrinking_beam = false;
  job->draft = std::move(target);
  job->draft.resize(
      std::min(job->draft.size(), static_cast<size_t>(plain.model->spec().max_positions) - 1));
  job->draft.push_back(plain.rules->eos_id);
  job->draft_loss = most_loss;
  job->changed = std::move(changed);
  job->attention = job->margins = true;
  AddToShortlist(job->draft, &job->shortlist);
  return job;
}

bool IsDoubtful(const Hypothesis& repair, float doubtful_loss) {
  float loss = 0.0f;
  for (const float margin : repair.token_margins) loss -= margin;
  return loss > doubtful_loss * static_cast<float>(repair.token_margins.size());
}

}  // namespace dragoman
