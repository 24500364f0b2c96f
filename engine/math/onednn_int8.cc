#include "engine/math/onednn_int8.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr int kMostRows = OneDnnMatmul::kMaxRows;

// Which part of the activations is multiplied.
enum class Half { kWhole, kQuotient, kRemainder };

// Copies x, x / 2 or x mod 2.
void Take(Half half, MatrixView<const uint8_t> x, MatrixView<unsigned char> out) {
  for (int r = 0; r < x.rows(); ++r) {
    const uint8_t* const from = x.Row(r).data();
    unsigned char* const to = out.Row(r).data();
    switch (half) {
      case Half::kWhole:
        std::copy_n(from, x.cols(), to);
        break;
      case Half::kQuotient:
        for (int i = 0; i < x.cols(); ++i) to[i] = from[i] >> 1;
        break;
      case Half::kRemainder:
        for (int i = 0; i < x.cols(); ++i) to[i] = from[i] & 1;
        break;
    }
  }
}

// A product with known sums, with the largest possible numbers, so that any rounding or saturation
// on the way shows.
class ExactTrial {
 public:
  explicit ExactTrial(const OneDnnMatmul& matmul)
      : matmul_(matmul),
        inputs_(matmul.shape().inputs),
        outputs_(matmul.shape().outputs),
        weight_(outputs_, inputs_),
        packed_(1, static_cast<int>(matmul.packed_bytes())),
        x_(kMostRows, inputs_),
        sums_(kMostRows, outputs_) {
    // Of every four outputs, one has the largest weights, one the smallest, one large ones and one
    // any.
    for (int o = 0; o < outputs_; ++o) {
      for (int8_t& w : weight_.Row(o)) {
        const int any = Next() % 255 - 127;
        const int weights[] = {127, -127, 127 - Next() % 8, any};
        w = static_cast<int8_t>(weights[o % 4]);
      }
    }
    matmul.Pack(std::as_const(weight_).view(), reinterpret_cast<std::byte*>(packed_.Row(0).data()));
  }

  // Whether sums are exact for x up to `most`.
  bool Holds(int most) {
    for (int r = 0; r < kMostRows; ++r) {
      for (uint8_t& x : x_.Row(r)) {
        const int any = Next() % (most + 1);
        const int numbers[] = {most, most - Next() % 8, any};
        x = static_cast<uint8_t>(numbers[r % 3]);
      }
    }
    return HoldsFor(1) && HoldsFor(4) && HoldsFor(17);
  }

 private:
  bool HoldsFor(int rows) {
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

  // One of 256 numbers.
  int Next() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<int>(state_ >> 24);
  }

  const OneDnnMatmul& matmul_;
  const int inputs_, outputs_;
  uint32_t state_ = 1;
  Matrix<int8_t> weight_;  // [outputs, inputs]
  Matrix<unsigned char> packed_;
  Matrix<uint8_t> x_;     // [kMostRows, inputs]
  Matrix<int32_t> sums_;  // [kMostRows, outputs]
  PrimitiveScratch scratch_;
};

// Products of matrices of one shape, and the largest x for which their sums are exact.
struct Family {
  enum class Exact { kWhole, kHalves, kNever };
  std::shared_ptr<const OneDnnMatmul> matmul;
  Exact exact;
};

absl::StatusOr<Family> MakeFamily(const MatmulShape& shape) {
  using Exact = Family::Exact;
  ASSIGN_OR_RETURN(std::shared_ptr<const OneDnnMatmul> matmul, OneDnnMatmul::Create(shape, 1));
  ExactTrial trial(*matmul);
  const Exact exact = trial.Holds(255)   ? Exact::kWhole
                      : trial.Holds(127) ? Exact::kHalves
                                         : Exact::kNever;
  return Family{std::move(matmul), exact};
}

// Created by the first use and then kept.
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
  // The weights of a part; the cache has room for the sums beside them.
  constexpr int kPartBytes = 256 << 10;
  constexpr int kMostPanels = 8;
  // This many products of 7-bit by 7-bit numbers have a sum of 24 bits.
  constexpr int kExactInFloat = 1024;
  const int panels = (outputs + Int8Gemm::kPanelWidth - 1) / Int8Gemm::kPanelWidth;
  OneDnnInt8 int8;
  int8.inputs_ = RoundUp(inputs, Int8Gemm::kQuad);
  int8.outputs_ = outputs;
  int8.panels_ =
      std::clamp(kPartBytes / (inputs * Int8Gemm::kPanelWidth), 1, std::min(kMostPanels, panels));
  int8.parts_ = (panels + int8.panels_ - 1) / int8.panels_;
  for (const int slice : {int8.inputs_, std::min(int8.inputs_, kExactInFloat)}) {
    ASSIGN_OR_RETURN(const bool exact, int8.Slice(slice));
    if (exact) return int8;
  }
  return FailedPreconditionError("oneDNN's sums of 8 bit products by a ", inputs, " x ", outputs,
                                 " matrix are not exact on this CPU (", OneDnnIsa(), ")");
}

