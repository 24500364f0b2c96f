#include "engine/math/onednn_int8.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace dragoman {
namespace {

constexpr int kMostRows = OneDnnMatmul::kMaxRows;

int RoundUp(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

// x / 2 or x mod 2 of `rows` rows of activations.
enum class Half { kQuotient, kRemainder };
void Take(Half half, MatrixView<const uint8_t> x, unsigned char* out) {
  const size_t count = static_cast<size_t>(x.rows()) * x.cols();
  const uint8_t* const from = x.data();
  if (half == Half::kQuotient) {
    for (size_t i = 0; i < count; ++i) out[i] = from[i] >> 1;
  } else {
    for (size_t i = 0; i < count; ++i) out[i] = from[i] & 1;
  }
}

// A product whose sums can be told beforehand, with numbers as large as they come: whatever rounds
// or saturates on the way shows.
class ExactTrial {
 public:
  explicit ExactTrial(const OneDnnMatmul& matmul);

  // Whether sums are exact for x up to `most`.
  bool Holds(int most);

 private:
  bool HoldsFor(int rows);

  const OneDnnMatmul& matmul_;
  const int inputs_, outputs_;
  uint32_t state_ = 1;
  Matrix<int8_t> weight_;  // [outputs, inputs]
  Matrix<unsigned char> packed_;
  Matrix<uint8_t> x_;     // [kMostRows, inputs]
  Matrix<int32_t> sums_;  // [kMostRows, outputs]
  PrimitiveScratch scratch_;
};

ExactTrial::ExactTrial(const OneDnnMatmul& matmul)
    : matmul_(matmul),
      inputs_(matmul.shape().inputs),
      outputs_(matmul.shape().outputs),
      weight_(outputs_, inputs_),
      packed_(1, static_cast<int>(matmul.packed_bytes())),
      x_(kMostRows, inputs_),
      sums_(kMostRows, outputs_) {
  // Of every three outputs, one has the greatest weights, one the least and one any.
  for (int o = 0; o < outputs_; ++o) {
    for (int8_t& w : weight_.Row(o)) {
      state_ = state_ * 1664525u + 1013904223u;
      w = static_cast<int8_t>(o % 3 == 0   ? 127
                              : o % 3 == 1 ? -127
                                           : static_cast<int>(state_ >> 24) % 255 - 127);
    }
  }
  matmul.Pack(std::as_const(weight_).view(), reinterpret_cast<std::byte*>(packed_.Row(0).data()));
}

bool ExactTrial::Holds(int most) {
  for (int r = 0; r < kMostRows; ++r) {
    for (uint8_t& x : x_.Row(r)) {
      state_ = state_ * 1664525u + 1013904223u;
      x = static_cast<uint8_t>(r % 2 == 0 ? most : static_cast<int>(state_ >> 24) % (most + 1));
    }
  }
  return HoldsFor(1) && HoldsFor(4) && HoldsFor(17);
}

bool ExactTrial::HoldsFor(int rows) {
  const auto* packed = reinterpret_cast<const std::byte*>(packed_.Row(0).data());
  matmul_.Multiply(rows, x_.view().data(), packed, nullptr, sums_.view().data(), &scratch_);
  for (int r = 0; r < rows; ++r) {
    for (int o = 0; o < outputs_; ++o) {
      const int8_t* const w = weight_.Row(o).data();
      const uint8_t* const x = x_.Row(r).data();
      int32_t sum = 0;
      for (int i = 0; i < inputs_; ++i) sum += x[i] * w[i];
      if (sum != sums_.Row(r)[o]) return false;
    }
  }
  return true;
}

// Products by matrices of one shape.
struct Family {
  std::shared_ptr<const OneDnnMatmul> matmul;
  bool halves;
};

absl::StatusOr<Family> MakeFamily(const MatmulShape& shape) {
  ASSIGN_OR_RETURN(std::shared_ptr<const OneDnnMatmul> matmul, OneDnnMatmul::Create(shape, 1));
  ExactTrial trial(*matmul);
  if (trial.Holds(255)) return Family{std::move(matmul), false};
  if (trial.Holds(127)) return Family{std::move(matmul), true};
  return absl::FailedPreconditionError(
      absl::StrCat("oneDNN's sums of 8 bit products by a ", shape.inputs, " x ", shape.outputs,
                   " matrix are not exact on this CPU (", OneDnnIsa(), ")"));
}

// Made at its first use and then kept.
absl::StatusOr<Family> FamilyOf(int inputs, int panels) {
  static absl::Mutex mutex(absl::kConstInit);
  static auto* const kept = new std::map<MatmulShape, absl::StatusOr<Family>>();

  const MatmulShape shape = {.precision = Precision::kInt8,
                             .inputs = RoundUp(inputs, Int8Gemm::kQuad),
                             .outputs = panels * Int8Gemm::kPanelWidth};
  absl::MutexLock lock(&mutex);
  const auto found = kept->find(shape);
  if (found != kept->end()) return found->second;
  return kept->emplace(shape, MakeFamily(shape)).first->second;
}

}  // namespace

absl::StatusOr<OneDnnInt8> OneDnnInt8::Create(int inputs, int outputs) {
  // Weights of a part; there is room for the sums beside them.
  constexpr int kPartBytes = 256 << 10;
  constexpr int kMostPanels = 8;
  const int panels = (outputs + Int8Gemm::kPanelWidth - 1) / Int8Gemm::kPanelWidth;
  OneDnnInt8 int8;
  int8.outputs_ = outputs;
  int8.panels_ =
      std::clamp(kPartBytes / (inputs * Int8Gemm::kPanelWidth), 1, std::min(kMostPanels, panels));
  int8.parts_ = (panels + int8.panels_ - 1) / int8.panels_;
  ASSIGN_OR_RETURN(Family family, FamilyOf(inputs, int8.panels_));
  ASSIGN_OR_RETURN(Family last, FamilyOf(inputs, panels - (int8.parts_ - 1) * int8.panels_));
  int8.halves_ = family.halves || last.halves;
  int8.reads_panels_ = family.matmul->packs_panels() && last.matmul->packs_panels();
  int8.matmul_ = std::move(family.matmul);
  int8.last_matmul_ = std::move(last.matmul);
  return int8;
}

void OneDnnInt8::Pack(MatrixView<const float> weight) {
  const int inputs = matmul_->shape().inputs;
  packed_ = WeightMemory(static_cast<size_t>(parts_ - 1) * matmul_->packed_bytes() +
                         last_matmul_->packed_bytes());
  Matrix<int8_t> quantized;
  for (int part = 0; part < parts_; ++part) {
    const int first = part * matmul_->shape().outputs;
    const int part_outputs = matmul(part).shape().outputs;
    quantized.Resize(part_outputs, inputs);
    std::memset(quantized.view().data(), 0, static_cast<size_t>(part_outputs) * inputs);
    for (int o = first; o < std::min(outputs_, first + part_outputs); ++o) {
      QuantizeWeights(weight.Row(o), quantized.Row(o - first).data());
    }
    matmul(part).Pack(std::as_const(quantized).view(),
                      packed_.data() + part * matmul_->packed_bytes());
  }
}

OneDnnInt8::Blocks OneDnnInt8::Cut(int rows, int members) const {
  constexpr int kLeastHeight = 16;  // that a part of the weights is worth to be read for
  const int enough = (members + parts_ - 1) / parts_;
  const int strips =
      std::max((rows + kMostRows - 1) / kMostRows, std::min(enough, rows / kLeastHeight));
  const int height = (rows + strips - 1) / strips;
  return {height, (rows + height - 1) / height * parts_};
}

// All blocks of a part follow each other, while its weights are warm.
void OneDnnInt8::Apply(const Int8Gemm& gemm, const QuantizedRows& x, const Blocks& blocks,
                       int first, int end, MatrixView<float> y, OneDnnScratch* scratch) const {
  DRAGOMAN_CHECK(x.values.cols() == matmul_->shape().inputs && y.cols() == outputs_);
  DRAGOMAN_CHECK(x.values.rows() == y.rows() && gemm.outputs() == outputs_);
  const int strips = blocks.count / parts_;
  for (int b = first; b < end; ++b) {
    const int part = b / strips;
    const int row = b % strips * blocks.height;
    const int rows = std::min(blocks.height, y.rows() - row);
    const int first_panel = part * panels_;
    const std::byte* const weights =
        reads_panels_ ? reinterpret_cast<const std::byte*>(gemm.panel(first_panel)) : packed(part);
    TakeSums(part, weights, x.values.view().Rows(row, rows), scratch);
    gemm.Finish(x, std::as_const(scratch->sums).view(), row, first_panel, y);
  }
}

void OneDnnInt8::TakeSums(int part, const std::byte* weights, MatrixView<const uint8_t> x,
                          OneDnnScratch* scratch) const {
  const OneDnnMatmul& multiply = matmul(part);
  const auto take = [&](const void* from, Matrix<int32_t>* sums) {
    sums->Resize(x.rows(), multiply.shape().outputs);
    multiply.Multiply(x.rows(), from, weights, nullptr, sums->view().data(), &scratch->primitive);
  };
  if (!halves_) return take(x.data(), &scratch->sums);
  scratch->x.Resize(x.rows(), x.cols());
  unsigned char* const part_of_x = scratch->x.view().data();
  Take(Half::kRemainder, x, part_of_x);
  take(part_of_x, &scratch->sums_of_odd);
  Take(Half::kQuotient, x, part_of_x);
  take(part_of_x, &scratch->sums);
  int32_t* const sums = scratch->sums.view().data();
  const int32_t* const odd = scratch->sums_of_odd.view().data();
  const size_t count = static_cast<size_t>(x.rows()) * multiply.shape().outputs;
  for (size_t i = 0; i < count; ++i) sums[i] = 2 * sums[i] + odd[i];
}

}  // namespace dragoman
