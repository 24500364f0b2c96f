#include "engine/math/onednn_matmul.h"

#include <omp.h>

#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/huge_pages.h"
#include "engine/base/status.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace dragoman {

// Where the elements of a packed matrix are.  For example, in blocks of 16 rows by 64 columns whose
// rows lie together in pairs (blocks, the innermost first: 2 rows, 64 columns, 8 rows), element
// (19, 5) is row 1 of its pair, column 5, pair 1 of the block, in the second row of blocks:
//
//   19 = 1 + 2 * (1 + 8 * 1)        offset = 1 + 2 * (5 + 64 * 1) + stride of a row of blocks
//
// Each block takes a remainder of the index of its dimension and leaves the quotient to the next.
struct BlockedLayout {
  struct Block {
    int dimension, size;
  };

  size_t Offset(int row, int column) const {
    size_t index[] = {static_cast<size_t>(row), static_cast<size_t>(column)};
    size_t offset = 0, step = 1;
    for (const Block& block : blocks) {
      size_t& i = index[block.dimension];
      offset += i % block.size * step;
      i /= block.size;
      step *= block.size;
    }
    return offset + index[0] * strides[0] + index[1] * strides[1];
  }

  size_t strides[2];          // elements
  std::vector<Block> blocks;  // the innermost first
};

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

// Makes oneDNN use only the calling thread: parallelism comes from workers, and a team of oneDNN's
// threads could split a sum.  The number of threads is a setting of each thread.
void MultiplyOnThisThreadAlone() {
  thread_local const bool done = [] {
    omp_set_num_threads(1);
    return true;
  }();
  static_cast<void>(done);
}

// Debian 12 has oneDNN 2.6 and Debian 13 has 3.7.  Their differences in spelling are here.
#if DNNL_VERSION_MAJOR >= 3

dnnl::matmul::primitive_desc DescribeMatmul(const memory::desc& x, const memory::desc& weight,
                                            const memory::desc& bias, const memory::desc& y,
                                            const dnnl::primitive_attr& attributes) {
  return dnnl::matmul::primitive_desc(CpuEngine(), x, weight, bias, y, attributes);
}

void AppendActivation(dnnl::algorithm algorithm, float alpha, dnnl::post_ops* post_ops) {
  post_ops->append_eltwise(algorithm, alpha, 0.0f);
}

std::optional<BlockedLayout> LayoutOf(const memory::desc& matrix) {
  if (matrix.get_format_kind() != memory::format_kind::blocked) return std::nullopt;
  const memory::dims strides = matrix.get_strides();
  BlockedLayout layout = {{static_cast<size_t>(strides[0]), static_cast<size_t>(strides[1])}, {}};
  const memory::dims sizes = matrix.get_inner_blks(), dimensions = matrix.get_inner_idxs();
  for (int b = matrix.get_inner_nblks() - 1; b >= 0; --b) {
    layout.blocks.push_back({static_cast<int>(dimensions[b]), static_cast<int>(sizes[b])});
  }
  return layout;
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

std::optional<BlockedLayout> LayoutOf(const memory::desc& matrix) {
  if (matrix.data.format_kind != dnnl_blocked) return std::nullopt;
  const dnnl_blocking_desc_t& blocking = matrix.data.format_desc.blocking;
  BlockedLayout layout = {
      {static_cast<size_t>(blocking.strides[0]), static_cast<size_t>(blocking.strides[1])}, {}};
  for (int b = blocking.inner_nblks - 1; b >= 0; --b) {
    layout.blocks.push_back(
        {static_cast<int>(blocking.inner_idxs[b]), static_cast<int>(blocking.inner_blks[b])});
  }
  return layout;
}

#endif

dnnl::primitive_attr Attributes(Activation activation) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops post_ops;
  using Algorithm = dnnl::algorithm;
  constexpr std::pair<Algorithm, float> kFunctions[] = {{Algorithm::undef, 0.0f},
                                                        {Algorithm::eltwise_relu, 0.0f},
                                                        {Algorithm::eltwise_swish, 1.0f},
                                                        {Algorithm::eltwise_gelu_erf, 0.0f},
                                                        {Algorithm::eltwise_gelu_tanh, 0.0f},
                                                        {Algorithm::eltwise_swish, 1.702f}};
  const auto& [algorithm, alpha] = kFunctions[static_cast<size_t>(activation)];
  if (activation != Activation::kNone) AppendActivation(algorithm, alpha, &post_ops);
  attributes.set_post_ops(post_ops);
  return attributes;
}

// The data types of x, W and y, in this order.
struct Numbers {
  memory::data_type x, weight, y;
};

Numbers NumbersOf(Precision precision) {
  using Type = memory::data_type;
  if (precision == Precision::kBFloat16) return {Type::bf16, Type::bf16, Type::f32};
  if (precision == Precision::kInt8) return {Type::u8, Type::s8, Type::s32};
  return {Type::f32, Type::f32, Type::f32};
}

