// shapes_bench measures what share of the peak each shape of our kernels (kernel_shapes.h) reaches
// on this CPU, for the products of Transformer-base.
//
//   shapes_bench --rounds 20 [--rows 8 32 64] [--warm]
//
// All shapes are timed in turns, each between two measurements of what the registers alone can do
// at that moment, so that changes of the clock or a neighbour on the same core affect both.  Prints
// the best round and the median.

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "engine/math/gemm.h"
#include "engine/math/kernel_shapes.h"
#include "engine/math/trial.h"
#include "tests/bench/ceilings.h"
#include "tests/math/random_matrix.h"

namespace dragoman {
namespace {

struct Product {
  Precision precision;
  int inputs, outputs, rows;
  bool streamed;  // weights from memory, or from the caches
};

struct Variant {
  Float32Gemm::Tile tile;
  std::vector<PackedGemm> copies;
  std::vector<double> shares;  // of the peak, one a round
};

std::vector<Variant> MakeVariants(const Product& product) {
  std::mt19937 random(1);
  const Matrix<float> weight = RandomMatrix(product.outputs, product.inputs, &random);
  const int bytes = product.precision == Precision::kInt8 ? 1 : 4;
  const size_t copies =
      product.streamed
          ? BytesBeyondCaches() / (size_t{1} * bytes * product.inputs * product.outputs)
          : 1;
  std::vector<Variant> variants;
  const auto tiles = Float32Gemm::Tiles();
  for (const auto& tile : product.precision == Precision::kInt8 ? tiles.first(1) : tiles) {
    SetFloat32TileForTest(tile);
    Variant& variant = variants.emplace_back();
    variant.tile = tile;
    while (variant.copies.size() < copies) {
      auto gemm = PackedGemm::Create(weight.view(), {}, Activation::kNone,
                                     {product.precision, Matmul::kNative});
      DRAGOMAN_CHECK(gemm.ok());
      variant.copies.push_back(*std::move(gemm));
    }
  }
  return variants;
}

void Measure(const Product& product, int rounds) {
  std::vector<Variant> variants = MakeVariants(product);
  std::mt19937 random(2);
  const Matrix<float> x = RandomMatrix(product.rows, product.inputs, &random);
  Matrix<float> y(product.rows, product.outputs);
  GemmScratch scratch;
  GemmInput input;
  input.Assign(x.view(), product.precision, &scratch.team);
  const double operations = 2.0 * product.rows * product.inputs * product.outputs;
  constexpr double kOperations = 1e9;  // of a round, at least
  for (int round = 0; round < rounds; ++round) {
    for (Variant& variant : variants) {
      const double before = MeasurePeak(product.precision);
      double done = 0;
      const double seconds = SecondsOf([&] {
        while (done < kOperations) {
          for (const PackedGemm& gemm : variant.copies) gemm.Apply(input, y.view(), &scratch);
          done += operations * static_cast<double>(variant.copies.size());
        }
      });
      const double speed = done / seconds;
      variant.shares.push_back(speed / std::max(before, MeasurePeak(product.precision)));
    }
  }
  for (Variant& variant : variants) {
    SetFloat32TileForTest(variant.tile);
    std::sort(variant.shares.begin(), variant.shares.end());
    std::printf("%-8s %4d x %-5d %3d rows %-8s  %-40s best %5.1f %%  median %5.1f %%\n",
                NameOf(product.precision), product.inputs, product.outputs, product.rows,
                product.streamed ? "streamed" : "warm", DescribeShape(product.precision).c_str(),
                100 * variant.shares.back(), 100 * variant.shares[variant.shares.size() / 2]);
  }
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  CLI::App app("Times the shapes of our kernels against what the registers alone can do.");
  int rounds = 20;
  std::vector<int> all_rows = {8, 32, 64};
  bool warm = false;
  app.add_option("--rounds", rounds, "How often each is timed")->check(CLI::PositiveNumber);
  app.add_option("--rows", all_rows, "Of the left factor")->check(CLI::PositiveNumber);
  app.add_flag("--warm", warm, "No weights from memory");
  CLI11_PARSE(app, argc, argv);
  std::cout << "chosen on this machine: float32 " << DescribeShape(Precision::kFloat32) << ", int8 "
            << DescribeShape(Precision::kInt8) << std::endl;
  for (const Precision precision : {Precision::kFloat32, Precision::kInt8}) {
    if (MeasurePeak(precision) == 0.0) continue;
    for (const bool streamed : {false, true}) {
      if (warm && streamed) continue;
      for (const auto& [inputs, outputs] : {std::pair(512, 2048), {2048, 512}}) {
        for (const int rows : all_rows) {
          Measure({precision, inputs, outputs, rows, streamed}, rounds);
        }
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace dragoman

int main(int argc, char** argv) { return dragoman::Main(argc, argv); }
