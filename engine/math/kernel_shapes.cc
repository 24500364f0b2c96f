// Every variant multiplies the same matrices.  The first one stays unless another is faster by a
// margin (trial.h).

#include "engine/math/kernel_shapes.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "engine/math/int8_gemm.h"
#include "engine/math/int8_kernels.h"
#include "engine/math/kernels.h"
#include "engine/math/trial.h"

namespace dragoman {
namespace {

// Two numbers of rows are timed: a few, which do not fill a very wide tile, and many, which fill
// all.
constexpr int kMostRows = 48;
constexpr int kRows[] = {8, kMostRows};
constexpr int kTurns = 12;
constexpr double kMargin = 0.97;

Float32Gemm::Tile FastestTile() {
  const auto tiles = Float32Gemm::Tiles();
  if (tiles.size() == 1) return tiles[0];
  // The outputs are a multiple of those of every tile; the weights do not fit into any first level
  // cache.
  const Matrix<float> weight = TrialNumbers(576, 512), x = TrialNumbers(kMostRows, 512);
  std::vector<Float32Gemm> gemms;
  for (const auto& tile : tiles) {
    gemms.emplace_back(weight.view(), absl::Span<const float>(), Activation::kNone, tile);
  }
  Matrix<float> y(x.rows(), weight.rows());
  const int fastest = Fastest(static_cast<int>(tiles.size()), kTurns, kMargin, [&](int i) {
    for (const int rows : kRows) {
      gemms[i].Apply(x.view().Rows(0, rows), 0, gemms[i].panels(), y.view().Rows(0, rows));
    }
  });
  return tiles[fastest];
}

bool NearPrefetchHelps() {
  if (!HasVnni()) return true;
  // Long panels, where it makes the most difference.
  const Matrix<float> weight = TrialNumbers(256, 2048), x = TrialNumbers(kMostRows, 2048);
  absl::StatusOr<Int8Gemm> gemm = Int8Gemm::Create(weight.view(), {}, Activation::kNone);
  DRAGOMAN_CHECK(gemm.ok());
  QuantizedRows quantized;
  quantized.Resize(x.rows(), x.cols());
  QuantizeRows(x.view(), 0, x.rows(), &quantized);
  Matrix<float> y(x.rows(), weight.rows());
  return Fastest(2, kTurns, kMargin, [&](int i) {
           gemm->set_near_prefetch(i == 0);
           gemm->Apply(quantized, 0, gemm->panels(), y.view());
         }) == 0;
}

// What was measured under an instruction set.  (Only tests change that of a process.)
struct Measured {
  std::optional<Float32Gemm::Tile> float32;
  std::optional<bool> int8_near_prefetch;
};

struct Shapes {
  absl::Mutex mutex;
  std::map<std::string, Measured> measured ABSL_GUARDED_BY(mutex);
  std::optional<KernelShapes> for_test ABSL_GUARDED_BY(mutex);
};

Shapes& TheShapes() {
  static auto* const shapes = new Shapes();
  return *shapes;
}

}  // namespace

Float32Gemm::Tile Float32TileInUse() {
  Shapes& shapes = TheShapes();
  absl::MutexLock lock(&shapes.mutex);
  if (shapes.for_test.has_value()) return shapes.for_test->float32;
  auto& tile = shapes.measured[HighwayIsa()].float32;
  if (!tile.has_value()) tile = FastestTile();
  return *tile;
}

bool Int8NearPrefetchInUse() {
  Shapes& shapes = TheShapes();
  absl::MutexLock lock(&shapes.mutex);
  if (shapes.for_test.has_value()) return shapes.for_test->int8_near_prefetch;
  auto& near_prefetch = shapes.measured[HighwayIsa()].int8_near_prefetch;
  if (!near_prefetch.has_value()) near_prefetch = NearPrefetchHelps();
  return *near_prefetch;
}

KernelShapes ShapesInUse() { return {Float32TileInUse(), Int8NearPrefetchInUse()}; }

void SetShapesForTest(std::optional<KernelShapes> shapes) {
  absl::MutexLock lock(&TheShapes().mutex);
  TheShapes().for_test = shapes;
}

std::string DescribeShape(Precision precision) {
  if (precision == Precision::kFloat32) {
    const auto [rows, outputs] = Float32TileInUse();
    return absl::StrCat("tiles of ", rows, " x ", outputs);
  }
  if (precision != Precision::kInt8 || !HasVnni()) return "";
  return absl::StrCat("tiles of ", kInt8TallestTile, " x ", kInt8Panel,
                      Int8NearPrefetchInUse() ? "" : " without near prefetch");
}

}  // namespace dragoman
