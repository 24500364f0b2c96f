#include "engine/math/gemm.h"

namespace dragoman {

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
  return PackedGemm(std::move(gemm));
}

int PackedGemm::inputs() const {
  return std::visit([](const auto& gemm) { return gemm.inputs(); }, gemm_);
}

int PackedGemm::outputs() const {
  return std::visit([](const auto& gemm) { return gemm.outputs(); }, gemm_);
}

void PackedGemm::Apply(MatrixView<const float> x, MatrixView<float> y, GemmScratch* scratch) const {
  DRAGOMAN_CHECK(x.cols() == inputs() && y.cols() == outputs() && x.rows() == y.rows());
  if (const auto* int8 = std::get_if<Int8Gemm>(&gemm_)) {
    QuantizeRows(x, &scratch->quantized);
    int8->Apply(scratch->quantized, y);
  } else {
    std::get<OneDnnGemm>(gemm_).Apply(x, y, &scratch->onednn);
  }
}

std::string GemmIsa(Precision precision) {
  return precision == Precision::kInt8 ? Int8Isa() : OneDnnIsa();
}

}  // namespace dragoman
