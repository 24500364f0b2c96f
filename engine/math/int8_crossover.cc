// Both ways are timed over a set of weights larger than a second level cache, like those of a
// model: our kernels prefetch the next weights while they multiply, and oneDNN's do not.
//
// Our way wins for few rows. oneDNN is used from the number of rows where it wins by a margin,
// there and at every larger number: another process on the machine must not make it look better
// than it is.

#include "engine/math/int8_crossover.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/math/int8_gemm.h"
#include "engine/math/onednn_int8.h"
#include "engine/math/trial.h"

namespace dragoman {
namespace {

constexpr int kInputs = 512, kOutputs = 512;
constexpr int kCopies = 24;  // of 256 KiB
constexpr int kRounds = 3;
constexpr double kMargin = 0.95;

class Race {
 public:
  explicit Race(OneDnnInt8 onednn)
      : onednn_(std::move(onednn)),
        x_(TrialNumbers(OneDnnMatmul::kMaxRows, kInputs)),
        y_(OneDnnMatmul::kMaxRows, kOutputs) {
    const Matrix<float> weight = TrialNumbers(kOutputs, kInputs);
    const std::vector<float> bias(kOutputs, 0.0f);
    for (int i = 0; i < kCopies; ++i) {
      absl::StatusOr<Int8Gemm> gemm = Int8Gemm::Create(weight.view(), bias, Activation::kNone);
      DRAGOMAN_CHECK(gemm.ok());
      gemms_.push_back(*std::move(gemm));
    }
  }

  // Whether oneDNN wins with this many rows.
  bool OneDnnWins(int rows) {
    quantized_.Resize(rows, kInputs);
    QuantizeRows(std::as_const(x_).view().Rows(0, rows), 0, rows, &quantized_);
    const MatrixView<float> y = y_.view().Rows(0, rows);
    const OneDnnInt8::Blocks blocks = onednn_.Cut(rows, /*members=*/1);
    const auto run = [&](int variant) {
      for (const Int8Gemm& gemm : gemms_) {
        if (variant == 0) {
          gemm.Apply(quantized_, 0, gemm.panels(), y);
        } else {
          onednn_.Apply(gemm, quantized_, blocks, 0, blocks.count, y, &scratch_);
        }
      }
    };
    return Fastest(2, kRounds, kMargin, run) == 1;
  }

 private:
  OneDnnInt8 onednn_;
  std::vector<Int8Gemm> gemms_;
  Matrix<float> x_, y_;
  QuantizedRows quantized_;
  OneDnnScratch scratch_;
};

}  // namespace

int MeasureOneDnnInt8Crossover() {
  absl::StatusOr<OneDnnInt8> onednn = OneDnnInt8::Create(kInputs, kOutputs);
  if (!onednn.ok() || !onednn->InPlace()) return kNeverFaster;
  Race race(*std::move(onednn));
  int crossover = kNeverFaster;
  for (const int rows : {OneDnnMatmul::kMaxRows, 48, 32, 24, 16, 12, 8, 6, 4}) {
    if (!race.OneDnnWins(rows)) break;
    crossover = rows;
  }
  return crossover;
}

int OneDnnInt8Crossover() {
  static const int crossover = OneDnnHasAmx() ? MeasureOneDnnInt8Crossover() : kNeverFaster;
  return crossover;
}

}  // namespace dragoman
