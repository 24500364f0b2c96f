#include "engine/decode/search.h"

#include "engine/decode/beam.h"

namespace dragoman {

std::unique_ptr<Search> MakeSearch(const SearchTask& task) {
  return std::make_unique<Beam>(task.options, task.rules->eos_id);
}

}  // namespace dragoman
