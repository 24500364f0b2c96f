#include "engine/math/onednn_gemm.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "engine/math/kernels.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace dragoman {
namespace {

using dnnl::memory;

const dnnl::engine& CpuEngine() {
  static const dnnl::engine* const engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

dnnl::stream& ThreadStream() {
  thread_local dnnl::stream stream(CpuEngine());
  return stream;
}

// Makes `buffer` hold at least `bytes`.
void ResizeBytes(size_t bytes, Matrix<unsigned char>* buffer) {
  constexpr size_t kPage = 4096;
  buffer->Resize(static_cast<int>(bytes / kPage) + 1, kPage);
}

// A thread of ours multiplies alone: parallelism comes from workers, and a team of threads could
// split a sum.  The number of threads is a setting of each thread.
void MultiplyOnThisThreadAlone() {
  thread_local const bool done = [] {
    omp_set_num_threads(1);
    return true;
  }();
  static_cast<void>(done);
}

memory::desc RowMajor(int rows, int cols, memory::data_type type = memory::data_type::f32) {
  return memory::desc({rows, cols}, type, memory::format_tag::ab);
}

// Debian 12 has oneDNN 2.6 and Debian 13 has 3.7.  What the two spell differently stands here.
#if DNNL_VERSION_MAJOR >= 3

dnnl::matmul::primitive_desc DescribeMatmul(const memory::desc& x, const memory::desc& weight,
                                            const memory::desc& bias, const memory::desc& y,
                                            const dnnl::primitive_attr& attributes) {
  return dnnl::matmul::primitive_desc(CpuEngine(), x, weight, bias, y, attributes);
}

void AppendActivation(dnnl::algorithm algorithm, float alpha, dnnl::post_ops* post_ops) {
  post_ops->append_eltwise(algorithm, alpha, 0.0f);
}

#else

dnnl::matmul::primitive_desc DescribeMatmul(const memory::desc& x, const memory::desc& weight,
                                            const memory::desc& bias, const memory::desc& y,
                                            const dnnl::primitive_attr& attributes) {
  return dnnl::matmul::primitive_desc(dnnl::matmul::desc(x, weight, bias, y), attributes,
                                      CpuEngine());
}

void AppendActivation(dnnl::algorithm algorithm, float alpha, dnnl::post_ops* post_ops) {
  post_ops->append_eltwise(1.0f, algorithm, alpha, 0.0f);
}

#endif

dnnl::primitive_attr Attributes(Activation activation) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops post_ops;
  switch (activation) {
    case Activation::kNone:
      break;
    case Activation::kRelu:
      AppendActivation(dnnl::algorithm::eltwise_relu, 0.0f, &post_ops);
      break;
    case Activation::kSilu:
      AppendActivation(dnnl::algorithm::eltwise_swish, 1.0f, &post_ops);
      break;
    case Activation::kGelu:
      AppendActivation(dnnl::algorithm::eltwise_gelu_erf, 0.0f, &post_ops);
      break;
  }
  attributes.set_post_ops(post_ops);
  return attributes;
}

}  // namespace

// The primitives that multiply by a weight of one shape, one for each number of rows.
class MatmulFamily {
 public:
  // The family of a shape, made at its first use and then kept.
  static absl::StatusOr<std::shared_ptr<const MatmulFamily>> Get(int inputs, int outputs,
                                                                 Activation activation);

  MatmulFamily(int inputs, int outputs, Activation activation);

  size_t packed_bytes() const { return packed_.get_size(); }

  // Writes `weight` [outputs, inputs] into `packed`, in this family's layout.
  void Pack(MatrixView<const float> weight, std::byte* packed) const;

  // REQUIRES: 1 <= rows <= kMaxRows.
  void Multiply(int rows, const uint16_t* x, const std::byte* packed, const float* bias, float* y,
                OneDnnScratch* scratch) const;

  // FAILED_PRECONDITION if a primitive is a slow reference one.
  absl::Status CheckFast() const;
  // FAILED_PRECONDITION if a row's result depends on the rows beside it.
  absl::Status CheckRowLaw() const;

 private:
  struct Entry {
    dnnl::matmul primitive;
    memory::desc x, y;
    size_t scratch_bytes = 0;
    std::string implementation;
  };