memory::desc RowMajor(int rows, int cols, memory::data_type type) {
  return memory::desc({rows, cols}, type, memory::format_tag::ab);
}

void Reorder(const memory::desc& from, const void* data, const memory::desc& to,
             std::byte* packed) {
  memory source(from, CpuEngine(), const_cast<void*>(data));
  memory target(to, CpuEngine(), packed);
  dnnl::reorder(source, target).execute(ThreadStream(), source, target);
  ThreadStream().wait();
}

bool IsSlow(const std::string& implementation) { return absl::StrContains(implementation, "ref"); }

// Blocks of 64 inputs by 64 outputs, with 4 inputs of an output side by side: Int8Gemm's panels.
memory::desc Panels(const MatmulShape& shape) {
  return memory::desc({shape.inputs, shape.outputs}, memory::data_type::s8,
                      memory::format_tag::BA16a64b4a);
}

// The layout for a weight, given the description of its product with many rows: the layout that the
// library prefers there serves every other number of rows as well.  Our own panels take precedence
// wherever there is a fast kernel for them.
memory::desc LayoutFor(
    const MatmulShape& shape,
    absl::FunctionRef<dnnl::matmul::primitive_desc(const memory::desc& weight)> describe) {
  if (shape.precision == Precision::kInt8) {
    try {
      if (!IsSlow(describe(Panels(shape)).impl_info_str())) return Panels(shape);
    } catch (const dnnl::error&) {  // not available in panels
    }
  }
  return describe(memory::desc({shape.inputs, shape.outputs}, NumbersOf(shape.precision).weight,
                               memory::format_tag::any))
      .weights_desc();
}

std::string NoFastKernel(const MatmulShape& shape, const char* why) {
  return absl::StrCat("oneDNN has no fast ", NameOf(shape.precision), " product by a ",
                      shape.inputs, " x ", shape.outputs, " matrix on this CPU (", OneDnnIsa(),
                      "): ", why);
}

}  // namespace

struct OneDnnMatmul::Primitives {
  struct Entry {
    dnnl::matmul primitive;
    memory::desc x, y;
    size_t scratch_bytes = 0;
  };

  memory::desc bias;  // empty in int8
  memory::desc packed;
  std::optional<BlockedLayout> layout;  // of `packed`
  std::vector<Entry> entries;           // [rows / tile - 1]
  std::string implementation;           // of the slowest kind among the entries
};

OneDnnMatmul::OneDnnMatmul(const MatmulShape& shape, int tile) : shape_(shape), tile_(tile) {
  const Numbers numbers = NumbersOf(shape.precision);
  const dnnl::primitive_attr attributes = Attributes(shape.activation);
  auto made = std::make_unique<Primitives>();
  if (shape.precision != Precision::kInt8) {
    made->bias = RowMajor(1, shape.outputs, memory::data_type::f32);
  }
  const auto describe = [&](int rows, const memory::desc& weight) {
    return DescribeMatmul(RowMajor(rows, shape.inputs, numbers.x), weight, made->bias,
                          RowMajor(rows, shape.outputs, numbers.y), attributes);
  };
  made->packed = LayoutFor(
      shape, [&](const memory::desc& weight) { return describe(kMaxRows / tile * tile, weight); });
  made->layout = LayoutOf(made->packed);
  for (int rows = tile; rows <= kMaxRows; rows += tile) {
    const dnnl::matmul::primitive_desc description = describe(rows, made->packed);
    made->entries.push_back({dnnl::matmul(description), description.src_desc(),
                             description.dst_desc(), description.scratchpad_desc().get_size()});
    const std::string implementation = description.impl_info_str();
    if (made->implementation.empty() || IsSlow(implementation)) {
      made->implementation = implementation;
    }
  }
  primitives_ = std::move(made);
}

OneDnnMatmul::~OneDnnMatmul() = default;

absl::StatusOr<std::unique_ptr<const OneDnnMatmul>> OneDnnMatmul::Create(const MatmulShape& shape,
                                                                         int tile) {
  MultiplyOnThisThreadAlone();
  // Without memory for the kernels that it writes, oneDNN ends the process.
  HugePageMemory(size_t{64} << 20);
  try {
    std::unique_ptr<const OneDnnMatmul> matmul(new OneDnnMatmul(shape, tile));
    const std::string& implementation = matmul->primitives_->implementation;
    if (IsSlow(implementation)) {
      return absl::FailedPreconditionError(NoFastKernel(shape, implementation.c_str()));
    }
    return matmul;
  } catch (const dnnl::error& error) {
    return absl::FailedPreconditionError(NoFastKernel(shape, error.what()));
  }
}

size_t OneDnnMatmul::packed_bytes() const { return primitives_->packed.get_size(); }

bool OneDnnMatmul::packs_panels() const {
  return shape_.precision == Precision::kInt8 && primitives_->packed == Panels(shape_);
}

void OneDnnMatmul::Pack(MatrixView<const float> weight, std::byte* packed) const {
  const memory::desc transposed({shape_.inputs, shape_.outputs}, memory::data_type::f32,
                                memory::dims{1, weight.stride()});
  Reorder(transposed, weight.data(), primitives_->packed, packed);
}