absl::StatusOr<bool> OneDnnInt8::Slice(int inputs) {
  slice_ = inputs;
  slices_ = (inputs_ + inputs - 1) / inputs;
  const int last_inputs = inputs_ - (slices_ - 1) * slice_;
  const int all_panels = (outputs_ + Int8Gemm::kPanelWidth - 1) / Int8Gemm::kPanelWidth;
  const int last_panels = all_panels - (parts_ - 1) * panels_;
  reads_panels_ = slices_ == 1;
  halves_ = false;
  for (const int p : {0, 1}) {
    for (const int s : {0, 1}) {
      ASSIGN_OR_RETURN(Family family,
                       FamilyOf(s == 0 ? slice_ : last_inputs, p == 0 ? panels_ : last_panels));
      if (family.exact == Family::Exact::kNever) return false;
      halves_ = halves_ || family.exact == Family::Exact::kHalves;
      reads_panels_ = reads_panels_ && family.matmul->packs_panels();
      matmuls_[p][s] = std::move(family.matmul);
    }
  }
  return true;
}

void OneDnnInt8::Pack(MatrixView<const float> weight, absl::Span<const float> steps) {
  packed_ = WeightMemory(static_cast<size_t>(parts_) * slices_ * matmuls_[0][0]->packed_bytes());
  const int width = panels_ * Int8Gemm::kPanelWidth;
  Matrix<int8_t> quantized(width, inputs_);
  for (int part = 0; part < parts_; ++part) {
    std::memset(quantized.view().data(), 0, static_cast<size_t>(width) * inputs_);
    for (int o = part * width; o < std::min(outputs_, (part + 1) * width); ++o) {
      QuantizeWeights(weight.Row(o), StepOf(steps, o), quantized.Row(o - part * width).data());
    }
    for (int s = 0; s < slices_; ++s) {
      const MatmulShape& shape = matmul(part, s).shape();
      const MatrixView<const int8_t> rows = std::as_const(quantized).view().Rows(0, shape.outputs);
      matmul(part, s).Pack(rows.Cols(s * slice_, shape.inputs), packed(part, s));
    }
  }
}

OneDnnInt8::Blocks OneDnnInt8::Cut(int rows, int members) const {
  constexpr int kLeastHeight = 16;  // fewer rows are not worth reading a part of the weights for
  const int enough = (members + parts_ - 1) / parts_;
  const int strips =
      std::max((rows + kMostRows - 1) / kMostRows, std::min(enough, rows / kLeastHeight));
  const int height = (rows + strips - 1) / strips;
  return {height, (rows + height - 1) / height * parts_};
}

// All blocks of a part are consecutive, while its weights are in the cache.
void OneDnnInt8::Apply(const Int8Gemm& gemm, const QuantizedRows& x, const Blocks& blocks,
                       int first, int end, MatrixView<float> y, OneDnnScratch* scratch) const {
  DRAGOMAN_CHECK(x.values.cols() == inputs_ && y.cols() == outputs_);
  DRAGOMAN_CHECK(x.values.rows() == y.rows() && gemm.outputs() == outputs_);
  const int strips = blocks.count / parts_;
  for (int b = first; b < end; ++b) {
    const int part = b / strips;
    const int row = b % strips * blocks.height;
    const int rows = std::min(blocks.height, y.rows() - row);
    const int first_panel = part * panels_;
    const MatrixView<const uint8_t> block = x.values.view().Rows(row, rows);
    if (InPlace()) {
      const OneDnnMatmul& multiply = matmul(part, 0);
      scratch->sums.Resize(rows, multiply.shape().outputs);
      multiply.Multiply(rows, block.data(),
                        reinterpret_cast<const std::byte*>(gemm.panel(first_panel)), nullptr,
                        scratch->sums.view().data(), &scratch->primitive);
    } else {
      TakeSums(gemm, part, block, scratch);
    }
    gemm.Finish(x, std::as_const(scratch->sums).view(), row, first_panel, y);
  }
}

void OneDnnInt8::TakeSums(const Int8Gemm& gemm, int part, MatrixView<const uint8_t> x,
                          OneDnnScratch* scratch) const {
  const int width = matmul(part, 0).shape().outputs;
  const size_t count = static_cast<size_t>(x.rows()) * width;
  scratch->sums.Resize(x.rows(), width);
  scratch->partial_sums.Resize(x.rows(), width);
  int32_t* const sums = scratch->sums.view().data();
  int32_t* const partial = scratch->partial_sums.view().data();
  std::fill_n(sums, count, 0);
  const auto add = [&](int s, Half half, int factor) {
    const OneDnnMatmul& multiply = matmul(part, s);
    const int inputs = multiply.shape().inputs;
    const std::byte* const weights =
        reads_panels_ ? reinterpret_cast<const std::byte*>(gemm.panel(part * panels_))
                      : packed(part, s);
    scratch->x.Resize(x.rows(), inputs);
    Take(half, x.Cols(s * slice_, inputs), scratch->x.view());
    multiply.Multiply(x.rows(), scratch->x.view().data(), weights, nullptr, partial,
                      &scratch->primitive);
    for (size_t i = 0; i < count; ++i) sums[i] += factor * partial[i];
  };
  for (int s = 0; s < slices_; ++s) {
    add(s, halves_ ? Half::kQuotient : Half::kWhole, halves_ ? 2 : 1);
    if (halves_) add(s, Half::kRemainder, 1);
  }
}

}  // namespace dragoman
