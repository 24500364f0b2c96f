#include "engine/search/make_search.h"

#include "engine/search/beam.h"
#include "engine/search/searches.h"

namespace dragoman {

std::unique_ptr<Search> MakeSearch(const SearchTask& task) {
  const SearchOptions& options = task.options;
  if (task.score_prefix) return NewForced(task);
  if (options.sampling) return NewSampler(task);
  if (options.return_alternatives) return NewAlternatives(task);
  if (!task.phrases.empty()) return NewConstrainedBeam(task);
  if (options.beam_groups > 1) return NewDiverseBeam(task);
  if (options.shrinking_beam) return NewShrinkingBeam(task);
  return std::make_unique<Beam>(task);
}

int MaxLive(const SearchTask& task) {
  const SearchOptions& options = task.options;
  if (task.score_prefix) return 1;
  if (options.sampling) return options.num_hypotheses;
  if (options.return_alternatives) return options.num_hypotheses * options.beam_size;
  if (!task.phrases.empty()) return ConstrainedBeamWidth(task);
  return options.beam_size;
}

}  // namespace dragoman
