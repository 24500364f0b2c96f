#include "engine/decode/search.h"

#include "engine/decode/beam.h"

namespace dragoman {

std::unique_ptr<Search> MakeSearch(const SearchOptions& options) {
  return std::make_unique<Beam>(options);
}

}  // namespace dragoman