void OneDnnMatmul::Pack(MatrixView<const int8_t> weight, std::byte* packed) const {
  const memory::desc transposed({shape_.inputs, shape_.outputs}, memory::data_type::s8,
                                memory::dims{1, weight.stride()});
  Reorder(transposed, weight.data(), primitives_->packed, packed);
}

bool OneDnnMatmul::readable() const { return primitives_->layout.has_value(); }

void OneDnnMatmul::AddPacked(const std::byte* packed, int output, float factor,
                             absl::Span<float> to) const {
  DRAGOMAN_CHECK(readable() && static_cast<int>(to.size()) == shape_.inputs);
  const BlockedLayout& layout = *primitives_->layout;
  const auto* const halves = reinterpret_cast<const uint16_t*>(packed);
  const auto* const floats = reinterpret_cast<const float*>(packed);
  const bool bfloat16 = shape_.precision == Precision::kBFloat16;
  for (int i = 0; i < shape_.inputs; ++i) {
    const size_t at = layout.Offset(i, output);
    to[i] += factor * (bfloat16 ? std::bit_cast<float>(uint32_t{halves[at]} << 16) : floats[at]);
  }
}

void OneDnnMatmul::Multiply(int rows, const void* x, const std::byte* packed, const float* bias,
                            void* y, PrimitiveScratch* scratch) const {
  MultiplyOnThisThreadAlone();
  const Primitives::Entry& entry = primitives_->entries[rows / tile_ - 1];
  constexpr size_t kPage = 4096;
  scratch->Resize(static_cast<int>(entry.scratch_bytes / kPage) + 1, kPage);
  const dnnl::engine& engine = CpuEngine();
  const memory::desc scratchpad({static_cast<memory::dim>(entry.scratch_bytes)},
                                memory::data_type::u8, memory::format_tag::a);
  const memory weights(primitives_->packed, engine, const_cast<std::byte*>(packed));
  const memory from(entry.x, engine, const_cast<void*>(x)), to(entry.y, engine, y);
  const memory working(scratchpad, engine, scratch->view().data());
  if (shape_.precision == Precision::kInt8) {
    entry.primitive.execute(ThreadStream(), {{DNNL_ARG_SRC, from},
                                             {DNNL_ARG_WEIGHTS, weights},
                                             {DNNL_ARG_DST, to},
                                             {DNNL_ARG_SCRATCHPAD, working}});
    return;
  }
  const memory addend(primitives_->bias, engine, const_cast<float*>(bias));
  entry.primitive.execute(ThreadStream(), {{DNNL_ARG_SRC, from},
                                           {DNNL_ARG_WEIGHTS, weights},
                                           {DNNL_ARG_BIAS, addend},
                                           {DNNL_ARG_DST, to},
                                           {DNNL_ARG_SCRATCHPAD, working}});
}

int BytesOf(Precision precision) {
  return precision == Precision::kInt8 ? 1 : precision == Precision::kBFloat16 ? 2 : 4;
}

#if defined(__aarch64__)

// The numbers of cpu_isa are other instruction sets here: 1 is NEON, and larger ones are SVE with
// vectors of some length.
std::string OneDnnIsa() {
  return static_cast<int>(dnnl::get_effective_cpu_isa()) > 1 ? "sve" : "asimd";
}

#else

std::string OneDnnIsa() {
  using Isa = dnnl::cpu_isa;
  constexpr std::pair<Isa, const char*> kNames[] = {
    {Isa::sse41, "sse41"},
    {Isa::avx, "avx"},
    {Isa::avx2, "avx2"},
    {Isa::avx2_vnni, "avx2_vnni"},
    {Isa::avx512_core, "avx512_core"},
    {Isa::avx512_core_vnni, "avx512_core_vnni"},
    {Isa::avx512_core_bf16, "avx512_core_bf16"},
    {Isa::avx512_core_amx, "avx512_core_amx"},
#if DNNL_VERSION_MAJOR >= 3
    {Isa::avx2_vnni_2, "avx2_vnni_2"},
    {Isa::avx512_core_fp16, "avx512_core_fp16"},
    {Isa::avx512_core_amx_fp16, "avx512_core_amx_fp16"},
#endif
  };
  for (const auto& [isa, name] : kNames) {
    if (isa == dnnl::get_effective_cpu_isa()) return name;
  }
  return "generic";
}

#endif

bool OneDnnHasBFloat16() {
  const std::string isa = OneDnnIsa();
  return OneDnnHasAmx() || isa == "avx512_core_bf16" || isa == "avx512_core_fp16" ||
         isa == "avx2_vnni_2";
}

bool OneDnnHasAmx() { return absl::StrContains(OneDnnIsa(), "amx"); }

std::string OneDnnVersion() {
  const dnnl::version_t* const version = dnnl::version();
  return absl::StrCat(version->major, ".", version->minor, ".", version->patch);
}

}  // namespace dragoman
