// Where the packed weights of a model are kept from one load to the next (packed_file.h), and what
// they were made from.

#ifndef DRAGOMAN_ENGINE_MODEL_PACKED_PLACE_H_
#define DRAGOMAN_ENGINE_MODEL_PACKED_PLACE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/base/packed_file.h"
#include "engine/text/shortlist.h"

namespace dragoman {

// Instead of a directory for all models: a directory ".dragoman" in that of each model.
inline constexpr char kBesideModel[] = "beside";

struct PackedPlace {
  std::string path;
  std::string key;  // another one after any change of the model's files or of the layout
};

// What weights are packed from and for.
struct PackedOrigin {
  std::string directory;  // of the model
  std::string lora;       // the directory of its adapter; "": none
  ShortlistSource shortlist;
  std::string
      arithmetic;  // what decides how they are packed: the precision, the CPU's instructions
};

// The place in `cache`, a directory or kBesideModel.  Tells files from others by their sizes, times
// and numbers on the disk, without reading them.
PackedPlace PackedPlaceOf(const std::string& cache, const PackedOrigin& origin);

// Begins to write packed weights to that place, and creates the directory for them.
absl::StatusOr<std::unique_ptr<PackedFileWriter>> WritePacked(const PackedPlace& place);

// Packed weights that were just used are kept for longer.  Their file changes by that, so at most
// once a day.
void KeepPacked(const std::string& path);

// Removes packed weights beside these, which were just stored, that have not been used for a month,
// and what a crash left unfinished.
void RemoveStale(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_PACKED_PLACE_H_
