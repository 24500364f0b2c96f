#include "engine/math/onednn_gemm.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/status.h"
#include "engine/math/kernels.h"

namespace dragoman {
namespace {

// The tile heights to try, in this order. 6 rows are a full block of oneDNN's AVX2 kernel. 16 are
// one of AMX in bfloat16, where an incomplete block sums in another order, although not at every
// shape: so fewer are not even tried there.
std::vector<int> Tiles(Precision precision) {
  if (precision == Precision::kBFloat16 && OneDnnHasAmx()) return {16};
  return {1, 6, 16};
}

// A weight and some rows, to find out whether a tile height keeps the law.
class LawTrial {
 public:
  explicit LawTrial(const OneDnnMatmul& matmul)
      : matmul_(matmul),
        row_bytes_(static_cast<size_t>(matmul.shape().inputs) * BytesOf(matmul.shape().precision)),
        packed_(1, static_cast<int>(matmul.packed_bytes())),
        bias_(matmul.shape().outputs),
        x_(kMost, static_cast<int>(row_bytes_)),
        block_(kMost, static_cast<int>(row_bytes_)),
        alone_(kMost, matmul.shape().outputs),
        together_(kMost, matmul.shape().outputs) {
    // Numbers with full mantissas and different magnitudes, so that any other order of summation
    // shows.
    uint32_t state = 1;
    const auto next = [&state] {
      state = state * 1664525u + 1013904223u;
      return (static_cast<float>(state >> 8) / (1 << 24) - 0.5f) * 0.3f;
    };
    const int inputs = matmul.shape().inputs;
    Matrix<float> weight(matmul.shape().outputs, inputs), x(kMost, inputs);
    std::generate_n(weight.view().data(), static_cast<size_t>(weight.rows()) * inputs, next);
    std::generate_n(x.view().data(), static_cast<size_t>(kMost) * inputs, next);
    std::generate(bias_.begin(), bias_.end(), next);
    matmul.Pack(weight.view(), reinterpret_cast<std::byte*>(packed_.Row(0).data()));
    if (matmul.shape().precision == Precision::kBFloat16) {
      auto* const halves = reinterpret_cast<BFloat16*>(x_.view().data());
      ToBFloat16(x.view(), MatrixView<BFloat16>(halves, kMost, inputs));
    } else {
      std::memcpy(x_.view().data(), x.view().data(), kMost * row_bytes_);
    }
  }

