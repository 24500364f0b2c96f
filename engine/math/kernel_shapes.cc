// Every tile multiplies the same matrices.  The first one stays unless another is faster by a
// margin (trial.h).

#include "engine/math/kernel_shapes.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "engine/math/int8_kernels.h"
#include "engine/math/kernels.h"
#include "engine/math/trial.h"

namespace dragoman {
namespace {

// Two numbers of rows are timed: a few, which do not fill a very wide tile, and many, which fill
// all.
constexpr int kManyRows = 48;
constexpr int kRows[] = {8, kManyRows};
constexpr int kTurns = 12;
constexpr double kTileMargin = 0.97;

Float32Gemm::Tile FastestTile() {
  const auto tiles = Float32Gemm::Tiles();
  if (tiles.size() == 1) return tiles[0];
  // The outputs are a multiple of those of every tile; the weights do not fit into any first level
  // cache.
  const Matrix<float> weight = TrialNumbers(576, 512), x = TrialNumbers(kManyRows, 512);
  std::vector<Float32Gemm> gemms;
  for (const auto& tile : tiles) {
    gemms.emplace_back(weight.view(), absl::Span<const float>(), Activation::kNone, tile);
  }
  Matrix<float> y(x.rows(), weight.rows());
  const int fastest = Fastest(static_cast<int>(tiles.size()), kTurns, kTileMargin, [&](int i) {
    for (const int rows : kRows) {
      gemms[i].Apply(x.view().Rows(0, rows), 0, gemms[i].panels(), y.view().Rows(0, rows));
    }
  });
  return tiles[fastest];
}

struct ChosenTiles {
  absl::Mutex mutex;
  // By instruction set.  (Only tests change that of a process.)
  std::map<std::string, Float32Gemm::Tile> measured ABSL_GUARDED_BY(mutex);
  std::optional<Float32Gemm::Tile> for_test ABSL_GUARDED_BY(mutex);
};

ChosenTiles& TheTiles() {
  static auto* const tiles = new ChosenTiles();
  return *tiles;
}

}  // namespace

Float32Gemm::Tile Float32TileInUse() {
  ChosenTiles& tiles = TheTiles();
  absl::MutexLock lock(&tiles.mutex);
  if (tiles.for_test.has_value()) return *tiles.for_test;
  const std::string isa = HighwayIsa();
  const auto found = tiles.measured.find(isa);
  if (found != tiles.measured.end()) return found->second;
  return tiles.measured[isa] = FastestTile();
}

void SetFloat32TileForTest(std::optional<Float32Gemm::Tile> tile) {
  absl::MutexLock lock(&TheTiles().mutex);
  TheTiles().for_test = tile;
}

std::string DescribeShape(Precision precision) {
  if (precision == Precision::kFloat32) {
    const auto [rows, outputs] = Float32TileInUse();
    return absl::StrCat("tiles of ", rows, " x ", outputs);
  }
  if (precision != Precision::kInt8 || Int8ExtensionInUse() == Int8Extension::kNone) {
    return "";
  }
  return absl::StrCat("tiles of ", kInt8TallestTile, " x ", kInt8Panel);
}

}  // namespace dragoman
