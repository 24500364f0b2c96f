#include "engine/search/make_search.h"

#include "engine/search/alternatives.h"
#include "engine/search/beam.h"
#include "engine/search/constrained_beam.h"
#include "engine/search/diverse_beam.h"
#include "engine/search/forced.h"
#include "engine/search/sampler.h"
#include "engine/search/shrinking_beam.h"

namespace dragoman {

std::unique_ptr<Search> MakeSearch(const SearchTask& task) {
  const SearchOptions& options = task.options;
  if (task.score_prefix) return std::make_unique<Forced>(task);
  if (options.sampling) return std::make_unique<Sampler>(task);
  if (options.return_alternatives) return std::make_unique<Alternatives>(task);
  if (!task.phrases.empty()) return std::make_unique<ConstrainedBeam>(task);
  if (options.beam_groups > 1) return std::make_unique<DiverseBeam>(task);
  if (options.shrinking_beam) return std::make_unique<ShrinkingBeam>(task);
  return std::make_unique<Beam>(task);
}

int MaxLive(const SearchTask& task) {
  const SearchOptions& options = task.options;
  if (task.score_prefix) return 1;
  if (options.sampling) return options.num_hypotheses;
  if (options.return_alternatives) return options.num_hypotheses * options.beam_size;
  if (!task.phrases.empty()) return ConstrainedBeam::Width(task);
  return options.beam_size;
}

}  // namespace dragoman
