// kernels_bench compares every kernel of the engine with its ceiling (ceilings.h).  Besides time it
// prints:
//
//   ops         operations per second, and as %peak, the share of what registers alone allow
//   bytes       bytes per second that a call has to read at least, and as %read, the share of
//               what a plain loop reads from a working set of that size
//
// Rates are per CPU second.  Products of "warm" weights read them from the caches.  Those of
// "streamed" weights cycle through copies that no cache can hold together, as a decoding step goes
// through the weights of a model.

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "benchmark/benchmark.h"
#include "engine/families/model_directory.h"
#include "engine/math/attend.h"
#include "engine/math/gemm.h"
#include "engine/math/kernels.h"
#include "engine/search/logits.h"
#include "engine/text/splitter.h"
#include "tests/bench/ceilings.h"
#include "tests/math/packed_key_values.h"
#include "tests/math/random_matrix.h"
#include "tests/search/whole_search.h"

namespace dragoman {
namespace {

using benchmark::Counter;
using benchmark::State;

constexpr int kWidth = 512;         // d_model of Transformer-base
constexpr int kVocabulary = 32000;  // logits of a row
constexpr int kTile = 512;          // logits that are ranked at a time

void CountOperations(double each, Precision precision, State* state) {
  state->counters["ops"] = Counter(each, Counter::kIsIterationInvariantRate);
  if (const double peak = PeakOperations(precision); peak > 0) {
    state->counters["%peak"] = Counter(100 * each / peak, Counter::kIsIterationInvariantRate);
  }
}

void CountBytes(double each, size_t working_set, State* state) {
  state->counters["bytes"] = Counter(each, Counter::kIsIterationInvariantRate);
  state->counters["%read"] =
      Counter(100 * each / ReadBandwidth(working_set), Counter::kIsIterationInvariantRate);
}

// --- Matrix products

struct Product {
  Precision precision;
  Matmul matmul;
  int inputs, outputs, rows;
  bool streamed;

