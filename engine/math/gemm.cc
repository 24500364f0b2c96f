#include "engine/math/gemm.h"

#include <algorithm>
#include <cstdint>

#include "engine/math/kernels.h"

namespace dragoman {

namespace {

// A part of a product is worth the attention of another thread from so many multiplications, and a
// part of rows to be converted from so many numbers.
constexpr int64_t kLeastProduct = 1 << 17;
constexpr int kLeastConversion = 1 << 12;

// How many pieces of so much work make up a part.
int Grain(int64_t least, int64_t piece) {
  return static_cast<int>((least + piece - 1) / std::max<int64_t>(piece, 1));
}

}  // namespace

void GemmInput::Assign(MatrixView<const float> x, Precision precision, ThreadTeam* team) {
  DRAGOMAN_CHECK(x.contiguous());
  x_ = x;
  if (precision == Precision::kFloat32) return;
  if (precision == Precision::kInt8) {
    int8_.Resize(x.rows(), x.cols());
  } else {
    bfloat16_.Resize(x.rows(), x.cols());
  }
  team->Split(x.rows(), Grain(kLeastConversion, x.cols()), [&](int, int first, int end) {
    if (precision == Precision::kInt8) {
      QuantizeRows(x, first, end, &int8_);
    } else {
      ToBFloat16(x.Rows(first, end - first), bfloat16_.view().Rows(first, end - first));
    }
  });
}

absl::StatusOr<PackedGemm> PackedGemm::Create(MatrixView<const float> weight,
                                              absl::Span<const float> bias, Activation activation,
                                              Precision precision) {
  DRAGOMAN_CHECK(precision != Precision::kAuto);
  if (precision == Precision::kFloat32) {
    return PackedGemm(precision, Float32Gemm(weight, bias, activation));
  }
  if (precision == Precision::kInt8) {
    ASSIGN_OR_RETURN(Int8Gemm int8, Int8Gemm::Create(weight, bias, activation));
    return PackedGemm(precision, std::move(int8));
  }
  ASSIGN_OR_RETURN(OneDnnGemm bfloat16, OneDnnGemm::Create(weight, bias, activation));
  return PackedGemm(precision, std::move(bfloat16));
}

int PackedGemm::inputs() const {
  return std::visit([](const auto& gemm) { return gemm.inputs(); }, gemm_);
}

int PackedGemm::outputs() const {
  return std::visit([](const auto& gemm) { return gemm.outputs(); }, gemm_);
}

// oneDNN's weights are packed as a whole, so the team shares out rows; our kernels' lie in panels.
void PackedGemm::Apply(const GemmInput& x, MatrixView<float> y, GemmScratch* scratch) const {
  DRAGOMAN_CHECK(x.x_.cols() == inputs() && y.cols() == outputs() && x.rows() == y.rows());
  const int64_t row = int64_t{inputs()} * outputs();
  if (const auto* onednn = std::get_if<OneDnnGemm>(&gemm_)) {
    const MatrixView<const uint16_t> from = x.bfloat16_.view();
    constexpr int kLeastRows = 8;  // since every part reads all the weights
    scratch->team.Split(y.rows(), kLeastRows, [&](int member, int first, int end) {
      const int rows = end - first;
      onednn->Apply(from.Rows(first, rows), y.Rows(first, rows), &scratch->onednn[member]);
    });
    return;
  }
  const auto share_panels = [&](const auto& gemm, const auto& from) {
    const int panels = gemm.panels();
    scratch->team.Split(panels, Grain(kLeastProduct, row * y.rows() / panels),
                        [&](int, int first, int end) { gemm.Apply(from, first, end, y); });
  };
  if (const auto* int8 = std::get_if<Int8Gemm>(&gemm_)) {
    share_panels(*int8, x.int8_);
  } else {
    share_panels(std::get<Float32Gemm>(gemm_), x.x_);
  }
}

void PackedGemm::ApplyAlone(const GemmInput& x, MatrixView<float> y, int member,
                            GemmScratch* scratch) const {
  DRAGOMAN_CHECK(x.x_.cols() == inputs() && y.cols() == outputs() && x.rows() == y.rows());
  if (const auto* onednn = std::get_if<OneDnnGemm>(&gemm_)) {
    onednn->Apply(x.bfloat16_.view(), y, &scratch->onednn[member]);
  } else if (const auto* int8 = std::get_if<Int8Gemm>(&gemm_)) {
    int8->Apply(x.int8_, 0, int8->panels(), y);
  } else {
    const auto& float32 = std::get<Float32Gemm>(gemm_);
    float32.Apply(x.x_, 0, float32.panels(), y);
  }
}

void PackedGemm::Apply(MatrixView<const float> x, MatrixView<float> y, GemmScratch* scratch) const {
  scratch->input.Assign(x, precision_, &scratch->team);
  Apply(scratch->input, y, scratch);
}

std::string GemmIsa(Precision precision) {
  switch (precision) {
    case Precision::kFloat32:
      return HighwayIsa();
    case Precision::kBFloat16:
      return OneDnnIsa();
    default:
      return Int8Isa();
  }
}

}  // namespace dragoman