  bool Holds() {
    const int tile = matmul_.tile();
    // Each row at the start of a tile that is otherwise zeros.
    std::memset(block_.view().data(), 0, kMost * row_bytes_);
    for (int r = 0; r < kMost; ++r) {
      std::memcpy(block_.view().data(), x_.Row(r).data(), row_bytes_);
      MultiplyBlock(tile);
      std::copy_n(together_.Row(0).data(), together_.cols(), alone_.Row(r).data());
    }
    // Blocks of every number of tiles up to 16, then of selected ones, each starting at a different
    // row.
    int first = 1;
    for (int rows = tile; rows <= kMost; rows += tile * (rows < 16 * tile ? 1 : 3), first += 5) {
      Multiply(first, rows);
      for (int r = 0; r < rows; ++r) {
        if (std::memcmp(together_.Row(r).data(), alone_.Row((first + r) % kMost).data(),
                        sizeof(float) * together_.cols()) != 0) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  static constexpr int kMost = OneDnnMatmul::kMaxRows;

  const std::byte* packed() const {
    return reinterpret_cast<const std::byte*>(packed_.Row(0).data());
  }

  // Writes the product of the first `rows` rows of block_ to together_.
  void MultiplyBlock(int rows) {
    matmul_.Multiply(rows, block_.view().data(), packed(), bias_.data(), together_.view().data(),
                     &scratch_);
  }

  // Writes that of the rows first, first + 1, ... of x_, continuing at row 0 after the last.
  void Multiply(int first, int rows) {
    for (int r = 0; r < rows; ++r) {
      std::memcpy(block_.Row(r).data(), x_.Row((first + r) % kMost).data(), row_bytes_);
    }
    MultiplyBlock(rows);
  }

  const OneDnnMatmul& matmul_;
  const size_t row_bytes_;
  Matrix<unsigned char> packed_;
  std::vector<float> bias_;
  Matrix<unsigned char> x_;         // [kMost, row_bytes_]
  Matrix<unsigned char> block_;     // some of its rows
  Matrix<float> alone_, together_;  // [kMost, outputs]
  PrimitiveScratch scratch_;
};

absl::StatusOr<std::shared_ptr<const OneDnnMatmul>> FindLawful(const MatmulShape& shape) {
  for (const int tile : Tiles(shape.precision)) {
    ASSIGN_OR_RETURN(std::shared_ptr<const OneDnnMatmul> matmul, OneDnnMatmul::Create(shape, tile));
    if (LawTrial(*matmul).Holds()) return matmul;
  }
  return FailedPreconditionError("oneDNN's ", NameOf(shape.precision),
                                 " results depend on the batch on this CPU (", OneDnnIsa(), ", a ",
                                 shape.inputs, " x ", shape.outputs, " matrix)");
}

// Multiplies by weights of a shape.  Created by the first use and then kept.
absl::StatusOr<std::shared_ptr<const OneDnnMatmul>> Lawful(const MatmulShape& shape) {
  static absl::Mutex mutex(absl::kConstInit);
  static auto* const kept = new std::map<MatmulShape, std::shared_ptr<const OneDnnMatmul>>();

  absl::MutexLock lock(&mutex);
  std::shared_ptr<const OneDnnMatmul>& matmul = (*kept)[shape];
  if (matmul == nullptr) {
    ASSIGN_OR_RETURN(matmul, FindLawful(shape));
  }
  return matmul;
}

}  // namespace

absl::StatusOr<OneDnnGemm> OneDnnGemm::Create(MatrixView<const float> weight,
                                              absl::Span<const float> bias, Activation activation,
                                              Precision precision) {
  DRAGOMAN_CHECK(precision == Precision::kFloat32 || precision == Precision::kBFloat16);
  DRAGOMAN_CHECK(bias.empty() || static_cast<int>(bias.size()) == weight.rows());
  OneDnnGemm gemm;
  ASSIGN_OR_RETURN(gemm.matmul_, Lawful({.precision = precision,
                                         .inputs = weight.cols(),
                                         .outputs = weight.rows(),
                                         .activation = activation}));
  gemm.weight_ = WeightMemory(gemm.matmul_->packed_bytes());
  gemm.matmul_->Pack(weight, gemm.weight_.data());
  gemm.bias_.Resize(1, weight.rows());
  std::fill_n(gemm.bias_.Row(0).data(), weight.rows(), 0.0f);
  std::copy(bias.begin(), bias.end(), gemm.bias_.Row(0).begin());
  return gemm;
}

void OneDnnGemm::Apply(const void* x, MatrixView<float> y, OneDnnScratch* scratch) const {
  DRAGOMAN_CHECK(y.cols() == outputs() && y.contiguous());
  const auto* from = static_cast<const unsigned char*>(x);
  const size_t row_bytes = static_cast<size_t>(inputs()) * BytesOf(matmul_->shape().precision);
  const float* const bias = bias_.Row(0).data();
  const int tile = matmul_->tile();
  const int most = OneDnnMatmul::kMaxRows / tile * tile;
  const int whole = y.rows() / tile * tile;
  for (int first = 0; first < whole; first += most) {
    matmul_->Multiply(std::min(most, whole - first), from + first * row_bytes, weight_.data(), bias,
                      y.Row(first).data(), &scratch->primitive);
  }
  const int left = y.rows() - whole;
  if (left == 0) return;
  scratch->x.Resize(tile, static_cast<int>(row_bytes));
  scratch->y.Resize(tile, outputs());
  unsigned char* const filled = scratch->x.view().data();
  std::memcpy(filled, from + whole * row_bytes, left * row_bytes);
  std::memset(filled + left * row_bytes, 0, (tile - left) * row_bytes);
  matmul_->Multiply(tile, filled, weight_.data(), bias, scratch->y.view().data(),
                    &scratch->primitive);
  std::copy_n(scratch->y.view().data(), static_cast<size_t>(left) * outputs(), y.Row(whole).data());
}

}  // namespace dragoman