  double weight_bytes() const {
    const int bytes = precision == Precision::kFloat32 ? 4 : precision == Precision::kInt8 ? 1 : 2;
    return 1.0 * inputs * outputs * bytes;
  }
  std::string name() const {
    return std::string("Gemm/") + NameOf(precision) + "/" + NameOf(matmul) + "/" +
           std::to_string(inputs) + "x" + std::to_string(outputs) +
           "/rows:" + std::to_string(rows) + (streamed ? "/streamed" : "/warm");
  }
};

// The packed copies of a weight to cycle through; empty if the CPU does not support the product.
// They are kept for the next call, which usually has the same weight.
const std::vector<PackedGemm>& Copies(const Product& product, State* state) {
  static std::vector<PackedGemm> copies;
  static Product copied = {};
  const auto weight_of = [](const Product& p) {
    return std::tuple(p.precision, p.matmul, p.inputs, p.outputs, p.streamed);
  };
  if (!copies.empty() && weight_of(product) == weight_of(copied)) return copies;
  copied = product;
  copies.clear();
  std::mt19937 random(1);
  const Matrix<float> weight = RandomMatrix(product.outputs, product.inputs, &random);
  const std::vector<float> bias = RandomVector(product.outputs, &random);
  const double bytes = product.streamed ? static_cast<double>(BytesBeyondCaches()) : 1.0;
  while (static_cast<double>(copies.size()) * product.weight_bytes() < bytes) {
    auto gemm = PackedGemm::Create(weight.view(), bias, Activation::kRelu,
                                   {product.precision, product.matmul});
    if (!gemm.ok()) {
      copies.clear();
      state->SkipWithError(std::string(gemm.status().message()).c_str());
      break;
    }
    copies.push_back(*std::move(gemm));
  }
  return copies;
}

// The activations are quantized once for all the weights, and that is timed separately.
void BM_Gemm(State& state, const Product& product) {
  const std::vector<PackedGemm>& copies = Copies(product, &state);
  if (copies.empty()) return;
  std::mt19937 random(2);
  const Matrix<float> x = RandomMatrix(product.rows, product.inputs, &random);
  Matrix<float> y(product.rows, product.outputs);
  GemmScratch scratch;
  GemmInput input;
  input.Assign(x.view(), product.precision, &scratch.team);
  size_t next = 0;
  for (auto _ : state) {
    copies[next].Apply(input, y.view(), &scratch);
    benchmark::DoNotOptimize(y.view().data());
    if (++next == copies.size()) next = 0;
  }
  CountOperations(2.0 * product.rows * product.inputs * product.outputs, product.precision, &state);
  CountBytes(product.weight_bytes(),
             product.streamed ? BytesBeyondCaches() : static_cast<size_t>(product.weight_bytes()),
             &state);
}

void RegisterProducts() {
  constexpr struct {
    int inputs, outputs;
  } kShapes[] = {{512, 512}, {512, 1536}, {512, 2048}, {2048, 512}};
  constexpr std::pair<Precision, Matmul> kWays[] = {{Precision::kFloat32, Matmul::kNative},
                                                    {Precision::kFloat32, Matmul::kOneDnn},
                                                    {Precision::kBFloat16, Matmul::kOneDnn},
                                                    {Precision::kInt8, Matmul::kNative},
                                                    {Precision::kInt8, Matmul::kOneDnn}};
  for (const auto& [precision, matmul] : kWays) {
    for (const auto& shape : kShapes) {
      for (const bool streamed : {false, true}) {
        for (const int rows : {1, 4, 8, 16, 32, 64, 128}) {
          const Product product = {precision, matmul, shape.inputs, shape.outputs, rows, streamed};
          benchmark::RegisterBenchmark(product.name().c_str(), BM_Gemm, product);
        }
      }
    }
  }
}

// --- Attention: queries of 8 heads of 64 columns over the same positions of a cache

template <Precision kPrecision>
void BM_Attend(State& state) {
  const KeyValueFormat format = {kPrecision, 8, kWidth};
  const int positions = static_cast<int>(state.range(0));
  std::mt19937 random(3);
  const int queries = static_cast<int>(state.range(1));
  const Matrix<float> q = RandomMatrix(queries, kWidth, &random, 0.1f);
  Matrix<float> out(queries, kWidth);
  const PackedKeyValues packed(format, RandomMatrix(positions, 2 * kWidth, &random));
  std::vector<int32_t> path(positions);
  std::iota(path.begin(), path.end(), 0);
  const std::vector<const std::byte*> rows = packed.Rows(path);
  std::vector<float> scratch(AttendScratch(format.heads, path.size(), queries));
  for (auto _ : state) {
    Attend(format, q.view(), rows, absl::MakeSpan(scratch), out.view());
    benchmark::DoNotOptimize(out.view().data());
  }
  const size_t bytes = positions * format.row_bytes();
  CountBytes(static_cast<double>(bytes), bytes, &state);
}
BENCHMARK_TEMPLATE(BM_Attend, Precision::kFloat32)->ArgsProduct({{1, 10, 30, 100}, {1, 4}});
BENCHMARK_TEMPLATE(BM_Attend, Precision::kBFloat16)->ArgsProduct({{1, 10, 30, 100}, {1, 4}});
BENCHMARK_TEMPLATE(BM_Attend, Precision::kInt8)->ArgsProduct({{1, 10, 30, 100}, {1, 4}});

// --- Rows of activations

void BM_AddAndNorm(State& state) {
  const int rows = static_cast<int>(state.range(0));
  std::mt19937 random(4);
  const Matrix<float> x = RandomMatrix(rows, kWidth, &random);
  const Matrix<float> y = RandomMatrix(rows, kWidth, &random);
  const std::vector<float> gain = RandomVector(kWidth, &random), bias = gain;
  Matrix<float> out(rows, kWidth);
  for (auto _ : state) {
    AddAndNorm(x.view(), y.view(), gain, bias, 1e-5f, out.view());
    benchmark::DoNotOptimize(out.view().data());
  }
  const double bytes = 2.0 * rows * kWidth * sizeof(float);
  CountBytes(bytes, static_cast<size_t>(bytes), &state);
}
BENCHMARK(BM_AddAndNorm)->Arg(1)->Arg(32);

void BM_QuantizeRows(State& state) {
  const int rows = static_cast<int>(state.range(0));
  std::mt19937 random(5);
  const Matrix<float> x = RandomMatrix(rows, kWidth, &random);
  QuantizedRows quantized;
  for (auto _ : state) {
    quantized.Resize(rows, kWidth);
    QuantizeRows(x.view(), 0, rows, &quantized);
    benchmark::DoNotOptimize(quantized.values.view().data());
  }
  const double bytes = 1.0 * rows * kWidth * sizeof(float);
  CountBytes(bytes, static_cast<size_t>(bytes), &state);
}
BENCHMARK(BM_QuantizeRows)->Arg(1)->Arg(32);

void BM_ToBFloat16(State& state) {
  const int rows = static_cast<int>(state.range(0));
  std::mt19937 random(6);
  const Matrix<float> x = RandomMatrix(rows, kWidth, &random);
  Matrix<BFloat16> out(rows, kWidth);
  for (auto _ : state) {
    ToBFloat16(x.view(), out.view());
    benchmark::DoNotOptimize(out.view().data());
  }
  const double bytes = 1.0 * rows * kWidth * sizeof(float);
  CountBytes(bytes, static_cast<size_t>(bytes), &state);
}
BENCHMARK(BM_ToBFloat16)->Arg(1)->Arg(32);

// --- From logits to candidates

// Times function(x) over a row of normally distributed numbers.
template <typename Function>
void TimeOverRow(State* state, Function function) {
  std::mt19937 random(7);
  const std::vector<float> x = RandomVector(static_cast<int>(state->range(0)), &random);
  for (auto _ : *state) benchmark::DoNotOptimize(function(x));
  CountBytes(static_cast<double>(x.size() * sizeof(float)), x.size() * sizeof(float), state);
}

void BM_MaxOf(State& state) {
  TimeOverRow(&state, [](absl::Span<const float> x) { return MaxOf(x); });
}
void BM_SumExp(State& state) {
  TimeOverRow(&state, [](absl::Span<const float> x) { return SumExp(x, 6.0f); });
}
void BM_IndicesAbove(State& state) {  // about one in 700 lies above 3
  std::vector<int32_t> indices(state.range(0));
  TimeOverRow(&state,
              [&](absl::Span<const float> x) { return IndicesAbove(x, 3.0f, indices.data()); });
}
BENCHMARK(BM_MaxOf)->Arg(kTile)->Arg(kVocabulary);
BENCHMARK(BM_SumExp)->Arg(kTile)->Arg(kVocabulary);
BENCHMARK(BM_IndicesAbove)->Arg(kTile)->Arg(kVocabulary);

// Ranks the whole row, tile by tile; the argument is the number of continuations.
void BM_RowRanker(State& state) {
  std::mt19937 random(8);
  std::vector<float> logits = RandomVector(kVocabulary, &random);
  WholeSearch options;
  options.beam_size = static_cast<int>(state.range(0));
  RowRanker ranker;
  std::vector<Candidate> candidates;
  for (auto _ : state) {
    candidates.clear();
    ranker.Start({.options = &options, .rules = &options, .k = static_cast<int>(state.range(0))});
    for (int first = 0; first < kVocabulary; first += kTile) {
      const int tokens = std::min(kTile, kVocabulary - first);
      ranker.Add(first, absl::MakeSpan(logits).subspan(first, tokens));
    }
    ranker.Finish(&candidates);
    benchmark::DoNotOptimize(candidates.data());
  }
  CountBytes(kVocabulary * sizeof(float), kVocabulary * sizeof(float), &state);
}
BENCHMARK(BM_RowRanker)->Arg(1)->Arg(8);

// --- Text

constexpr char kText[] =
    "The weather is nice today. Dr. Smith goes to the station at 9.30, buys a newspaper and waits "
    "for the train to Hamburg! \"Where are you going?\" asks a child. He does not know the answer "
    "yet; perhaps he will find out tomorrow.";

void BM_SplitSentences(State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(SplitSentences(kText));
  state.counters["bytes"] = Counter(sizeof(kText), Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_SplitSentences);

void BM_TokenizerEncode(State& state) {
  const auto tokenizer = OpenTokenizer("tests/golden/models/en-de");
  if (!tokenizer.ok()) {
    state.SkipWithError(
        "run it in the root of the source tree, where tests/golden/models/en-de is");
    return;
  }
  for (auto _ : state) benchmark::DoNotOptimize((*tokenizer)->Encode(kText));
  state.counters["bytes"] = Counter(sizeof(kText), Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_TokenizerEncode);

// Prints the ceilings that the percentages refer to.
void AddCeilingsToContext() {
  const auto add = [](const std::string& name, double value) {
    benchmark::AddCustomContext(name, std::to_string(static_cast<int64_t>(value / 1e9)) + "e9");
  };
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8}) {
    add(std::string("peak_operations_") + NameOf(precision), PeakOperations(precision));
  }
  add("read_bandwidth_16_kib", ReadBandwidth(16 << 10));
  add("read_bandwidth_512_kib", ReadBandwidth(512 << 10));
  add("read_bandwidth_memory", ReadBandwidth(BytesBeyondCaches()));
}

}  // namespace
}  // namespace dragoman

int main(int argc, char** argv) {
  dragoman::RegisterProducts();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  dragoman::AddCeilingsToContext();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