  const int inputs_;
  const int outputs_;
  memory::desc bias_;
  memory::desc packed_;
  std::vector<Entry> entries_;  // [rows - 1]
};

MatmulFamily::MatmulFamily(int inputs, int outputs, Activation activation)
    : inputs_(inputs), outputs_(outputs), bias_(RowMajor(1, outputs)) {
  constexpr memory::data_type kType = memory::data_type::bf16;
  const dnnl::primitive_attr attributes = Attributes(activation);
  const auto describe = [&](int rows, const memory::desc& weight) {
    return DescribeMatmul(RowMajor(rows, inputs, kType), weight, bias_, RowMajor(rows, outputs),
                          attributes);
  };
  // The layout that the library likes best for many rows serves every other number as well.
  packed_ = describe(OneDnnGemm::kMaxRows,
                     memory::desc({inputs, outputs}, kType, memory::format_tag::any))
                .weights_desc();
  entries_.reserve(OneDnnGemm::kMaxRows);
  for (int rows = 1; rows <= OneDnnGemm::kMaxRows; ++rows) {
    const dnnl::matmul::primitive_desc description = describe(rows, packed_);
    entries_.push_back({dnnl::matmul(description), description.src_desc(), description.dst_desc(),
                        description.scratchpad_desc().get_size(), description.impl_info_str()});
  }
}

void MatmulFamily::Pack(MatrixView<const float> weight, std::byte* packed) const {
  const memory::desc transposed({inputs_, outputs_}, memory::data_type::f32,
                                memory::dims{1, weight.stride()});
  memory from(transposed, CpuEngine(), const_cast<float*>(weight.data()));
  memory to(packed_, CpuEngine(), packed);
  dnnl::reorder(from, to).execute(ThreadStream(), from, to);
  ThreadStream().wait();
}

void MatmulFamily::Multiply(int rows, const uint16_t* x, const std::byte* packed, const float* bias,
                            float* y, OneDnnScratch* scratch) const {
  const Entry& entry = entries_[rows - 1];
  ResizeBytes(entry.scratch_bytes, scratch);
  const dnnl::engine& engine = CpuEngine();
  const memory::desc scratchpad({static_cast<memory::dim>(entry.scratch_bytes)},
                                memory::data_type::u8, memory::format_tag::a);
  entry.primitive.execute(
      ThreadStream(), {{DNNL_ARG_SRC, memory(entry.x, engine, const_cast<uint16_t*>(x))},
                       {DNNL_ARG_WEIGHTS, memory(packed_, engine, const_cast<std::byte*>(packed))},
                       {DNNL_ARG_BIAS, memory(bias_, engine, const_cast<float*>(bias))},
                       {DNNL_ARG_DST, memory(entry.y, engine, y)},
                       {DNNL_ARG_SCRATCHPAD, memory(scratchpad, engine, scratch->view().data())}});
}

absl::Status MatmulFamily::CheckFast() const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].implementation.find("ref") == std::string::npos) continue;
    return absl::FailedPreconditionError(absl::StrCat("no fast bfloat16 multiplication of ", i + 1,
                                                      " rows by a ", inputs_, " x ", outputs_,
                                                      " matrix on this CPU (", OneDnnIsa(), ")"));
  }
  return absl::OkStatus();
}

