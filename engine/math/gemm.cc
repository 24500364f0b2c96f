#include "engine/math/gemm.h"

#include "engine/math/kernels.h"

namespace dragoman {

void GemmInput::Assign(MatrixView<const float> x, Precision precision) {
  DRAGOMAN_CHECK(x.contiguous());
  x_ = x;
  if (precision == Precision::kInt8) {
    QuantizeRows(x, &int8_);
  } else if (precision == Precision::kBFloat16) {
    bfloat16_.Resize(x.rows(), x.cols());
    ToBFloat16(x, bfloat16_.view());
  }
}

absl::StatusOr<PackedGemm> PackedGemm::Create(MatrixView<const float> weight,
                                              absl::Span<const float> bias, Activation activation,
                                              Precision precision) {
  DRAGOMAN_CHECK(precision != Precision::kAuto);
  if (precision == Precision::kInt8) {
    ASSIGN_OR_RETURN(Int8Gemm int8, Int8Gemm::Create(weight, bias, activation));
    return PackedGemm(std::move(int8));
  }
  const OneDnnGemm::Type type =
      precision == Precision::kBFloat16 ? OneDnnGemm::Type::kBFloat16 : OneDnnGemm::Type::kFloat32;
  ASSIGN_OR_RETURN(OneDnnGemm gemm, OneDnnGemm::Create(weight, bias, activation, type));
  return PackedGemm(precision, std::move(gemm));
}

int PackedGemm::inputs() const {
  return std::visit([](const auto& gemm) { return gemm.inputs(); }, gemm_);
}

int PackedGemm::outputs() const {
  return std::visit([](const auto& gemm) { return gemm.outputs(); }, gemm_);
}

void PackedGemm::Apply(const GemmInput& x, MatrixView<float> y, GemmScratch* scratch) const {
  DRAGOMAN_CHECK(x.x_.cols() == inputs() && y.cols() == outputs() && x.rows() == y.rows());
  if (precision_ == Precision::kInt8) {
    std::get<Int8Gemm>(gemm_).Apply(x.int8_, y);
  } else if (precision_ == Precision::kBFloat16) {
    std::get<OneDnnGemm>(gemm_).Apply(x.bfloat16_.view(), y, &scratch->onednn);
  } else {
    std::get<OneDnnGemm>(gemm_).Apply(x.x_, y, &scratch->onednn);
  }
}

void PackedGemm::Apply(MatrixView<const float> x, MatrixView<float> y, GemmScratch* scratch) const {
  scratch->input.Assign(x, precision_);
  Apply(scratch->input, y, scratch);
}

std::string GemmIsa(Precision precision) {
  return precision == Precision::kInt8 ? Int8Isa() : OneDnnIsa();
}

}  // namespace dragoman
