#include "engine/math/gemm.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/math/int8_crossover.h"
#include "engine/math/int8_kernels.h"
#include "engine/math/kernel_shapes.h"
#include "engine/math/kernels.h"

namespace dragoman {

namespace {

// The least work that is worth using another thread: multiplications of a product, and numbers to
// be converted.
constexpr int64_t kLeastProduct = 1 << 17;
constexpr int kLeastConversion = 1 << 12;

// The number of pieces of work of this size that make up a part worth giving to a thread.
int Grain(int64_t least, int64_t piece) {
  return static_cast<int>((least + piece - 1) / std::max<int64_t>(piece, 1));
}

// The error, with advice on what to do.
absl::Status Instead(const absl::Status& status, absl::string_view advice) {
  return absl::Status(status.code(), absl::StrCat(status.message(), "; ", advice));
}

}  // namespace

void GemmInput::Assign(MatrixView<const float> x, Precision precision, ThreadTeam* team) {
  DRAGOMAN_CHECK(x.contiguous());
  x_ = float32_ = x;
  if (precision == Precision::kFloat32) return SpaceRows(team);
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

void GemmInput::SpaceRows(ThreadTeam* team) {
  const int stride = Float32Gemm::RowStride(x_.rows(), x_.cols());
  if (stride == x_.cols()) return;
  spaced_.Resize(x_.rows(), stride);
  float32_ = spaced_.view().Cols(0, x_.cols());
  team->Split(x_.rows(), Grain(kLeastConversion, x_.cols()), [&](int, int first, int end) {
    for (int r = first; r < end; ++r) std::copy_n(x_.Row(r).data(), x_.cols(), &spaced_.Row(r)[0]);
  });
}

absl::StatusOr<PackedGemm> PackedGemm::Create(MatrixView<const float> weight,
                                              absl::Span<const float> bias, Activation activation,
                                              Arithmetic arithmetic,
                                              absl::Span<const float> steps) {
  const auto [precision, matmul] = arithmetic;
  DRAGOMAN_CHECK(precision != Precision::kAuto);
  if (precision == Precision::kInt8) return CreateInt8(weight, bias, activation, matmul, steps);
  if (precision == Precision::kFloat32 && matmul != Matmul::kOneDnn) {
    return PackedGemm(precision, Float32Gemm(weight, bias, activation, Float32TileInUse()));
  }
  if (precision == Precision::kBFloat16 && matmul != Matmul::kOneDnn && BFloat16Gemm::Possible()) {
    return PackedGemm(precision, BFloat16Gemm(weight, bias, activation));
  }
  if (precision == Precision::kBFloat16 && matmul == Matmul::kNative) {
    return absl::FailedPreconditionError(
        "bfloat16 is multiplied by oneDNN alone on this CPU, want matmul auto or onednn");
  }
  if (precision == Precision::kBFloat16 && matmul == Matmul::kAuto && !OneDnnHasBFloat16()) {
    return FailedPreconditionError(
        "this CPU (", OneDnnIsa(), ") does not multiply bfloat16 natively, ",
        "want precision float32 or int8 (or matmul onednn, which is slow here)");
  }
  absl::StatusOr<OneDnnGemm> onednn = OneDnnGemm::Create(weight, bias, activation, precision);
  if (!onednn.ok()) {
    return Instead(onednn.status(), precision == Precision::kFloat32
                                        ? "want matmul auto or native"
                                        : "want precision float32 or int8");
  }
  return PackedGemm(precision, *std::move(onednn));
}

absl::StatusOr<PackedGemm::Help> PackedGemm::HelpFor(int outputs, int inputs, Matmul matmul) {
  Help help;
  help.rows = matmul == Matmul::kNative   ? kNeverFaster
              : matmul == Matmul::kOneDnn ? 1
                                          : OneDnnInt8Crossover();
  if (help.rows == kNeverFaster) return help;
  absl::StatusOr<OneDnnInt8> made = OneDnnInt8::Create(inputs, outputs);
  if (matmul == Matmul::kOneDnn && !made.ok()) {
    return Instead(made.status(), "want matmul auto or native");
  }
  // Packing a weight twice to be a little faster is not worth its memory.
  if (made.ok() && (matmul == Matmul::kOneDnn || made->InPlace())) help.onednn = *std::move(made);
  return help;
}

PackedGemm PackedGemm::Int8With(Int8Gemm int8, Help help) {
  PackedGemm gemm(Precision::kInt8, std::move(int8));
  gemm.onednn_int8_ = std::move(help.onednn);
  gemm.onednn_rows_ = help.rows;
  return gemm;
}

absl::StatusOr<PackedGemm> PackedGemm::CreateInt8(MatrixView<const float> weight,
                                                  absl::Span<const float> bias,
                                                  Activation activation, Matmul matmul,
                                                  absl::Span<const float> steps) {
  ASSIGN_OR_RETURN(Help help, HelpFor(weight.rows(), weight.cols(), matmul));
  ASSIGN_OR_RETURN(Int8Gemm int8, help.has_own_weights()
                                      ? Int8Gemm::CreateToFinish(weight, bias, activation, steps)
                                      : Int8Gemm::Create(weight, bias, activation, steps));
  if (help.has_own_weights()) help.onednn->Pack(weight, steps);
  return Int8With(std::move(int8), std::move(help));
}

std::optional<PackedGemm> PackedGemm::Restore(const std::shared_ptr<const PackedFile>& file,
                                              const std::string& name, int outputs, int inputs,
                                              Activation activation, Arithmetic arithmetic) {
  if (arithmetic.precision != Precision::kInt8) return std::nullopt;
  absl::StatusOr<Help> help = HelpFor(outputs, inputs, arithmetic.matmul);
  if (!help.ok() || help->has_own_weights()) return std::nullopt;
  std::optional<Int8Gemm> int8 = Int8Gemm::Restore(file, name, outputs, inputs, activation);
  if (!int8.has_value()) return std::nullopt;
  return Int8With(*std::move(int8), *std::move(help));
}

void PackedGemm::Store(const std::string& name, PackedFileWriter* file) const {
  const auto* const int8 = std::get_if<Int8Gemm>(&gemm_);
  if (int8 != nullptr && readable()) int8->Store(name, file);
}

int PackedGemm::inputs() const {
  return std::visit([](const auto& gemm) { return gemm.inputs(); }, gemm_);
}

int PackedGemm::outputs() const {
  return std::visit([](const auto& gemm) { return gemm.outputs(); }, gemm_);
}

bool PackedGemm::readable() const {
  if (const auto* onednn = std::get_if<OneDnnGemm>(&gemm_)) return onednn->readable();
  return !onednn_int8_.has_value() || onednn_int8_->reads_panels();
}

void PackedGemm::AddWeights(int output, float factor, absl::Span<float> to) const {
  DRAGOMAN_CHECK(readable() && static_cast<int>(to.size()) == inputs());
  std::visit([&](const auto& gemm) { gemm.AddWeights(output, factor, to); }, gemm_);
}

// oneDNN's weights are packed as a whole or in large parts, so a team also divides rows; the
// weights of our kernels are in panels, so it divides panels.
PackedGemm::Plan PackedGemm::PlanFor(int rows, int members) const {
  if (rows == 0) return {.pieces = 0, .grain = 1};
  if (const auto* onednn = std::get_if<OneDnnGemm>(&gemm_)) {
    constexpr int kLeastRows = 8;  // because every part reads all the weights
    const int tile = onednn->tile();
    const int strip = (kLeastRows + tile - 1) / tile * tile;
    return {.pieces = (rows + strip - 1) / strip, .grain = 1, .strip = strip};
  }
  if (onednn_int8_.has_value()) {
    const OneDnnInt8::Blocks blocks = onednn_int8_->Cut(rows, members);
    if (blocks.height >= onednn_rows_) {
      return {.pieces = blocks.count, .grain = 1, .blocks = blocks};
    }
  }
  const auto* int8 = std::get_if<Int8Gemm>(&gemm_);
  const auto* bfloat16 = std::get_if<BFloat16Gemm>(&gemm_);
  const int panels = int8 != nullptr       ? int8->panels()
                     : bfloat16 != nullptr ? bfloat16->panels()
                                           : std::get<Float32Gemm>(gemm_).panels();
  const int64_t products = int64_t{inputs()} * outputs() * rows;
  return {.pieces = panels, .grain = Grain(kLeastProduct, products / panels)};
}

void PackedGemm::Compute(const Plan& plan, int first, int end, const GemmInput& x,
                         MatrixView<float> y, OneDnnScratch* scratch) const {
  if (plan.blocks.count > 0) {
    const auto& int8 = std::get<Int8Gemm>(gemm_);
    onednn_int8_->Apply(int8, x.int8_, plan.blocks, first, end, y, scratch);
  } else if (const auto* onednn = std::get_if<OneDnnGemm>(&gemm_)) {
    const int row = first * plan.strip;
    const int rows = std::min(end * plan.strip, y.rows()) - row;
    const void* const from = precision_ == Precision::kBFloat16
                                 ? static_cast<const void*>(x.bfloat16_.Row(row).data())
                                 : x.x_.Row(row).data();
    onednn->Apply(from, y.Rows(row, rows), scratch);
  } else if (const auto* int8 = std::get_if<Int8Gemm>(&gemm_)) {
    int8->Apply(x.int8_, first, end, y);
  } else if (const auto* bfloat16 = std::get_if<BFloat16Gemm>(&gemm_)) {
    bfloat16->Apply(x.bfloat16_.view(), first, end, y);
  } else {
    std::get<Float32Gemm>(gemm_).Apply(x.float32_, first, end, y);
  }
}

void PackedGemm::Apply(const GemmInput& x, MatrixView<float> y, GemmScratch* scratch) const {
  DRAGOMAN_CHECK(x.x_.cols() == inputs() && y.cols() == outputs() && x.rows() == y.rows());
  const Plan plan = PlanFor(y.rows(), scratch->team.size());
  scratch->team.Split(plan.pieces, plan.grain, [&](int member, int first, int end) {
    Compute(plan, first, end, x, y, &scratch->onednn[member]);
  });
}

void PackedGemm::ApplyAlone(const GemmInput& x, MatrixView<float> y, int member,
                            GemmScratch* scratch) const {
  DRAGOMAN_CHECK(x.x_.cols() == inputs() && y.cols() == outputs() && x.rows() == y.rows());
  const Plan plan = PlanFor(y.rows(), 1);
  Compute(plan, 0, plan.pieces, x, y, &scratch->onednn[member]);
}

void PackedGemm::Apply(MatrixView<const float> x, MatrixView<float> y, GemmScratch* scratch) const {
  scratch->input.Assign(x, precision_, &scratch->team);
  Apply(scratch->input, y, scratch);
}

absl::Status CanMultiply(Arithmetic arithmetic) {
  constexpr int kInputs = 128, kOutputs = 64;
  Matrix<float> weight(kOutputs, kInputs);
  std::fill_n(weight.view().data(), kInputs * kOutputs, 1.0f);
  const Arithmetic resolved(Resolve(arithmetic.precision), arithmetic.matmul);
  return PackedGemm::Create(weight.view(), {}, Activation::kNone, resolved).status();
}

std::string GemmMatmul(Arithmetic arithmetic) {
  if (arithmetic.matmul != Matmul::kAuto) return NameOf(arithmetic.matmul);
  switch (Resolve(arithmetic.precision)) {
    case Precision::kFloat32:
      return "native";
    case Precision::kBFloat16:
      return BFloat16Gemm::Possible() ? "native" : "onednn";
    default:
      return OneDnnInt8Crossover() == kNeverFaster ? "native" : "native+onednn";
  }
}

std::string GemmIsa(Arithmetic arithmetic) {
  const std::string who = GemmMatmul(arithmetic);
  if (who == "onednn") return OneDnnIsa();
  if (Resolve(arithmetic.precision) == Precision::kFloat32) return HighwayIsa();
  if (Resolve(arithmetic.precision) == Precision::kBFloat16) return "neon_bf16";
  return who == "native" ? Int8Isa() : absl::StrCat(Int8Isa(), "+", OneDnnIsa());
}

std::string Fingerprint(Arithmetic arithmetic) {
  const Precision precision = Resolve(arithmetic.precision);
  // Sums in int8 are exact, whichever library computes them.
  const bool rounds = precision != Precision::kInt8 && GemmMatmul(arithmetic) == "onednn";
  return absl::StrCat(NameOf(precision), "/",
                      rounds ? absl::StrCat("onednn-", OneDnnVersion(), "-", OneDnnIsa(), "/") : "",
                      FusesMulAdd() ? "fma-" : "mul-add-", kArithmeticVersion);
}

}  // namespace dragoman
