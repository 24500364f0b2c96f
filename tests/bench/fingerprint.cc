// Prints a digest of everything that a model answers to the lines of a file: the tokens and the
// bits of every score, with greedy search and with a beam of 4, in each precision, or only in one.
// If two builds print the same, they compute the same, bit for bit: in int8 and float32 on all CPUs
// whose isa is the same (docs/bytes.md), in bfloat16 on one machine.  It translates once for each
// shape of our kernels (kernel_shapes.h), and fails if one gives other answers.
//
//   dragoman-fingerprint tests/golden/models/en-de lines.txt [int8]

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>

#include "engine/decode/observer.h"
#include "engine/math/kernel_shapes.h"
#include "engine/translator.h"
#include "tests/translate_and_wait.h"

namespace dragoman {
namespace {

template <typename T>
void Append(const std::vector<T>& values, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  bytes->push_back('\n');
}

// The translator's answer as bytes.  If it fails, empty, with a message on standard error.
std::string Answer(const Translator& translator, const std::vector<std::string>& lines, int beam) {
  std::string bytes;
  for (const std::string& line : lines) {
    TranslateRequest request;
    request.texts = {line};
    request.options.beam_size = beam;
    request.options.num_hypotheses = beam;
    const TranslateResponse response = TranslateAndWait(translator, std::move(request));
    if (!response.status.ok()) {
      std::cerr << line << ": " << std::string(response.status.message()) << "\n";
      return {};
    }
    for (const TranslatedHypothesis& hypothesis : response.translations.front().hypotheses) {
      bytes += hypothesis.text;
      Append(hypothesis.token_ids, &bytes);
      Append(hypothesis.token_scores, &bytes);
      Append(std::vector<float>{hypothesis.score}, &bytes);
    }
  }
  return bytes;
}

// The digests of the answers with a beam of 1 and 4; empty if there are none.
std::vector<uint64_t> Digests(const std::string& directory, Precision precision,
                              const std::vector<std::string>& lines) {
  NullObserver observer;
  WorkerPool pool({.workers = 1}, &observer);
  const auto model = Model::Load("model", directory, {.precision = precision});
  if (!model.ok()) {
    std::cerr << NameOf(precision) << ": " << std::string(model.status().message()) << "\n";
    return {};  // such as bfloat16 on a machine without it
  }
  const Translator translator(*model, &pool, Limits());
  std::vector<uint64_t> digests;
  for (const int beam : {1, 4}) {
    const std::string bytes = Answer(translator, lines, beam);
    digests.push_back(bytes.empty() ? 0 : XXH3_64bits(bytes.data(), bytes.size()));
  }
  return digests;
}

int Main(const std::string& directory, const std::string& input,
         const std::vector<Precision>& precisions) {
  std::ifstream file(input);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (lines.empty()) {
    std::cerr << input << " has no lines\n";
    return 1;
  }
  for (const Precision precision : precisions) {
    std::vector<uint64_t> first;
    const auto tiles = Float32Gemm::Tiles();
    const auto all = precision == Precision::kFloat32 ? tiles : tiles.first(1);
    for (const Float32Gemm::Tile& tile : all) {
      SetFloat32TileForTest(tile);
      const std::vector<uint64_t> digests = Digests(directory, precision, lines);
      if (&tile == &all.front()) first = digests;
      if (digests != first || std::count(digests.begin(), digests.end(), 0) > 0) {
        std::cerr << NameOf(precision) << ", " << DescribeShape(precision)
                  << ": no answer, or another one than in the first shape\n";
        return 1;
      }
    }
    for (size_t i = 0; i < first.size(); ++i) {
      std::cout << Fingerprint(precision) << " beam " << (i == 0 ? 1 : 4) << ": " << std::hex
                << first[i] << std::dec << " of " << lines.size() << " lines, in " << all.size()
                << " shapes" << std::endl;
    }
  }
  return 0;
}

}  // namespace
}  // namespace dragoman

int main(int argc, char** argv) {
  using dragoman::Precision;
  std::vector<Precision> precisions = {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8};
  if (argc == 4) {
    const auto only = dragoman::ParsePrecision(argv[3]);
    precisions.assign(1, only.value_or(Precision::kAuto));
  }
  if (argc < 3 || argc > 4 || precisions.front() == Precision::kAuto) {
    std::cerr << "usage: dragoman-fingerprint MODEL-DIRECTORY FILE [float32|bfloat16|int8]\n";
    return 2;
  }
  return dragoman::Main(argv[1], argv[2], precisions);
}