absl::Status MatmulFamily::CheckRowLaw() const {
  const int most = OneDnnGemm::kMaxRows;
  Matrix<float> weight(outputs_, inputs_), bias(1, outputs_), x(most, inputs_);
  // Numbers with full mantissas and of varied size: any other order of summation shows.
  uint32_t state = 1;
  const auto fill = [&state](MatrixView<float> m) {
    for (int r = 0; r < m.rows(); ++r) {
      for (float& value : m.Row(r)) {
        state = state * 1664525u + 1013904223u;
        value = (static_cast<float>(state >> 8) / (1 << 24) - 0.5f) * 0.3f;
      }
    }
  };
  fill(weight.view());
  fill(bias.view());
  fill(x.view());
  const WeightMemory packed(packed_bytes());
  Pack(weight.view(), packed.data());

  Matrix<uint16_t> x16(most, inputs_);
  ToBFloat16(x.view(), x16.view());
  OneDnnScratch scratch;
  Matrix<float> alone(most, outputs_), together(most, outputs_);
  for (int r = 0; r < most; ++r) {
    Multiply(1, x16.Row(r).data(), packed.data(), bias.Row(0).data(), alone.Row(r).data(),
             &scratch);
  }
  for (const int rows : {2, 3, 4, 5, 8, 13, 32, most}) {
    const int first = most - rows;  // so that a row stands at another place in every block
    Multiply(rows, x16.Row(first).data(), packed.data(), bias.Row(0).data(), together.Row(0).data(),
             &scratch);
    if (std::memcmp(alone.Row(first).data(), together.Row(0).data(),
                    sizeof(float) * rows * outputs_) != 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("bfloat16 results depend on the batch on this CPU (", OneDnnIsa(), ", ",
                       rows, " rows by a ", inputs_, " x ", outputs_, " matrix)"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const MatmulFamily>> MatmulFamily::Get(int inputs, int outputs,
                                                                      Activation activation) {
  using Key = std::tuple<int, int, Activation>;
  static absl::Mutex mutex(absl::kConstInit);
  static auto* const families = new std::map<Key, std::shared_ptr<const MatmulFamily>>();

  absl::MutexLock lock(&mutex);
  std::shared_ptr<const MatmulFamily>& family = (*families)[{inputs, outputs, activation}];
  if (family == nullptr) {
    auto made = std::make_shared<const MatmulFamily>(inputs, outputs, activation);
    RETURN_IF_ERROR(made->CheckFast());
    RETURN_IF_ERROR(made->CheckRowLaw());
    family = std::move(made);
  }
  return family;
}

absl::StatusOr<OneDnnGemm> OneDnnGemm::Create(MatrixView<const float> weight,
                                              absl::Span<const float> bias, Activation activation) {
  DRAGOMAN_CHECK(bias.empty() || static_cast<int>(bias.size()) == weight.rows());
  MultiplyOnThisThreadAlone();
  OneDnnGemm gemm;
  gemm.inputs_ = weight.cols();
  gemm.outputs_ = weight.rows();
  try {
    ASSIGN_OR_RETURN(gemm.family_, MatmulFamily::Get(gemm.inputs_, gemm.outputs_, activation));
    gemm.weight_ = WeightMemory(gemm.family_->packed_bytes());
    gemm.family_->Pack(weight, gemm.weight_.data());
  } catch (const dnnl::error& error) {
    return absl::FailedPreconditionError(
        absl::StrCat("this CPU (", OneDnnIsa(),
                     ") cannot multiply in bfloat16, want float32 or int8: oneDNN, a ",
                     gemm.inputs_, " x ", gemm.outputs_, " matrix: ", error.what()));
  }
  gemm.bias_.Resize(1, gemm.outputs_);
  if (bias.empty()) {
    std::fill_n(gemm.bias_.Row(0).data(), gemm.outputs_, 0.0f);
  } else {
    std::copy(bias.begin(), bias.end(), gemm.bias_.Row(0).begin());
  }
  return gemm;
}

void OneDnnGemm::Apply(MatrixView<const uint16_t> x, MatrixView<float> y,
                       OneDnnScratch* scratch) const {
  DRAGOMAN_CHECK(x.cols() == inputs_ && y.cols() == outputs_ && x.rows() == y.rows());
  DRAGOMAN_CHECK(x.contiguous() && y.contiguous());
  MultiplyOnThisThreadAlone();
  for (int first = 0; first < x.rows(); first += kMaxRows) {
    family_->Multiply(std::min(kMaxRows, x.rows() - first), x.Row(first).data(), weight_.data(),
                      bias_.Row(0).data(), y.Row(first).data(), scratch);
  }
}

std::string OneDnnIsa() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41:
      return "sse41";
    case dnnl::cpu_isa::avx:
      return "avx";
    case dnnl::cpu_isa::avx2:
      return "avx2";
    case dnnl::cpu_isa::avx2_vnni:
      return "avx2_vnni";
    case dnnl::cpu_isa::avx512_core:
      return "avx512_core";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "avx512_core_amx";
    default:
      return "generic";
  }
}

bool OneDnnHasBFloat16() {
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  return isa == dnnl::cpu_isa::avx512_core_bf16 || isa == dnnl::cpu_isa::avx512_core_amx;
}

}  // namespace dragoman
